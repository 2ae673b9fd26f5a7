package cookie

import (
	"math/rand/v2"
	"slices"
	"time"
)

// ringSize is how many samples of one Flush reach the t-digests. 1000 cookies a
// second then cost a visit of 32 samples, and a generation of ten minutes holds
// 19,200 at most, which keeps its centroids few. As many are also enough for the
// exact quantiles of a connection that never has more, which then pays for no
// t-digest at all.
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
// one to two spans. Not safe for concurrent use.
type digest struct {
	compression  float64
	span         time.Duration
	flushAfter   time.Duration
	seed         uint64
	ring         []sample // nil until the first sample
	since        time.Duration
	offered      int // samples since the ring was last empty
	older, newer generation
	rng          source
}

// add takes in a sample; at must not run backwards. Of more than a ringful
// within one flush period a uniform choice is kept (reservoir sampling).
func (d *digest) add(s sample) {
	d.prepare(s.at)
	if len(d.ring) == 0 {
		d.since, d.offered = s.at, 0
	}
	d.offered++
	if len(d.ring) < ringSize {
		d.ring = append(d.ring, s)
	} else if i := d.rng.IntN(d.offered); i < ringSize {
		d.ring[i] = s
	}
}

// prepare makes the ring fit for a sample at an instant.
func (d *digest) prepare(at time.Duration) {
	if d.ring == nil {
		d.ring = make([]sample, 0, ringSize)
		d.rng = newSource(d.seed)
	}
	if d.older.live || len(d.ring) == ringSize {
		d.flushIfDue(at)
		return
	}
	d.dropStale(at)
}

// dropStale ages the ring while it has no t-digests behind it.
func (d *digest) dropStale(now time.Duration) {
	d.ring = slices.DeleteFunc(d.ring, func(s sample) bool {
		return now-s.at >= 2*d.span
	})
}

// flushIfDue puts the ring into the t-digests if its period is over, each sample
// by its own time.
func (d *digest) flushIfDue(now time.Duration) {
	if len(d.ring) == 0 || now-d.since < d.flushAfter {
		return
	}
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
	if d.older.live && at-d.older.start >= 2*d.span {
		d.promote()
	}
	if !d.older.live || at-d.older.start >= 2*d.span {
		d.older.begin(at, d.compression, d.rng)
	}
	if !d.newer.live && at-d.older.start >= d.span {
		d.newer.begin(d.older.start+d.span, d.compression, d.rng)
	}
}

// promote lets the younger generation answer and retires the older.
func (d *digest) promote() {
	d.older, d.newer = d.newer, d.older
	d.newer.live = false
}

// read returns the quantiles at an instant. Where nothing newer has come the last
// samples known still answer, however old: the caller knows when they came.
func (d *digest) read(now time.Duration) quantiles {
	if d.older.live {
		d.flushIfDue(now)
		if now-d.older.start >= 2*d.span && d.newer.count() > 0 {
			d.promote()
		}
	}
	var buf [ringSize]time.Duration
	pending := buf[:len(d.ring)]
	censored := d.older.censoredCount()
	for i, s := range d.ring {
		pending[i] = s.value
		if s.censored {
			censored++
		}
	}
	slices.Sort(pending)
	return d.quantiles(pending, d.older.count()+uint64(len(pending)), censored)
}

// quantiles reads both quantiles of the older generation and the sorted pending
// samples together. The high one is taken over all of them, the median over the
// measured ones: a censored sample is older than the newer echoes that overtook
// it, so it belongs to the upper end, and leaving c of those out only lowers the
// rank.
func (d *digest) quantiles(pending []time.Duration, total, censored uint64) quantiles {
	q := quantiles{n: total - censored, censored: censored}
	if total == 0 {
		return q
	}
	q.p95 = d.older.rank(pending, 0.95*float64(total-1))
	if q.n > 0 {
		q.p50 = d.older.rank(pending, 0.5*float64(q.n-1))
	}
	return q
}

// source is the random numbers of a digest: the reservoir's, and the t-digest's,
// which spreads its merges with them. The library's own source takes 5 KiB, this
// one 32 B.
type source struct{ *rand.Rand }

// newSource returns a source that starts at seed, or anywhere if seed is 0.
func newSource(seed uint64) source {
	if seed == 0 {
		seed = rand.Uint64()
	}
	return source{rand.New(rand.NewPCG(seed, 0))}
}

// Intn gives the library the name that it asks for.
func (s source) Intn(n int) int { return s.IntN(n) }
