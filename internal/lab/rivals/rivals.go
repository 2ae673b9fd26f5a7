package rivals

import (
	"math/rand/v2"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// Assay and Oracle are the names of what is no rival: the subject and the
// yardstick.
const (
	Assay  = "assay"
	Oracle = "oracle"
)

// Entrant is one chooser under its name, which is the one it gives itself.
type Entrant struct {
	Name string
	New  engine.New
}

// Entrants are all that run in a comparison, in the order of its tables: Assay, the
// rivals and the oracle.
func Entrants() []Entrant {
	return []Entrant{
		{Assay, engine.NewAssay},
		{"msgrate", NewMsgRate},
		{"peak_ewma", NewPeakEWMA},
		{"ungated", NewUngated},
		{"advertised", NewAdvertised},
		{"round_robin", engine.NewRoundRobin},
		{Oracle, engine.NewOracle},
	}
}

// newDice makes a rival's own chance. Nothing of the world is drawn from it.
func newDice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x716a15)) }

// least returns the index of the candidate with the least cost, by chance one of
// them where several have it.
func least(dice *rand.Rand, c []engine.Candidate, cost func(engine.Candidate) float64) int {
	best, alike, lowest := 0, 0, 0.0
	for i, p := range c {
		x := cost(p)
		switch {
		case i == 0 || x < lowest:
			best, alike, lowest = i, 1, x
		case x == lowest:
			if alike++; dice.IntN(alike) == 0 {
				best = i
			}
		}
	}
	return best
}

// meanOf is the mean of what is known of the candidates, 0 if nothing is.
func meanOf(c []engine.Candidate, of func(engine.Candidate) float64) float64 {
	sum, n := 0.0, 0
	for _, p := range c {
		if x := of(p); x > 0 {
			sum += x
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
