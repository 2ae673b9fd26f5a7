package report

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Axis is what a correlation holds the error against.
type Axis string

// The choices of x. Neither is right alone: both share a term with the error.
const (
	ByFigure   Axis = "figure"   // what was claimed before
	ByCapacity Axis = "capacity" // what the peer can do
)

// Kind is how an error is counted.
type Kind string

// The kinds of error. The study's hypothesis is one of understatement: its relative error is cut off
// at 0, so that a peer which claims more than it has is like one that claims what it has. The signed
// one is beside it, and is weaker where many claims fall of themselves.
const (
	Absolute Kind = "absolute"        // C - A, bytes per second
	Relative Kind = "relative"        // max(0, 1 - A/C)
	Signed   Kind = "relative_signed" // 1 - A/C
)

// Correlation says how far an error grows with the size of a peer.
type Correlation struct {
	X     Axis `json:"x"`
	Error Kind `json:"error"`
	N     int  `json:"n"`
	// Known is false where it is not defined: all errors are alike, or there are fewer than two peers.
	Known    bool     `json:"known"`
	Spearman float64  `json:"spearman"` // ties averaged
	Interval Interval `json:"interval_95"`
	// Null is where the same coefficient lies if the error has nothing to do with capacity: the
	// relative errors are dealt out anew among the peers, the capacities stay, and claims are made of
	// both. What the shared term alone does is thus in it, and only what lies outside says something.
	Null       Interval `json:"null_95"`
	NullMedian float64  `json:"null_median"`
	// P is how often the null is as far from its median, (k+1)/(n+1).
	P float64 `json:"p_value"`
}

// axes and kinds are what is correlated, in the order of the report.
func axes() []Axis  { return []Axis{ByFigure, ByCapacity} }
func kinds() []Kind { return []Kind{Absolute, Relative, Signed} }

// coefficients are those of each axis with each kind, in the order of both.
type coefficients [2][3]float64

// correlator computes the coefficients of samples of some peers, over and over.
type correlator struct {
	orders [5]ordering  // of the axes, then the kinds
	ranks  [5][]float64 // as many
}

func newCorrelator(s sample) *correlator {
	var c correlator
	signed := s.relative()
	for i, values := range [5][]float64{s.figure, s.capacity, s.absolute(), cut(signed), signed} {
		c.orders[i], c.ranks[i] = order(values), make([]float64, len(values))
	}
	return &c
}

// cut returns values with those below 0 made 0.
func cut(values []float64) []float64 {
	least := make([]float64, len(values))
	for i, v := range values {
		least[i] = max(0, v)
	}
	return least
}

func (c *correlator) all(count []int) coefficients {
	for i := range c.orders {
		c.orders[i].rank(count, c.ranks[i])
	}
	return correlateAll(count, c.ranks)
}

func correlateAll(count []int, ranks [5][]float64) coefficients {
	var all coefficients
	for x := range 2 {
		for y := range 3 {
			all[x][y] = correlateRanks(count, ranks[x], ranks[2+y])
		}
	}
	return all
}

// null draws the coefficients of networks with the same capacities and the same relative errors,
// dealt out anew. Dealing leaves the ranks of both as they are, and only moves the errors'.
func null(s sample, times int, seed uint64) []coefficients {
	rnd := rand.New(rand.NewPCG(seed, 2))
	n := len(s.figure)
	once, dealt := ones(n), make([]int, n)
	for i := range dealt {
		dealt[i] = i
	}
	given := newCorrelator(s)
	given.all(once)
	var ranks [5][]float64
	for i := range ranks {
		ranks[i] = make([]float64, n)
	}
	ranks[1] = given.ranks[1]
	figure, absolute := make([]float64, n), make([]float64, n)
	drawn := make([]coefficients, times)
	for k := range drawn {
		rnd.Shuffle(n, func(i, j int) { dealt[i], dealt[j] = dealt[j], dealt[i] })
		for i, from := range dealt {
			figure[i] = s.figure[from] / s.capacity[from] * s.capacity[i]
			absolute[i] = s.capacity[i] - figure[i]
			ranks[3][i], ranks[4][i] = given.ranks[3][from], given.ranks[4][from]
		}
		order(figure).rank(once, ranks[0])
		order(absolute).rank(once, ranks[2])
		drawn[k] = correlateAll(once, ranks)
	}
	return drawn
}

// correlate makes the correlations of what was computed and drawn.
func correlate(n int, all coefficients, resampled, null []coefficients) []Correlation {
	var found []Correlation
	for x, axis := range axes() {
		for y, kind := range kinds() {
			c := Correlation{X: axis, Error: kind}
			pick := func(drawn []coefficients) []float64 {
				values := make([]float64, len(drawn))
				for i := range drawn {
					values[i] = drawn[i][x][y]
				}
				return values
			}
			c.settle(n, all[x][y], pick(resampled), pick(null))
			found = append(found, c)
		}
	}
	return found
}

// settle fills in what was drawn.
func (c *Correlation) settle(n int, rho float64, resampled, null []float64) {
	c.N, c.Known = n, !math.IsNaN(rho)
	if !c.Known {
		return
	}
	c.Spearman, c.Interval, c.Null = rho, interval(resampled), interval(null)
	null = slices.DeleteFunc(slices.Clone(null), math.IsNaN)
	slices.Sort(null)
	if len(null) == 0 {
		c.P = 1
		return
	}
	c.NullMedian = quantile(null, 0.5)
	asFar := 0
	for _, v := range null {
		// A shade less, for the same figure computed twice may differ in its last digit.
		if abs(v-c.NullMedian) >= abs(rho-c.NullMedian)-1e-12 {
			asFar++
		}
	}
	c.P = float64(asFar+1) / float64(len(null)+1)
}
