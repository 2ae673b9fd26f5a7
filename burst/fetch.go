package burst

import (
	"math"
	"slices"
	"time"
)

// Fetch names a declared fetch; it is never zero.
type Fetch uint64

type fetch struct {
	id    Fetch
	began time.Duration
}

// Begin declares a fetch: from its first byte to its end, silence that is not ours is the peer's.
// If it is the only one, an open burst belongs to an earlier exchange and closes at its last
// arrival; its sample is returned.
func (w *Window) Begin(at time.Duration) (id Fetch, s Sample, closed bool) {
	if len(w.fetches) == 0 {
		if w.gate != Idle {
			s, closed = w.close(Exchange, 0), true
		}
		w.judgeCold(at)
		w.fresh, w.answered, w.awaiting = true, false, true
		w.spare, w.firstRead, w.firstAt = point{}, 0, math.MinInt64
	}
	w.nextFetch++
	w.fetches = append(w.fetches, fetch{id: w.nextFetch, began: at})
	return w.nextFetch, s, closed
}

// End ends a fetch. Ours is the part of the time since the last arrival that is our own fault.
// Finished says that the peer closed every stream that carried its payload, so that the silence
// since is not the peer's; without it a silence beyond the horizon is charged. The burst closes
// with the last open fetch, or with the one that alone was owed that silence. An unknown id does
// nothing.
func (w *Window) End(at time.Duration, id Fetch, ours time.Duration, finished bool) (Sample, bool) {
	i := slices.IndexFunc(w.fetches, func(f fetch) bool { return f.id == id })
	if i < 0 {
		return Sample{}, false
	}
	at, own := w.span(at, ours)
	tail := time.Duration(0)
	if !finished {
		tail = w.tail(at, own)
	}
	w.fetches = slices.Delete(w.fetches, i, i+1)
	if i == 0 {
		w.answered = false
	}
	if len(w.fetches) > 0 && (tail == 0 || w.owed()) {
		return Sample{}, false
	}
	return w.finish(FetchEnd, at, tail, own)
}

// owed says whether silence since the last arrival is the peer's: the oldest open fetch has been
// answered, or began a round trip before that arrival so that it could have been. Otherwise it is
// the time to first byte of a later one.
func (w *Window) owed() bool {
	if len(w.fetches) == 0 || !w.seen {
		return false
	}
	return w.answered || w.fetches[0].began < w.lastAnswer-w.path.BaseRTT
}

// tail is the silence up to at that is charged if nothing more comes.
func (w *Window) tail(at, own time.Duration) time.Duration {
	if quiet := at - w.from - own; w.owed() && quiet > w.cfg.Horizon {
		return quiet
	}
	return 0
}

// finish accounts for a tail and closes the burst. If that had closed before, the tail is a sample
// of its own: time without bytes, which an estimate of summed time over summed bytes needs.
func (w *Window) finish(r Reason, at, tail, own time.Duration) (Sample, bool) {
	if !w.seen {
		return Sample{}, false
	}
	opened := w.from
	w.totals.ours += own
	if tail > 0 {
		w.totals.peers += tail
	} else {
		w.totals.waiting += at - w.from - own
	}
	w.from = at
	if w.gate != Idle {
		w.burst.ours += own
		return w.close(r, tail), true
	}
	if tail == 0 {
		return Sample{}, false
	}
	s := Sample{Opened: opened, Closed: at, Reason: r, Ours: own, Declared: true, Time: tail}
	w.recall(&s)
	s.Rate = perByte(s.Time, s.Counted)
	s.StandardError = s.Rate
	return s, true
}
