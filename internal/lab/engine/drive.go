package engine

import (
	"sync"
	"time"

	"github.com/assay-mux/assay/internal/lab/scenario"
)

// mostTries is how many plans are made for one datum before it is given up, by a
// user that asks again whoever had failed before. More hides outages.
const mostTries = 16

// apart is between things that a scenario has at the same instant. In a bubble what
// is at the same instant is in no order, and a run would not repeat; larger shows in
// results.
const apart = time.Microsecond

// drive fetches what the file says, first to get to know all, and then what a
// user wants.
func (w *world) drive() {
	w.warmUp()
	if !w.sleepUntil(time.Duration(w.s.Workload.Start)) {
		return
	}
	data := w.wanted()
	w.log.userFrom(w.now())
	next := make(chan *datum)
	var workers sync.WaitGroup
	for range w.s.Workload.Parallel {
		workers.Go(func() {
			for d := range next {
				w.user(d)
			}
		})
	}
	began := w.now()
	for i, d := range data {
		round, nth := i/w.s.Workload.AtOnce, i%w.s.Workload.AtOnce
		if !w.sleepUntil(began + time.Duration(round)*time.Duration(w.s.Workload.Every) + time.Duration(nth)*apart) {
			break
		}
		select {
		case next <- d:
		case <-w.ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	w.log.userTo(w.now())
}

// user fetches one datum that a user waits for.
func (w *world) user(d *datum) {
	select {
	case w.begun <- 1:
	default: // nobody waits for a fault
	}
	w.fetch(d, phaseUser)
}

// warmUp asks each peer by itself, all of them in turn.
func (w *world) warmUp() {
	l := w.s.Workload.Warmup
	if l == nil {
		return
	}
	for i := range l.Each {
		for _, a := range w.everyone() {
			if a.current() == nil {
				continue
			}
			began := w.now()
			w.fetch(w.addDatum(&datum{size: int64(l.Sizes[i%len(l.Sizes)]), only: a.id}), phaseWarmup)
			if !w.sleepUntil(began + time.Duration(l.Every)) {
				return
			}
		}
	}
}

// slowDisk is a disk that takes so long for a byte until an instant.
type slowDisk struct {
	until time.Duration
	rate  float64 // bytes per second
}

// faults does to us what the file says.
func (w *world) faults() {
	began := 0
	for _, f := range w.s.Faults {
		for ; began < f.InFetch; began++ {
			select {
			case <-w.begun:
			case <-w.ctx.Done():
				return
			}
		}
		at := w.now() + time.Duration(f.After)
		if f.InFetch == 0 {
			at = time.Duration(f.At) + time.Duration(f.After)
		}
		if !w.sleepUntil(at) {
			return
		}
		w.fault(f)
	}
}

// fault begins one.
func (w *world) fault(f scenario.Fault) {
	now := w.now()
	if d := time.Duration(f.Freeze); d > 0 {
		w.frozenUntil.Store(int64(now + d))
		w.watcher.Mark(w.base.Add(now), w.base.Add(now+d))
		w.wg.Go(func() { w.checkFault(now, d) })
		w.log.note(Event{Kind: FaultBegan, Text: "our process stands still for " + d.String()})
	}
	if d := time.Duration(f.Inbox); d > 0 {
		w.inboxUntil.Store(int64(now + d))
		w.wg.Go(func() { w.checkFault(now, d) })
		w.log.note(Event{Kind: FaultBegan, Text: "our application reads nothing for " + d.String()})
	}
	if f.Disk > 0 {
		w.disk.Store(&slowDisk{now + time.Duration(f.For), f.Disk.BytesPerSecond()})
		w.log.note(Event{Kind: FaultBegan, Text: "our disk is slow for " + time.Duration(f.For).String()})
	}
}

// digest is what our application does with bytes that it has read: it stores them,
// which takes time while its disk is slow, and it reads on, unless its inbox is full.
func (w *world) digest(bytes int) {
	w.awake()
	if left := time.Duration(w.inboxUntil.Load()) - w.now(); left > 0 {
		pause(left, w.ctx.Done())
	}
	if d := w.disk.Load(); d != nil && w.now() < d.until {
		pause(time.Duration(float64(bytes)/d.rate*float64(time.Second)), w.ctx.Done())
	}
}
