package burst

import (
	"math"
	"time"
)

// maxRounds bounds the rounds of a slow start: 2^30 initial windows exceed any cap.
const maxRounds = 30

// stalls is how many rounds of a slow start end in silence: until the window covers the path,
// ceil(log2(R/(S W0))).
func stalls(rtt time.Duration, rate SecondsPerByte, window int64) int {
	if rtt <= 0 {
		return 0
	}
	x := rtt.Seconds() / (float64(rate) * float64(window))
	if !(x > 1) { // also when the rate is not a number
		return 0
	}
	return int(min(math.Ceil(math.Log2(x)), maxRounds))
}

// windows is how many windows of a slow start it takes to carry so many bytes,
// ceil(log2(bytes/W + 1)).
func windows(bytes, window int64) int {
	return int(math.Ceil(math.Log2(float64(bytes)/float64(window) + 1)))
}

// ramp is the part of a burst that is left out as slow start.
type ramp struct {
	cut      point         // where the rest begins
	lead     int64         // bytes without a rate before it
	steps    int           // steps of the curve beyond the cut
	short    bool          // the burst ended within its slow start
	capped   bool          // the slow start is longer than we leave out
	overrun  time.Duration // time on the ramp that a slow start does not explain: to be put back
	putBack  int64         // the share of its bytes that goes with it
	restRate SecondsPerByte
}

// leaveOut finds the ramp of the open burst. The rounds need the rate and the rate needs the
// rounds: start from the last estimate, else from the burst's last quarter, and go round again with
// the rate of what remains.
func (w *Window) leaveOut() ramp {
	r := ramp{steps: w.curve.n}
	if !w.burst.ramping || w.path.BaseRTT <= 0 || w.curve.head.bytes == 0 {
		return r
	}
	own := w.curve.lastQuarter()
	rate := w.path.Rate
	if rate <= 0 {
		rate = own
	}
	r = w.cutAt(rate)
	if r.short && own > rate {
		// The last estimate is from a faster time; this burst itself may be long enough.
		r = w.cutAt(own)
	}
	for range 2 {
		if r.short || r.restRate <= 0 {
			break
		}
		r = w.cutAt(r.restRate)
	}
	return r
}

// cutAt leaves out W(2^Q - 1) bytes and one initial window more, so that the last stall lies inside:
// by byte count, never by the length of a gap, or a pacer could hide its silence here. W is the
// initial window and what had been delivered since the connection was cold, for in a slow start the
// window grows by every byte acknowledged.
func (w *Window) cutAt(rate SecondsPerByte) ramp {
	c, b := w.curve, &w.burst
	window := w.cfg.InitialWindow + b.before
	q := stalls(w.path.BaseRTT, rate, window)
	bytes := float64(window) * (math.Exp2(float64(q)) - 1)
	limit := float64(w.rampCap())
	r := ramp{steps: c.n, capped: bytes > limit}
	if q > 0 {
		var ok bool
		r.cut, r.lead, r.steps, ok = c.after(int64(min(bytes, limit)) + w.cfg.InitialWindow)
		r.short = !ok
	}
	r.restRate = perByte(c.head.time-r.cut.time, c.head.bytes-r.cut.bytes)
	if r.cut.time > 0 {
		r.putBackOverrun(w.rampAllowance(q, r, rate))
	}
	return r
}

// leastBoundShare is the part of a burst that must lie behind its last stall for a bound to rest on
// it alone, and steadiness how far its blocks may spread, as a part of the rate. Less bytes, or less
// steady ones, may be what a buffer held while we looked elsewhere, and the least bound is believed
// for hours.
const (
	leastBoundShare = 0.25
	steadiness      = 0.125
)

// bound is what speaks in a burst that tells a bound only: what came after the last stall that it had,
// as the next window would have stalled again. Otherwise a far and fast path would be bounded by its
// stalls, at a fifth of its rate (268 ms, 1 Gbit/s, 12 MB). Where that is too little or unsteady, it
// is the whole burst, or what came beyond the cap. There is no bound at all where the ramp took longer
// than a slow start explains.
func (w *Window) bound(r ramp) ramp {
	c, b := w.curve, &w.burst
	whole := ramp{steps: c.n, short: r.short, capped: r.capped}
	if !r.short {
		whole = r
	}
	window := w.cfg.InitialWindow + b.before
	rounds := windows(c.lead+c.head.bytes, window) - 1
	skip := int64(float64(window)*(math.Exp2(float64(rounds))-1)) + w.cfg.InitialWindow
	if rounds < 1 || skip <= int64(c.leads[0]) {
		return whole
	}
	last := whole
	last.cut, last.lead, last.steps, _ = c.after(skip)
	bytes, span := c.head.bytes-last.cut.bytes, c.head.time-last.cut.time
	last.restRate = perByte(span, bytes)
	spread, ok := c.spread(last.cut, last.steps)
	if !ok || span < w.cfg.MinSpan || float64(bytes) < leastBoundShare*float64(c.head.bytes) ||
		spread > steadiness*last.restRate {
		return whole
	}
	return last
}

// rampAllowance is the time the ramp may take before it is the peer's fault: twice its stalls, and
// the bytes themselves at the rate of the rest.
func (w *Window) rampAllowance(q int, r ramp, rate SecondsPerByte) time.Duration {
	b := &w.burst
	rounds := min(q, windows(r.lead+r.cut.bytes, w.cfg.InitialWindow+b.before))
	if r.restRate > 0 {
		rate = r.restRate
	}
	serial := time.Duration(float64(rate) * float64(r.cut.bytes) * 1e9)
	return 2*time.Duration(rounds)*w.path.BaseRTT + serial
}

// putBackOverrun returns the time beyond the allowance to the rate together with the same share of
// the ramp's bytes: time alone would read too slow. Each second beyond takes back two, so that at
// twice the allowance nothing is left out and a dribbled ramp reads its true rate, without a step at
// which a little more jitter changes everything.
func (r *ramp) putBackOverrun(allowed time.Duration) {
	if r.cut.time <= allowed {
		return
	}
	r.overrun = min(r.cut.time, 2*(r.cut.time-allowed))
	share := float64(r.overrun) / float64(r.cut.time)
	r.putBack = int64(math.Round(share * float64(r.cut.bytes)))
}

// rampCap is the most bytes left out as slow start.
func (w *Window) rampCap() int64 {
	if w.path.Confirmed {
		return w.cfg.RampCapConfirmed
	}
	return w.cfg.RampCap
}
