package rivals

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// ungated ranks by the estimate that Cardano's network-mux has without the gate: the
// round trip, and the datum at the rate of its bursts,
//
//	RTT + size x estBurstS
//
// where a silence of more than a second (rttBurstMaxAge) is between bursts and in no
// rate.
//
// The size is the attested one, else the median of what is said, the same for all. What
// a peer still owes us comes before it. A peer without a rate has the mean rate of the
// others. The formula knows nothing of failures.
type ungated struct{ dice *rand.Rand }

// NewUngated returns the ranking by round trip and ungated burst rate.
func NewUngated(s engine.Setting) (engine.Chooser, error) {
	return engine.NewSimple(&ungated{newDice(s.Seed)}), nil
}

func (*ungated) Name() string { return "ungated" }

func (u *ungated) Pick(_ time.Duration, w engine.Want, c []engine.Candidate) int {
	size := sizeFor(w, c)
	mean := meanOf(c, func(p engine.Candidate) float64 { return p.Ungated() })
	return least(u.dice, c, func(p engine.Candidate) float64 {
		return p.RTT.Seconds() + after(size+p.Outstanding, p.Ungated(), mean)
	})
}

func (*ungated) Learn(time.Duration, engine.Outcome) {}

// unsaid stands in for a size of which nobody says anything, in bytes. Larger lets rates
// decide, smaller round trips.
const unsaid = 1 << 20

// sizeFor is the one size that all candidates are compared at.
func sizeFor(w engine.Want, c []engine.Candidate) int64 {
	if w.Attested > 0 {
		return w.Attested
	}
	var said []int64
	for _, p := range c {
		if p.Advertised > 0 {
			said = append(said, p.Advertised)
		}
	}
	if len(said) == 0 {
		return unsaid
	}
	slices.Sort(said)
	return said[len(said)/2]
}

// after is how many seconds n bytes take at a rate in B/s, or at what stands in for
// one that is not known. Where nothing is known all are alike.
func after(n int64, rate, otherwise float64) float64 {
	if rate <= 0 {
		rate = otherwise
	}
	if rate <= 0 {
		return 0
	}
	return float64(n) / rate
}
