package report

import "testing"

func run(outcome Outcome, capacity float64, bound bool) Run {
	return Run{Outcome: outcome, Capacity: capacity, LowerBound: bound, LimitedBy: ByPeer}
}

func TestSettle(t *testing.T) {
	for name, tc := range map[string]struct {
		peer     Peer
		outcome  Outcome
		capacity float64
		bound    bool
	}{
		"nothing":                {Peer{}, Pending, 0, false},
		"as it says":             {Peer{Outcome: Measured, Capacity: 5}, Measured, 5, false},
		"one run":                {Peer{Runs: []Run{run(Measured, 5, true)}}, Measured, 5, true},
		"the best of two":        {Peer{Runs: []Run{run(Measured, 9, false), run(Measured, 5, true)}}, Measured, 9, false},
		"two alike":              {Peer{Runs: []Run{run(Measured, 5, false), run(Measured, 5, true)}}, Measured, 5, false},
		"a bound above":          {Peer{Runs: []Run{run(Measured, 5, false), run(Measured, 9, true)}}, Measured, 9, true},
		"failed later":           {Peer{Runs: []Run{run(Measured, 5, false), run(Failed, 0, false)}}, Measured, 5, false},
		"failed, then refused":   {Peer{Runs: []Run{run(Failed, 0, false), run(Refused, 0, false)}}, Refused, 0, false},
		"a failed run's figure":  {Peer{Runs: []Run{run(Failed, 99, false)}}, Failed, 0, false},
		"stale summary":          {Peer{Capacity: 99, Outcome: Measured, Runs: []Run{run(Failed, 0, false)}}, Failed, 0, false},
		"opted out":              {Peer{OptedOut: true, Runs: []Run{run(Refused, 0, false)}}, OptedOut, 0, false},
		"opted out afterwards":   {Peer{OptedOut: true, Runs: []Run{run(Measured, 5, false)}}, Measured, 5, false},
		"opted out from the off": {Peer{OptedOut: true}, OptedOut, 0, false},
	} {
		p := tc.peer
		p.Settle()
		if p.Outcome != tc.outcome || p.Capacity != tc.capacity || p.LowerBound != tc.bound {
			t.Errorf("%s: %s, %g, bound %v", name, p.Outcome, p.Capacity, p.LowerBound)
		}
	}
}

// The claim is what was said last before the test, not what the test made of it.
func TestClaim(t *testing.T) {
	p := Peer{Published: []Published{
		published(Before, 1, 500), published(Before, 2, 300), published(During, 3, 900), published(After, 4, 700), published(After, 5, 600),
	}}
	if f, ok := p.Claim(); !ok || f.Advertised != 300 {
		t.Errorf("claim %+v, %v", f, ok)
	}
	if f, _ := p.at(After); f.Advertised != 700 {
		t.Errorf("after: %+v, want the largest", f)
	}
	p.Published = p.Published[2:]
	if f, ok := p.Claim(); !ok || f.Advertised != 900 {
		t.Errorf("without a figure from before: %+v, %v", f, ok)
	}
	if _, ok := (&Peer{}).Claim(); ok {
		t.Error("a claim of a peer that published nothing")
	}
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		claimed, capacity float64
		bound             bool
		want              Verdict
	}{
		{100, 100, false, True}, {90, 100, false, True}, {88, 100, false, Understated}, {111, 100, false, True},
		{112, 100, false, True}, {113, 100, false, Overstated}, {1000, 100, false, Overstated},
		{1000, 100, true, Undecided}, {100, 100, true, Undecided}, {50, 100, true, Understated},
		{0, 100, false, Untold}, {100, 0, false, Untold}, {0, 0, true, Untold},
	} {
		if got := Judge(tc.claimed, tc.capacity, tc.bound); got != tc.want {
			t.Errorf("%g of %g (bound %v) is %s, want %s", tc.claimed, tc.capacity, tc.bound, got, tc.want)
		}
	}
}
