package mux

import (
	"sync"
	"testing"
	"time"
)

func TestTurnIsOneGoroutinesAtATime(t *testing.T) {
	var u turn
	u.init()
	const goroutines, each = 8, 2000
	var wg sync.WaitGroup
	count := 0 // guarded by u alone: the race detector watches
	for range goroutines {
		wg.Go(func() {
			for range each {
				u.acquire()
				count++
				u.release()
			}
		})
	}
	within(t, 20*time.Second, "all turns", wg.Wait)
	if count != goroutines*each {
		t.Errorf("%d turns counted, want %d", count, goroutines*each)
	}
	if !u.try() || u.waiting.Load() != 0 {
		t.Error("the turn was left taken, or someone waiting")
	}
}

func TestTurnTriedIsRefusedWhileTaken(t *testing.T) {
	var u turn
	u.init()
	if !u.try() || u.try() {
		t.Fatal("want the first to get it and the second not")
	}
	got := make(chan struct{})
	go func() {
		u.acquire()
		close(got)
	}()
	eventually(t, "someone waits", func() bool { return u.waiting.Load() == 1 })
	select {
	case <-got:
		t.Fatal("two have the turn")
	default:
	}
	u.release()
	within(t, soon, "the one waiting", func() { <-got })
	if u.try() {
		t.Error("two have the turn")
	}
}
