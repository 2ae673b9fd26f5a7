package cookie

import (
	"math/rand/v2"
	"time"

	tdigest "github.com/caio/go-tdigest/v4"
)

// source is the t-digest's random numbers, used to spread merges evenly. The
// library's own takes 5 KiB; this one takes 32 B. It needs no secrecy: whatever
// it draws, the quantiles are clamped and the number of centroids is bounded.
type source struct{ *rand.Rand }

// newSource returns a source with a fixed seed, so that runs can be repeated.
func newSource() source {
	return source{rand.New(rand.NewPCG(1, 2))}
}

// Intn gives the library the name that it asks for.
func (s source) Intn(n int) int { return s.IntN(n) }

// generation is one t-digest and what the t-digest does not keep.
type generation struct {
	td       *tdigest.TDigest // nil until first used, then kept
	start    time.Duration
	live     bool
	min, max time.Duration
	censored uint64
}

// begin empties the generation and starts it at an instant.
func (g *generation) begin(at time.Duration, compression float64, rng source) {
	if g.td == nil {
		// New fails on a compression below 1 only; the config allows none.
		g.td, _ = tdigest.New(tdigest.Compression(compression), tdigest.RandomNumberGenerator(rng))
	} else {
		g.td.Reset()
	}
	g.start, g.live = at, true
	g.min, g.max, g.censored = 0, 0, 0
}

// count returns how many samples the generation holds, censored ones included.
func (g *generation) count() uint64 {
	if !g.live {
		return 0
	}
	return g.td.Count()
}

// add takes in one sample.
func (g *generation) add(s sample) {
	if n := g.td.Count(); n == 0 {
		g.min, g.max = s.value, s.value
	} else {
		g.min, g.max = min(g.min, s.value), max(g.max, s.value)
	}
	if s.censored {
		g.censored++
	}
	// Add fails on NaN only, which no Duration converts to.
	_ = g.td.Add(float64(s.value))
}

// compact keeps the t-digest within the memory it was made with. In random order
// it stays small by itself, but values that only grow make a centroid each, and
// past its capacity the library would double it.
func (g *generation) compact() {
	n := 0
	g.td.ForEachCentroid(func(float64, uint64) bool { n++; return true })
	if n+ringSize > 10*int(g.td.Compression()) {
		// Compress fails where Add does.
		_ = g.td.Compress()
	}
}

// rank returns the value at a rank, a fractional index from 0 to count-1, clamped
// to what was seen: the library extrapolates beyond its outermost centroids.
func (g *generation) rank(index float64) time.Duration {
	if g.min == g.max {
		return g.min
	}
	q := min(1, max(0, index/float64(g.td.Count()-1)))
	return min(g.max, max(g.min, time.Duration(g.td.Quantile(q))))
}
