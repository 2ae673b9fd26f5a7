// Package curve turns the arrivals of a speed test into a rate for each second
// and the figures that sum them up.
//
// Bytes come in lumps: a multiplexer hands up a whole frame, and at 1 Mbit/s a
// frame of 16 KiB takes an eighth of a second. Counting lumps by the second they
// came in would put an error of a tenth on each second. The bytes of an arrival
// are therefore spread over the time since the arrival before it, in which they
// crossed the link, and a rate divides by the time that really passed.
//
// Two figures matter. The median second is robust: a burst that a token bucket
// lets through, or a second lost to something else, does not move it (FlashFlow's
// choice, Tor proposal 316). The best ten seconds are what the tested node will
// itself observe (Tor's choice, dir-spec 2.1.1).
package curve

import (
	"slices"
	"time"
)

// Step is the resolution of a curve. Finer would only show the multiplexer's
// frames.
const Step = 100 * time.Millisecond

// steps make a second.
const steps = int(time.Second / Step)

// MaxLength is the longest curve: what comes later is counted in Bytes and in no
// figure. Longer than any test that a policy allows; 48 kB.
const MaxLength = 10 * time.Minute

// Curve collects arrivals. The zero value is empty; instants count from the
// start of the transfer. Not safe for concurrent use.
type Curve struct {
	bins  []float64 // bytes in each step
	last  time.Duration
	total int64
}

// Add notes that n bytes had come by at, since the arrival before. Instants that
// go back count as the one before; n below 1 is nothing.
func (c *Curve) Add(at time.Duration, n int) {
	if n < 1 {
		return
	}
	c.total += int64(n)
	at = max(at, c.last)
	from, span := c.last, at-c.last
	c.last = at
	if span == 0 {
		c.put(at, float64(n))
		return
	}
	for from < at {
		to := min(from-from%Step+Step, at)
		c.put(from, float64(n)*float64(to-from)/float64(span))
		from = to
		if from >= MaxLength {
			return
		}
	}
}

// put adds bytes to the step that an instant is in.
func (c *Curve) put(at time.Duration, n float64) {
	i := int(max(at, 0) / Step)
	if i >= int(MaxLength/Step) {
		return
	}
	if i >= len(c.bins) {
		c.bins = append(c.bins, make([]float64, i+1-len(c.bins))...)
	}
	c.bins[i] += n
}

// Bytes is how many came in all.
func (c *Curve) Bytes() int64 { return c.total }

// Last is when the last of them came.
func (c *Curve) Last() time.Duration { return c.last }

// Rate is the mean rate between two instants in bytes per second, 0 if they are
// closer than a step. They are rounded to whole steps.
func (c *Curve) Rate(from, to time.Duration) float64 {
	first, end := round(from), round(to)
	if end <= first {
		return 0
	}
	return c.sum(first, end) / (float64(end-first) * Step.Seconds())
}

// Seconds are the rates of the whole seconds between two instants, in bytes per
// second.
func (c *Curve) Seconds(from, to time.Duration) []float64 {
	first, end := round(from), round(to)
	var rates []float64
	for i := first; i+steps <= end; i += steps {
		rates = append(rates, c.sum(i, i+steps))
	}
	return rates
}

// Best is the highest mean rate over a span of that length between two instants,
// in bytes per second, and the length it was taken over: all there is, if that is
// less.
func (c *Curve) Best(from, to, length time.Duration) (rate float64, over time.Duration) {
	first, end := round(from), round(to)
	n := min(round(length), end-first)
	if n < 1 {
		return 0, 0
	}
	sum := c.sum(first, first+n)
	best := sum
	for i := first + n; i < end; i++ {
		sum += c.at(i) - c.at(i-n)
		best = max(best, sum)
	}
	return best / (float64(n) * Step.Seconds()), time.Duration(n) * Step
}

func (c *Curve) at(i int) float64 {
	if i < 0 || i >= len(c.bins) {
		return 0
	}
	return c.bins[i]
}

func (c *Curve) sum(first, end int) (bytes float64) {
	for i := max(first, 0); i < min(end, len(c.bins)); i++ {
		bytes += c.bins[i]
	}
	return bytes
}

// round is the number of the step whose start is nearest.
func round(at time.Duration) int { return int((min(max(at, 0), MaxLength) + Step/2) / Step) }

// Median is the middle of some rates, of an even number the mean of both; 0 of
// none. It leaves the order alone.
func Median(rates []float64) float64 {
	if len(rates) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(rates))
	m := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[m]
	}
	return (sorted[m-1] + sorted[m]) / 2
}
