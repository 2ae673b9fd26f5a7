package cookie

import (
	"time"

	tdigest "github.com/caio/go-tdigest/v4"
)

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
	g.censored = 0
}

// count returns how many samples the generation holds, censored ones included.
func (g *generation) count() uint64 {
	if !g.live {
		return 0
	}
	return g.td.Count()
}

// censoredCount returns how many of them are censored.
func (g *generation) censoredCount() uint64 {
	if !g.live {
		return 0
	}
	return g.censored
}

// add takes in one sample.
func (g *generation) add(s sample) {
	if g.td.Count() == 0 {
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

// rank returns the value at a rank, a fractional index from 0 to the number of
// samples less one, over the generation and the sorted pending samples, of which
// together there must be one at least. The library's own quantile knows no
// pending ones and extrapolates beyond what was seen.
func (g *generation) rank(pending []time.Duration, index float64) time.Duration {
	least, greatest := g.extremes(pending)
	w := walk{rank: index, value: float64(least)}
	if g.live {
		g.td.ForEachCentroid(func(mean float64, count uint64) bool {
			for len(pending) > 0 && float64(pending[0]) <= mean {
				w.visit(float64(pending[0]), 1)
				pending = pending[1:]
			}
			w.visit(mean, float64(count))
			return !w.done
		})
	}
	for _, p := range pending {
		w.visit(float64(p), 1)
	}
	return w.end(float64(greatest))
}

// extremes returns the least and the greatest sample, the sorted pending ones
// included.
func (g *generation) extremes(pending []time.Duration) (least, greatest time.Duration) {
	if len(pending) == 0 {
		return g.min, g.max
	}
	least, greatest = pending[0], pending[len(pending)-1]
	if g.count() > 0 {
		least, greatest = min(least, g.min), max(greatest, g.max)
	}
	return least, greatest
}
