package speedtestdemo

import (
	"time"

	"github.com/assay-mux/assay/internal/lab"
)

// Member is a target, and the truth about it.
type Member struct {
	Name  string
	Story string // what it is, for people
	Rate  lab.BitRate
	RTT   time.Duration
	// Busy is how long it has been busy before, both ways at once; ten seconds fill the window in
	// which it observes itself.
	Busy time.Duration
	// Claim is what it publishes instead of what it has observed.
	Claim  lab.BitRate
	OptOut bool
}

// Control is the target of our own, which is tested first.
func Control() Member {
	return Member{Name: "control", Story: "ours, its limit known", Rate: 50 * lab.Mbit, RTT: 20 * time.Millisecond}
}

// full is longer than the window of observation, so that it has ten whole seconds.
const full = 12 * time.Second

// Members are the others.
func Members() []Member {
	ms := time.Millisecond
	return []Member{
		{Name: "steady-5", Story: "honest, busy", Rate: 5 * lab.Mbit, RTT: 40 * ms, Busy: full},
		{Name: "steady-25", Story: "honest, busy", Rate: 25 * lab.Mbit, RTT: 20 * ms, Busy: full},
		{Name: "far-40", Story: "honest, busy, far", Rate: 40 * lab.Mbit, RTT: 120 * ms, Busy: full},
		{Name: "short-100", Story: "busy for 3 s at most", Rate: 100 * lab.Mbit, RTT: 20 * ms, Busy: 3 * time.Second},
		{Name: "short-400", Story: "busy for 1 s at most", Rate: 400 * lab.Mbit, RTT: 10 * ms, Busy: time.Second},
		{Name: "liar-15", Story: "claims ten times what it has", Rate: 15 * lab.Mbit, RTT: 30 * ms, Claim: 150 * lab.Mbit},
		{Name: "shy-50", Story: "has opted out", Rate: 50 * lab.Mbit, RTT: 20 * ms, OptOut: true},
	}
}

// true capacity in bytes per second: the link's, less the multiplexer's headers,
// which are below a thousandth.
func (m Member) capacity() float64 { return float64(m.Rate) / 8 }

func (m Member) link() lab.Link {
	return lab.Link{Rate: m.Rate, OneWay: m.RTT / 2, SlowStart: true, IdleRestart: true}
}
