package burst

import (
	"math"
	"time"
)

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
	w.gate = w.gate.next(closing)
	w.totals.bursts[r]++
	return s
}

// rate fills in what the burst's curve says. Time and bytes are those of the whole rest
// (telescoping) and not a least-squares fit, which gives a stall in the middle more weight than one
// at the end.
func (w *Window) rate(s *Sample, tail time.Duration) {
	c, all := w.curve, w.curve.head
	silence := tail > 0 || w.burst.carried
	r := ramp{steps: c.n}
	if tail == 0 {
		r = w.leaveOut()
	}
	s.UpperBound = (r.short || r.capped) && r.overrun == 0
	s.RampBytes = r.cut.bytes - r.putBack
	if s.UpperBound {
		r = w.bound(r)
	}
	s.Counted = all.bytes - r.cut.bytes + r.putBack
	s.Time = all.time - r.cut.time + r.overrun + tail
	if !silence && !w.enough(s, r) {
		s.Counted, s.Time, s.UpperBound = 0, 0, false
	}
	s.LeftOut = all.time + tail - s.Time
	w.spareRest(s, all)
	if silence {
		w.recall(s)
	}
	s.Rate = perByte(s.Time, s.Counted)
	s.StandardError = w.standardError(s, r)
}

// enough says whether a rate may rest on this: two arrivals and the least span. A silence of the
// peer's is never discarded for want of a second arrival.
func (w *Window) enough(s *Sample, r ramp) bool {
	silence := w.burst.slow || r.overrun > 0
	return s.Counted > 0 && s.Time >= w.cfg.MinSpan && (r.steps >= 2 || silence)
}

// spareRest remembers what a declared fetch delivered outside every rate: slow start, bursts too
// short to have one, bounds.
func (w *Window) spareRest(s *Sample, all point) {
	if !w.burst.declared {
		return
	}
	if s.UpperBound {
		w.spare.bytes += all.bytes
		w.spare.time += all.time
		return
	}
	w.spare.bytes += all.bytes - s.Counted
	w.spare.time += s.LeftOut
}

// recall puts that back into a sample that holds a silence which closed a burst. Slow start does not
// explain such a silence, and to charge it to the other bytes alone would read too slow: all the
// fetch delivered took all this time. Its first read is
// among it: after a silence it no longer stands for a round trip alone.
func (w *Window) recall(s *Sample) {
	s.Counted += w.spare.bytes + w.firstRead
	s.Time += w.spare.time
	s.Recalled = w.spare.time
	w.spare, w.firstRead = point{}, 0
}

// standardError is the spread of the rest's blocks or, if that is more, how far what was put back or
// charged beside them moved the rate.
func (w *Window) standardError(s *Sample, r ramp) SecondsPerByte {
	c := w.curve
	spread, ok := c.spread(r.cut, r.steps)
	if !ok {
		return s.Rate
	}
	rest := perByte(c.head.time-r.cut.time, c.head.bytes-r.cut.bytes)
	return max(spread, SecondsPerByte(math.Abs(float64(s.Rate-rest))))
}
