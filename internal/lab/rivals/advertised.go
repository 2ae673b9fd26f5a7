package rivals

import (
	"math/rand/v2"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/ranking"
)

// goodputImpact is the weight of the newest transfer in a peer's rate, as in Lassie's
// session state.
const goodputImpact = 0.5

// advertised ranks by the time that each peer's own word on the size makes of its
// rate,
//
//	advertised size / rate
//
// which is what a node does that takes the size from whom it asks: the first design's
// estimate without its rules on sizes. The rate is measured from the request to the end
// of each transfer and averaged,
//
//	rate = 0.5 rate + 0.5 bytes/took
//
// as Lassie averages bandwidth (pkg/session at c6ba777), failures with the bytes that
// they brought.
//
// An attested size goes before an advertised one, and a peer that says nothing has the
// median of the others. What a peer still owes us comes first. One without a rate has
// the mean rate of the others.
type advertised struct {
	dice  *rand.Rand
	rates map[ranking.Conn]float64 // B/s
	known map[ranking.Conn]bool
}

// NewAdvertised returns the ranking by advertised size over measured rate.
func NewAdvertised(s engine.Setting) (engine.Chooser, error) {
	return engine.NewSimple(newAdvertised(s.Seed)), nil
}

func newAdvertised(seed uint64) *advertised {
	return &advertised{newDice(seed), map[ranking.Conn]float64{}, map[ranking.Conn]bool{}}
}

func (*advertised) Name() string { return "advertised" }

// slowest is the rate of a peer that has brought nothing yet, in B/s: that it is not 0
// keeps times finite.
const slowest = 1

func (a *advertised) Pick(_ time.Duration, w engine.Want, c []engine.Candidate) int {
	mean := meanOf(c, a.rate)
	common := sizeFor(w, c)
	return least(a.dice, c, func(p engine.Candidate) float64 {
		size := p.Advertised
		if w.Attested > 0 || size == 0 {
			size = common
		}
		return after(size+p.Outstanding, a.rate(p), mean)
	})
}

// rate is that of a peer, 0 unknown.
func (a *advertised) rate(p engine.Candidate) float64 {
	if !a.known[p.Conn] {
		return 0
	}
	return max(a.rates[p.Conn], slowest)
}

func (a *advertised) Learn(_ time.Duration, o engine.Outcome) {
	if o.Aborted {
		return
	}
	rate := float64(o.Bytes) / max(o.Took, time.Nanosecond).Seconds()
	if !a.known[o.Conn] {
		a.known[o.Conn], a.rates[o.Conn] = true, rate
		return
	}
	a.rates[o.Conn] += goodputImpact * (rate - a.rates[o.Conn])
}
