package mux

import (
	"sync"
	"sync/atomic"
)

// turn lets one goroutine at a time write (or read) the connection. It is a
// lock that may be held across I/O, which a mutex here never is: waiting for
// it is a wait on a condition variable, so that a goroutine behind a slow
// write counts as blocked and a virtual clock can move on.
type turn struct {
	taken   atomic.Bool
	waiting atomic.Int32
	mu      sync.Mutex // guards the sleep of those waiting
	free    sync.Cond
}

func (t *turn) init() { t.free.L = &t.mu }

// try takes the turn if it is free.
func (t *turn) try() bool { return t.taken.CompareAndSwap(false, true) }

// acquire takes the turn, waiting as long as it must. It is small enough to be
// inlined, and so is release: both run for each write.
func (t *turn) acquire() {
	if !t.try() {
		t.wait()
	}
}

func (t *turn) wait() {
	t.mu.Lock()
	t.waiting.Add(1)
	for !t.try() {
		t.free.Wait()
	}
	t.waiting.Add(-1)
	t.mu.Unlock()
}

// release passes the turn on. Whoever started to wait before the flag fell is
// seen in waiting; whoever comes later finds the flag down.
func (t *turn) release() {
	t.taken.Store(false)
	if t.waiting.Load() > 0 {
		t.wake()
	}
}

func (t *turn) wake() {
	t.mu.Lock()
	t.free.Signal()
	t.mu.Unlock()
}
