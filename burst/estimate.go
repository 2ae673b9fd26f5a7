package burst

import (
	"math"
	"time"
)

// DefaultHalfLife is the half-life of an [Estimate]. Longer remembers service that has changed;
// shorter forgets what was earned between two fetches. An hour spans the fetches of one round of
// peer churn.
const DefaultHalfLife = time.Hour

// Estimate is what the samples of one peer say together, over all its connections. Build it with
// [NewEstimate]. It is not safe for concurrent use.
//
// It keeps sums of charged time and counted bytes whose weights decay by half each half-life, so
// that a sample of time without bytes has its place. It is one small value without further memory.
type Estimate struct {
	halfLife time.Duration
	at       time.Duration // the instant the sums are aged to
	seen     bool

	seconds, bytes float64 // behind the rate

	covered, coveredSquared float64 // of b and b^2 over bursts

	// For the standard error, of products over samples: w the counted bytes, t the charged time.
	within     float64 // of w^2 se^2
	ww, wt, tt float64

	bound   SecondsPerByte // the least upper bound; 0 none
	boundAt time.Duration

	bursts uint64
}

// NewEstimate returns an empty estimate; a half-life that is not positive becomes
// [DefaultHalfLife].
func NewEstimate(halfLife time.Duration) *Estimate {
	if halfLife <= 0 {
		halfLife = DefaultHalfLife
	}
	return &Estimate{halfLife: halfLife}
}

// Fold adds a sample at an instant, which must not go back; an earlier one ages nothing.
func (e *Estimate) Fold(s Sample, at time.Duration) {
	e.age(at)
	if s.Covered > 0 {
		b := float64(s.Covered)
		e.covered += b
		e.coveredSquared += b * b
	}
	if s.UpperBound {
		e.foldBound(s.Rate)
		return
	}
	w, t := float64(max(s.Counted, 0)), s.Time.Seconds()
	e.seconds += t
	e.bytes += w
	e.ww, e.wt, e.tt = e.ww+w*w, e.wt+w*t, e.tt+t*t
	if w > 0 {
		e.within += w * w * float64(s.StandardError) * float64(s.StandardError)
		e.bursts++
	}
}

// foldBound keeps the least bound. A bound that ages is worth less, so it rises: twofold for each
// half-life.
func (e *Estimate) foldBound(rate SecondsPerByte) {
	if rate <= 0 {
		return
	}
	if old := e.agedBound(e.at); old == 0 || rate < old {
		e.bound, e.boundAt = rate, e.at
	}
}

func (e *Estimate) agedBound(at time.Duration) SecondsPerByte {
	if e.bound == 0 {
		return 0
	}
	return e.bound / SecondsPerByte(e.decay(at-e.boundAt))
}

// decay is the weight left after a time.
func (e *Estimate) decay(d time.Duration) float64 {
	return math.Exp2(-float64(max(d, 0)) / float64(e.halfLife))
}

// age brings the sums to an instant.
func (e *Estimate) age(at time.Duration) {
	if !e.seen {
		e.seen, e.at = true, at
	}
	f := e.decay(at - e.at)
	e.at = max(e.at, at)
	for _, sum := range []*float64{&e.seconds, &e.bytes, &e.covered, &e.coveredSquared} {
		*sum *= f
	}
	for _, sum := range []*float64{&e.within, &e.ww, &e.wt, &e.tt} {
		*sum *= f * f // weights decay, so their squares decay twice
	}
}

// Estimation is a reading of an [Estimate].
type Estimation struct {
	// Rate is aged charged time over aged counted bytes; 0 if unknown.
	Rate SecondsPerByte
	// StandardError is the error bar of Rate: it holds an audit back and never raises trust, for a
	// metronomic pacer has a small one.
	StandardError SecondsPerByte
	// UpperBound is the least bound from bursts that ended within their slow start; 0 if there is
	// none. It doubles with each half-life of age.
	UpperBound SecondsPerByte
	// Coverage is the size-biased mean of the gate-vetted bytes of a burst, sum b^2 / sum b: the
	// length of the burst that a randomly chosen vetted byte came in. 240 bursts of 50 kB cover 50
	// kB, not 12 MB.
	Coverage int64
	// Bursts counts the samples behind Rate, unaged.
	Bursts uint64
}

// Reading returns the estimate as of an instant. Ageing changes no rate and no coverage by itself,
// only what new samples weigh against old ones; but evidence that has aged to less than a byte is
// forgotten.
func (e *Estimate) Reading(at time.Duration) Estimation {
	left := e.decay(at - e.at)
	r := Estimation{UpperBound: e.agedBound(at), Bursts: e.bursts}
	if e.covered*left >= 1 {
		r.Coverage = int64(math.Round(e.coveredSquared / e.covered))
	}
	if e.bytes*left >= 1 {
		rate := e.seconds / e.bytes
		r.Rate = SecondsPerByte(rate)
		r.StandardError = SecondsPerByte(e.standardError(rate))
	}
	return r
}

// standardError is the larger of what the samples say of themselves and how far their times are
// from what the common rate gives their bytes: the error of a ratio of sums (Cochran, Sampling
// Techniques, section 6.3). Deviations count in time, so that a crumb that took ten times its share
// of a moment moves it by that moment.
func (e *Estimate) standardError(rate float64) float64 {
	between := e.tt - 2*rate*e.wt + rate*rate*e.ww
	return math.Sqrt(max(e.within, between, 0)) / e.bytes
}

// Trust is how far the rate may be relied on for n bytes, from 0 to 1: coverage/(coverage + k n)
// with k = 1. Evidence from short bursts does not carry over to long transfers; with k = 1 a burst
// as long as the fetch is worth as much as the prior. A smaller k lets a pacer's 2 MB beat an
// honest peer's 12; a larger one disbelieves the honest as well.
func (e Estimation) Trust(n int64) float64 {
	if e.Coverage <= 0 {
		return 0
	}
	c := float64(e.Coverage)
	return c / (c + float64(max(n, 0)))
}
