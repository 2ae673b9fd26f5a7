package audit

import (
	"math"
	"time"
)

// A Chart is a sequential test of how often something happens: a Bernoulli cumulative sum (Page
// [1], Reynolds and Stoumbos [2]). Each time it happens the sum grows by ln(Guilty/Honest), each
// time it doesn't it shrinks by ln((1-Honest)/(1-Guilty)), never below zero; the verdict falls when
// the sum reaches Limit and is lifted when it is back at zero.
type Chart struct {
	// Honest and Guilty are the two rates told apart, 0 < Honest < Guilty < 1. Nearer to each other
	// is slower; both lower convicts rarer offenders.
	Honest, Guilty float64
	// Limit is the sum that convicts, in nats. Larger is slower and errs less often: about e^-Limit
	// of the excursions of a peer at the honest rate reach it.
	Limit float64
}

const chartBounds = "a chart with 0 < Honest < Guilty < 1 and Limit above zero"

func (c Chart) valid() bool {
	return c.Honest > 0 && c.Honest < c.Guilty && c.Guilty < 1 && c.Limit > 0 && c.Limit < 1e6
}

// FreeRate returns how often it may happen for ever without a verdict being due: the rate at which
// the sum does not drift.
func (c Chart) FreeRate() float64 {
	up, down := c.steps()
	return down / (up + down)
}

// InARow returns how many times in a row convict a peer with a clean record.
func (c Chart) InARow() int {
	up, _ := c.steps()
	return int(math.Ceil(c.Limit / up))
}

// steps returns how much the sum grows on a hit and shrinks on a miss.
func (c Chart) steps() (up, down float64) {
	return math.Log(c.Guilty / c.Honest), math.Log((1 - c.Honest) / (1 - c.Guilty))
}

// steps is a Chart made ready: logarithms cost more than all the rest of it.
type steps struct{ up, down, limit float64 }

func (c Chart) ready() steps {
	up, down := c.steps()
	return steps{up, down, c.Limit}
}

// ChartState is where a peer stands on a chart. It is what a state file keeps; charts do not age.
type ChartState struct {
	// Sum is the value of the chart in nats.
	Sum float64 `json:"sum"`
	// Stands says that the verdict has fallen and was not lifted since.
	Stands bool `json:"stands,omitempty"`
	// Hits of the last Run counted fetches are what the sum consists of: those since it was last
	// zero.
	Hits uint32 `json:"hits,omitempty"`
	Run  uint32 `json:"run,omitempty"`
	// Actual, Claim and Threshold are those of the newest hit.
	Actual    time.Duration `json:"actual,omitempty"`
	Claim     time.Duration `json:"claim,omitempty"`
	Threshold float64       `json:"threshold,omitempty"`
}

// sign is what one record says on a chart.
type sign uint8

const (
	silent sign = iota // nothing: the chart does not move
	miss               // it did not happen
	hit                // it did
)

// move folds one sign in.
func (s *ChartState) move(st steps, what sign, f figures) {
	switch what {
	case hit:
		s.Run++
		s.Hits++
		s.Actual, s.Claim, s.Threshold = f.actual, f.claim, f.limit
		s.Sum = min(s.Sum+st.up, st.limit)
		s.Stands = s.Stands || s.Sum >= st.limit
	case miss:
		if s.Sum == 0 {
			return
		}
		s.Run++
		if s.Sum -= st.down; s.Sum <= 0 {
			*s = ChartState{}
		}
	case silent:
	}
}

// figures are what a hit is remembered by.
type figures struct {
	actual, claim time.Duration
	limit         float64
}

// valid says whether a state can have come from a chart.
func (s ChartState) valid() bool {
	return s.Sum >= 0 && s.Sum < math.MaxFloat32 && (s.Sum > 0 || !s.Stands) && s.Hits <= s.Run && s.Actual >= 0 && s.Claim >= 0 &&
		s.Threshold >= 0 && s.Threshold < math.MaxFloat32
}
