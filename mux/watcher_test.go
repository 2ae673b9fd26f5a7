package mux

import (
	"sync"
	"testing"
	"time"
)

func TestLateTickMarksTheTimeItMissed(t *testing.T) {
	base := time.Now()
	at := func(d time.Duration) time.Time { return base.Add(d) }
	for _, tt := range []struct {
		late     time.Duration
		ok       bool
		from, to time.Duration
	}{
		{watchTick, false, 0, 0},
		{2 * watchTick, false, 0, 0}, // not more than one period late
		{2*watchTick + 1, true, watchTick, 2*watchTick + 1},
		{3 * time.Second, true, watchTick, 3 * time.Second},
	} {
		w := NewWatcher()
		w.ticked = base
		w.tick(at(tt.late))
		from, to, ok := w.Frozen(at(-time.Hour), at(time.Hour))
		if ok != tt.ok || ok && (!from.Equal(at(tt.from)) || !to.Equal(at(tt.to))) {
			t.Errorf("tick after %v: %v to %v, %v", tt.late, from.Sub(base), to.Sub(base), ok)
		}
	}
}

func TestFrozenIsCutToWhatWasAskedFor(t *testing.T) {
	base := time.Now()
	at := func(d int) time.Time { return base.Add(time.Duration(d) * ms) }
	w := NewWatcher()
	w.Mark(at(100), at(200))
	w.Mark(at(500), at(600))
	for _, tt := range []struct{ from, to, start, end int }{
		{0, 1000, 500, 600}, {0, 550, 500, 550}, {520, 540, 520, 540}, {0, 300, 100, 200},
		{150, 300, 150, 200}, {200, 500, -1, 0}, {0, 100, -1, 0}, {600, 900, -1, 0},
	} {
		from, to, ok := w.Frozen(at(tt.from), at(tt.to))
		if ok != (tt.start >= 0) || ok && (!from.Equal(at(tt.start)) || !to.Equal(at(tt.end))) {
			t.Errorf("in %d to %d: %v to %v, %v", tt.from, tt.to, from.Sub(base), to.Sub(base), ok)
		}
	}
}

// TestOverlappingMarksAreOne: whatever the order in which they were noticed.
func TestOverlappingMarksAreOne(t *testing.T) {
	base := time.Now()
	at := func(d int) time.Time { return base.Add(time.Duration(d) * ms) }
	for name, marks := range map[string][][2]int{
		"a short one within":      {{100, 600}, {200, 245}},
		"a short one at the end":  {{100, 580}, {555, 600}},
		"noticed the other way":   {{555, 600}, {100, 580}},
		"end to end":              {{100, 300}, {300, 450}, {450, 600}},
		"three, in no order":      {{250, 400}, {390, 600}, {100, 260}},
		"one before, well apart":  {{10, 50}, {100, 600}},
		"one that nobody asks of": {{100, 600}, {2000, 3000}},
	} {
		w := NewWatcher()
		for _, m := range marks {
			w.Mark(at(m[0]), at(m[1]))
		}
		if from, to, ok := w.Frozen(at(0), at(1000)); !ok || !from.Equal(at(100)) || !to.Equal(at(600)) {
			t.Errorf("%s: %v to %v, %v", name, from.Sub(base), to.Sub(base), ok)
		}
		if from, to, ok := w.Frozen(at(150), at(590)); !ok || !from.Equal(at(150)) || !to.Equal(at(590)) {
			t.Errorf("%s, cut: %v to %v, %v", name, from.Sub(base), to.Sub(base), ok)
		}
	}
}

func TestFreezeIsSeenBeforeTheOverdueTick(t *testing.T) {
	w := NewWatcher()
	w.users = 1
	base := time.Now()
	w.ticked = base
	to := base.Add(time.Second)
	from, end, ok := w.Frozen(base, to)
	if !ok || !from.Equal(base.Add(watchTick)) || !end.Equal(to) {
		t.Errorf("%v to %v, %v", from.Sub(base), end.Sub(base), ok)
	}
	w.users = 0 // nobody ticks: nothing is overdue
	if _, _, ok := w.Frozen(base, to); ok {
		t.Error("a watcher that does not run has seen a freeze")
	}
}

func TestWatcherKeepsTheLastFew(t *testing.T) {
	w := NewWatcher()
	base := time.Now()
	for i := range 100 {
		w.Mark(base.Add(time.Duration(i)*time.Second), base.Add(time.Duration(i)*time.Second+ms))
	}
	if _, _, ok := w.Frozen(base, base.Add(95*time.Second)); ok {
		t.Error("an old freeze is remembered")
	}
	if _, _, ok := w.Frozen(base, base.Add(99*time.Second)); !ok {
		t.Error("a late one is not")
	}
}

func TestWatcherTicksWhileThereIsAConnection(t *testing.T) {
	w := NewWatcher()
	running := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.users > 0 && w.done != nil
	}
	var conns []*Conn
	for range 3 {
		conns = append(conns, Wrap(newFake(), WithWatcher(w)))
	}
	began := time.Now()
	eventually(t, "a tick", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.ticked.After(began)
	})
	for i, c := range conns {
		if !running() {
			t.Fatalf("not running with %d connections", len(conns)-i)
		}
		c.Close()
		c.Close() // counts once
	}
	if running() {
		t.Error("running without a connection")
	}
	select {
	case <-w.done:
	default:
		t.Error("its goroutine is left")
	}
	Wrap(newFake(), WithWatcher(w)).Close() // and it can start again
}

func TestWatcherUsedByManyAtOnce(t *testing.T) {
	w := NewWatcher()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				w.join()
				w.Frozen(time.Now().Add(-time.Second), time.Now())
				w.leave()
			}
		})
	}
	within(t, 20*time.Second, "all of them", wg.Wait)
	if w.users != 0 {
		t.Errorf("%d users", w.users)
	}
}
