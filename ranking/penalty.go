package ranking

import (
	"math"
	"time"
)

const (
	// failureMost bounds the penalty of failures, as a multiple of the time.
	failureMost = 100
	// peakMost is the same for a slow completion.
	peakMost = 10
	// peakServed is after how many completions of others that is halved, if its half-life is not over
	// before. More leaves good peers unused for longer.
	peakServed = 8
	// failureOver is below what a penalty of failures has passed.
	failureOver = 0.05
	// forgiven is what a completion leaves of the penalty of failures.
	forgiven = 0.8
)

// penalty is what makes a peer's time longer than measured and predicted: failures, and the last slow
// completions. The zero value is none.
type penalty struct {
	failure, peak     float64
	failedAt, peakAt  time.Duration
	peakServed        uint64  // completions of anybody until then
	failures, running int     // all failures; those in a row
	basis             float64 // seconds that were expected of one that failed
	bytes             int64   // that it was for
}

// factor is what to multiply a time with.
func (p *penalty) factor(now time.Duration, served uint64, c *Config) float64 {
	return 1 + p.failed(now, c) + p.peaked(now, served, c)
}

func (p *penalty) failed(now time.Duration, c *Config) float64 {
	if p.failure == 0 {
		return 0
	}
	return p.failure * decay(now-p.failedAt, c.HalfFailure)
}

// peaked is the distrust of the last slow completions. It fades with time, and with what others have
// served meanwhile: a busy node must not do without its best peer for hundreds of fetches after an
// accident.
func (p *penalty) peaked(now time.Duration, served uint64, c *Config) float64 {
	if p.peak == 0 {
		return 0
	}
	halves := max(float64(max(now-p.peakAt, 0))/float64(c.HalfPeak), float64(served-p.peakServed)/peakServed)
	return p.peak * math.Exp2(-halves)
}

// fail adds a failure that is to be taken for one of so many times the time, in seconds, that was expected
// of so many bytes.
func (p *penalty) fail(now time.Duration, times, expected float64, bytes int64, c *Config) {
	p.measureBy(now, expected, bytes, c)
	p.failure = min(p.failed(now, c)+max(times-1, 0), failureMost)
	p.failedAt = now
	p.failures++
	p.running++
}

// more raises the last failure's part, once it is known how long the datum took elsewhere.
func (p *penalty) more(now time.Duration, times float64, c *Config) {
	p.failure = min(p.failed(now, c)+max(times, 0), failureMost)
	p.failedAt = now
}

// measureBy notes what the penalty is measured by: of the failures in it the largest, so that a slow crumb
// undoes no failure of large data, and of those alike the one of which least was expected.
func (p *penalty) measureBy(now time.Duration, expected float64, bytes int64, c *Config) {
	mine, other := sizeClass(p.bytes), sizeClass(bytes)
	if p.failed(now, c) < failureOver || other > mine || other == mine && expected < p.basis {
		p.basis, p.bytes = expected, bytes
	}
}

// learnt takes in what is expected now, without penalties, of a fetch like that which failed. By what
// that is more than was expected when it failed the penalty is less: who is given up for being slow and
// then completes as slowly is as slow as that, not as slow times as slow.
func (p *penalty) learnt(now time.Duration, expected float64, c *Config) {
	if p.basis <= 0 || expected <= p.basis {
		return
	}
	p.failure = max((1+p.failed(now, c))*p.basis/expected-1, 0)
	p.failedAt, p.basis = now, expected
}

// complete takes in a completion that took so many times what those before took.
func (p *penalty) complete(now time.Duration, served uint64, times float64, c *Config) {
	p.failure = p.failed(now, c) * forgiven
	p.failedAt, p.running = now, 0
	left := p.peaked(now, served, c) / 2
	if times > 1.5 {
		left = max(2*left, min((times-1)/2, peakMost))
	}
	p.peak, p.peakAt, p.peakServed = left, now, served
}
