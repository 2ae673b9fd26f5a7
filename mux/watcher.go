package mux

import (
	"sync"
	"time"
)

// watchTick is how often a Watcher looks. Short enough to see a freeze that
// would look like a stall of the peer (30 ms), long enough to cost nothing.
const watchTick = 20 * time.Millisecond

// A Watcher notices when the process itself did not run: a garbage collection,
// a starved scheduler, a suspended machine. It ticks while any connection
// lives, and a tick late by more than its period marks the time it missed.
// Without it, our own pause would be read as the peer's silence.
//
// One Watcher serves the whole process unless WithWatcher says otherwise. The
// methods are safe for concurrent use.
type Watcher struct {
	mu      sync.Mutex // guards the rest; never held while waiting
	users   int
	stop    chan struct{}
	done    chan struct{}
	ticked  time.Time // the last tick
	freezes [4]freeze // the last few, oldest first
}

type freeze struct{ from, to time.Time }

var processWatcher Watcher

// NewWatcher returns a Watcher of its own, for a test in virtual time, whose
// clock is not the process's.
func NewWatcher() *Watcher { return &Watcher{} }

// Mark records that the process did not run from one instant to another. It
// is for a host that knows of a pause, and for tests.
func (w *Watcher) Mark(from, to time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark(from, to)
}

func (w *Watcher) mark(from, to time.Time) {
	copy(w.freezes[:], w.freezes[1:])
	w.freezes[len(w.freezes)-1] = freeze{from, to}
}

// Frozen returns the last interval between from and to in which the process
// did not run, cut to them; ok is false if there was none. Marks that overlap are
// one interval: a short pause within a longer one does not hide it.
func (w *Watcher) Frozen(from, to time.Time) (start, end time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all [len(w.freezes) + 1]freeze
	n := copy(all[:], w.freezes[:])
	// The reader may run again before the overdue tick does.
	if w.users > 0 && to.Sub(w.ticked) > 2*watchTick && w.ticked.Add(watchTick).After(from) {
		all[n] = freeze{w.ticked.Add(watchTick), to}
	}
	last, ok := freeze{}, false
	for _, f := range all {
		if f.from.Before(to) && f.to.After(from) && (!ok || f.to.After(last.to)) {
			last, ok = f, true
		}
	}
	if !ok {
		return time.Time{}, time.Time{}, false
	}
	for range all { // as many as there are may have to be joined, one after the other
		for _, f := range all {
			if f.from.Before(last.from) && !f.to.Before(last.from) {
				last.from = f.from
			}
		}
	}
	return later(last.from, from), earlier(last.to, to), true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// join starts the ticking with the first user.
func (w *Watcher) join() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users++
	if w.users > 1 {
		return
	}
	w.ticked = time.Now()
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	go w.run(w.stop, w.done)
}

// leave ends it with the last, and waits for the goroutine to be gone.
func (w *Watcher) leave() {
	w.mu.Lock()
	w.users--
	last, done := w.users == 0, w.done
	if last {
		close(w.stop)
	}
	w.mu.Unlock()
	if last {
		<-done
	}
}

func (w *Watcher) run(stop, done chan struct{}) {
	defer close(done)
	ticker := time.NewTicker(watchTick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			w.tick(time.Now())
		}
	}
}

func (w *Watcher) tick(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.ticked) > 2*watchTick {
		w.mark(w.ticked.Add(watchTick), now)
	}
	w.ticked = now
}
