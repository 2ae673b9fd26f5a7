package engine

import "time"

// oracle asks the peer that will really be first: it is told the paths, and what
// each peer is going to do to the very next request.
type oracle struct{}

// NewOracle returns the oracle, the yardstick of all regret.
func NewOracle(Setting) (Chooser, error) { return NewSimple(oracle{}), nil }

func (oracle) Name() string { return "oracle" }

func (oracle) Pick(now time.Duration, w Want, c []Candidate) int {
	best, least := 0, time.Duration(-1)
	for i, p := range c {
		t := p.Truth(now, Ask{Datum: w.Number, Size: w.Size, Critical: w.Critical, Ahead: p.Outstanding})
		if least < 0 || t < least {
			best, least = i, t
		}
	}
	return best
}

func (oracle) Learn(time.Duration, Outcome) {}

// roundRobin asks all in turn.
type roundRobin struct{ turn int }

// NewRoundRobin returns the chooser that has no opinion.
func NewRoundRobin(Setting) (Chooser, error) { return NewSimple(&roundRobin{}), nil }

func (*roundRobin) Name() string { return "round_robin" }

func (r *roundRobin) Pick(_ time.Duration, _ Want, c []Candidate) int {
	r.turn++
	return r.turn % len(c)
}

func (*roundRobin) Learn(time.Duration, Outcome) {}
