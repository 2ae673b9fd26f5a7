package burst

import (
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
		w.fresh, w.answered, w.rated, w.fetchBytes = true, false, false, 0
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
	return w.answered || w.fetches[0].began < w.last-w.path.BaseRTT
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
	opened := w.from
	if tail > 0 {
		w.totals.peers += tail
		w.totals.ours += own
		w.from = at
	}
	if w.gate != Idle {
		if tail > 0 {
			w.burst.ours += own
		}
		return w.close(r, tail), true
	}
	if tail == 0 {
		return Sample{}, false
	}
	s := Sample{Opened: opened, Closed: at, Reason: r, Ours: own, Declared: true}
	w.chargeTail(&s, tail)
	return s, true
}

// chargeTail makes a silence the time of a sample that has no rate. If the whole fetch has had
// none, all it delivered took this long.
func (w *Window) chargeTail(s *Sample, tail time.Duration) {
	s.Time, s.Counted = tail, 0
	if !w.rated {
		s.Counted = w.fetchBytes
		w.rated = true
	}
	s.Rate = perByte(s.Time, s.Counted)
	s.StandardError = s.Rate
}

// close ends the open burst and makes its sample.
func (w *Window) close(r Reason, tail time.Duration) Sample {
	b := &w.burst
	s := Sample{
		Opened: b.opened, Closed: w.last, Reason: r,
		Bytes: b.bytes, Covered: w.coverage(), Ours: b.ours,
		Cold: b.cold, Declared: b.declared,
	}
	if tail > 0 {
		s.Closed = w.from
	}
	w.rate(&s, tail)
	if s.Counted > 0 && !s.UpperBound {
		w.rated = true
	}
	w.gate = w.gate.next(closing)
	w.totals.bursts[r]++
	return s
}

// rate fills in what the burst's curve says. Time and bytes are those of the whole rest (telescoping)
// and not a least-squares fit, which gives a stall in the middle more weight than one at the end.
func (w *Window) rate(s *Sample, tail time.Duration) {
	c, all := w.curve, w.curve.head
	r := w.leaveOut()
	s.UpperBound = (r.short || r.capped) && r.overrun == 0 && tail == 0
	if r.short && s.UpperBound {
		r.cut, r.steps = point{}, c.n // as a bound, the whole burst speaks
		s.RampBytes = all.bytes
	} else {
		s.RampBytes = r.cut.bytes - r.putBack
	}
	s.Counted = all.bytes - r.cut.bytes + r.putBack
	s.Time = all.time - r.cut.time + r.overrun + tail
	s.LeftOut = all.time + tail - s.Time
	if !w.enough(s, r, tail) {
		s.Counted, s.Time, s.LeftOut, s.UpperBound = 0, 0, all.time, false
		if tail > 0 {
			w.chargeTail(s, tail)
		}
		return
	}
	s.Rate = perByte(s.Time, s.Counted)
	s.StandardError = w.standardError(s, r)
}

// enough says whether a rate may rest on this: two arrivals and the least span. A silence of the
// peer's is never discarded for want of a second arrival.
func (w *Window) enough(s *Sample, r ramp, tail time.Duration) bool {
	silence := w.burst.slow || r.overrun > 0 || tail > 0
	return s.Counted > 0 && s.Time >= w.cfg.MinSpan && (r.steps >= 2 || silence)
}

// standardError is the spread of the rest's blocks, and how far what was put back or charged beside
// them moved the rate.
func (w *Window) standardError(s *Sample, r ramp) SecondsPerByte {
	spread, ok := w.curve.spread(r.cut, r.steps)
	if !ok {
		return s.Rate
	}
	return max(spread, s.Rate-r.restRateOr(s.Rate))
}

func (r ramp) restRateOr(rate SecondsPerByte) SecondsPerByte {
	if r.restRate > 0 {
		return r.restRate
	}
	return rate
}
