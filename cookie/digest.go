package cookie

import (
	"slices"
	"time"
)

// ringSize is how many samples wait before the t-digests take them in together.
// More saves little per sample; 32 are also enough for exact quantiles of a
// connection that never has more, which then never pays for a t-digest.
const ringSize = 32

// sample is one round-trip time on its way into the digest.
type sample struct {
	at       time.Duration
	value    time.Duration
	censored bool // a lower bound, not a measurement
}

// quantiles are a digest's reading. n counts measured samples.
type quantiles struct {
	p50, p95    time.Duration
	n, censored uint64
}

// digest is an ageing quantile digest: a ring of new samples in front of two
// t-digests started one span apart. Both are fed, the older answers, and when it
// is two spans old the younger takes its place; so an answer rests on the last
// one to two spans. The ring alone serves as long as all fits into it.
// Not safe for concurrent use.
type digest struct {
	compression  float64
	span         time.Duration
	flushAfter   time.Duration
	ring         []sample // nil until the first sample
	older, newer generation
	rng          source
}

// add takes in a sample; at must not run backwards.
func (d *digest) add(s sample) {
	if d.ring == nil {
		d.ring = make([]sample, 0, ringSize)
	}
	if !d.older.live {
		d.dropStale(s.at)
	}
	if len(d.ring) == ringSize || d.older.live && len(d.ring) > 0 && s.at-d.ring[0].at >= d.flushAfter {
		d.flush()
	}
	d.ring = append(d.ring, s)
}

// dropStale ages the ring while it has no t-digests behind it.
func (d *digest) dropStale(now time.Duration) {
	stale := 0
	for stale < len(d.ring) && now-d.ring[stale].at >= 2*d.span {
		stale++
	}
	if stale > 0 {
		d.ring = slices.Delete(d.ring, 0, stale)
	}
}

// flush puts the ring into the t-digests, each sample by its own time.
func (d *digest) flush() {
	for _, s := range d.ring {
		d.rotate(s.at)
		d.older.add(s)
		if d.newer.live {
			d.newer.add(s)
		}
	}
	d.ring = d.ring[:0]
	d.older.compact()
	if d.newer.live {
		d.newer.compact()
	}
}

// rotate makes the generations right for a sample at an instant.
func (d *digest) rotate(at time.Duration) {
	if d.rng.Rand == nil {
		d.rng = newSource()
	}
	if d.older.live && at-d.older.start >= 2*d.span {
		d.older, d.newer = d.newer, d.older
		d.newer.live = false
	}
	if !d.older.live || at-d.older.start >= 2*d.span {
		d.older.begin(at, d.compression, d.rng)
	}
	if !d.newer.live && at-d.older.start >= d.span {
		d.newer.begin(d.older.start+d.span, d.compression, d.rng)
	}
}

// read returns the quantiles at an instant. Where nothing newer has come the last
// samples known still answer, however old: the caller knows when they came.
func (d *digest) read(now time.Duration) quantiles {
	if !d.older.live {
		return d.readRing()
	}
	if len(d.ring) > 0 {
		d.flush()
	}
	if now-d.older.start >= 2*d.span && d.newer.count() > 0 {
		d.older, d.newer = d.newer, d.older
		d.newer.live = false
	}
	return quantilesOf(d.older.count(), d.older.censored, d.older.rank)
}

// readRing answers exactly, from the ring alone.
func (d *digest) readRing() quantiles {
	var buf [ringSize]time.Duration
	values := buf[:len(d.ring)]
	censored := uint64(0)
	for i, s := range d.ring {
		values[i] = s.value
		if s.censored {
			censored++
		}
	}
	slices.Sort(values)
	return quantilesOf(uint64(len(values)), censored, func(index float64) time.Duration {
		return interpolate(values, index)
	})
}

// quantilesOf reads the two quantiles of total samples through rank. The high one
// is taken over all of them. The median is that of the measured ones: a censored
// sample is older than the newer echoes that overtook it, so it belongs to the
// upper end, and leaving c of them out only moves the rank.
func quantilesOf(total, censored uint64, rank func(index float64) time.Duration) quantiles {
	q := quantiles{n: total - censored, censored: censored}
	if total == 0 {
		return q
	}
	q.p95 = rank(0.95 * float64(total-1))
	if q.n > 0 {
		q.p50 = rank(0.5 * float64(q.n-1))
		q.p95 = max(q.p95, q.p50)
	}
	return q
}

// interpolate reads a sorted, non-empty slice at a fractional index within it.
func interpolate(sorted []time.Duration, index float64) time.Duration {
	i := int(index)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	low, high := sorted[i], sorted[i+1]
	return low + time.Duration((index-float64(i))*float64(high-low))
}
