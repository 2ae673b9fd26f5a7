package main

import (
	"errors"
	"io"
	"math"
	"os"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/ranking"
)

func TestMain(m *testing.M) {
	kernelpath.Carry()
	os.Exit(m.Run())
}

// TestMembers: bad peers are slower than all honest ones, but for the one that
// only lies, and each has a reason; no honest one has.
func TestMembers(t *testing.T) {
	var slowest time.Duration
	for _, m := range members() {
		if m.honest {
			slowest = max(slowest, m.takes(usual))
		}
		if m.honest == (len(m.reasons) > 0) {
			t.Errorf("%s: honest %v, for reasons %q", m.name, m.honest, m.reasons)
		}
	}
	for _, m := range members() {
		if !m.honest && !m.right(lies) && m.takes(usual) < slowest*2 {
			t.Errorf("%s takes %v, the slowest honest peer %v", m.name, m.takes(usual), slowest)
		}
	}
}

func TestReason(t *testing.T) {
	verdict := func(k audit.Kind) (s ranking.Standing) { s.Verdict.Kind = k; return s }
	troubled := func(tr ranking.Trouble, n int) *tally {
		return &tally{parts: 10, troubled: map[ranking.Trouble]int{tr: n}}
	}
	for _, tt := range []struct {
		t    *tally
		s    ranking.Standing
		want string
	}{
		{troubled(ranking.Stalled, 4), ranking.Standing{}, delivers},
		{troubled(ranking.Stalled, 5), ranking.Standing{}, silent},
		{troubled(ranking.Collapsed, 5), ranking.Standing{}, trickles},
		{troubled(ranking.Hopeless, 9), ranking.Standing{}, trickles},
		{&tally{}, ranking.Standing{Dropped: true}, trickles},
		{&tally{}, ranking.Standing{}, delivers},
		{troubled(ranking.Stalled, 9), verdict(audit.ProvenLie), lies},
		{troubled(ranking.Stalled, 9), verdict(audit.Overclaims), claims},
		{troubled(ranking.Stalled, 9), verdict(audit.Withholding), withhold},
	} {
		if got := tt.t.reason(tt.s); got != tt.want {
			t.Errorf("%+v, %v: %q, want %q", tt.t, tt.s.Verdict.Kind, got, tt.want)
		}
	}
}

// TestRegret: the oracle takes what the best peer takes by itself.
func TestRegret(t *testing.T) {
	of := func(all ...choice) *play { return &play{cast: members(), choices: all} }
	near := choice{usual, "near", 100 * ms, 1}
	for _, tt := range []struct {
		name string
		p    *play
		want float64
	}{
		{"always the best", of(near, near), 0},
		{"once another, that takes twice", of(near, choice{usual, "far", 200 * ms, 1}), 0.5},
		{"a hedge that took twice", of(near, choice{usual, "near", 200 * ms, 2}), 0.5},
	} {
		if got, _ := tt.p.regret(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got, _ := of(choice{usual, "far", 200 * ms, 1}).regret(); !math.IsInf(got, 1) {
		t.Errorf("the best peer was never asked: %v", got)
	}
}

// TestJudgeOne: what is said of an honest peer, and why a bad one is where it is.
func TestJudgeOne(t *testing.T) {
	p := &play{cast: members()}
	verdict := func(k audit.Kind) (s ranking.Standing) { s.Verdict.Kind = k; return s }
	known := &tally{parts: 20}
	for _, tt := range []struct {
		who    string
		t      *tally
		s      ranking.Standing
		reason string
		misses int
	}{
		{"near", known, verdict(audit.Clear), delivers, 0},
		{"disk", known, verdict(audit.Overclaims), claims, 0},
		{"lossy", known, verdict(audit.Withholding), withhold, 1},
		{"near", &tally{parts: 4}, verdict(audit.Clear), delivers, 1},
		{"pacer", known, verdict(audit.Clear), silent, 0},
		{"pacer", known, verdict(audit.Clear), delivers, 1},
		{"liar", known, verdict(audit.Overclaims), claims, 1},
	} {
		if got := p.judgeOne(p.member(tt.who), tt.t, tt.s, tt.reason); len(got) != tt.misses {
			t.Errorf("%s for %s: %q", tt.who, tt.reason, got)
		}
	}
}

// TestPlay plays a little of it: it ends, whatever it says so early.
func TestPlay(t *testing.T) {
	if err := kernelpath.Available(); err != nil {
		t.Skip(err)
	}
	p := &play{cast: members(), tally: make(map[string]*tally)}
	for _, m := range p.cast {
		p.tally[m.name] = &tally{troubled: make(map[ranking.Trouble]int)}
	}
	var err error
	if p.stage, err = setUp(t.Context(), p.cast); err != nil {
		t.Fatal(err)
	}
	defer p.stage.close()
	p.survey(t.Context(), grace+2*time.Second)
	if err := p.use(t.Context(), 5, p.all+5); err != nil {
		t.Fatal(err)
	}
	if len(p.choices) != 5 {
		t.Errorf("%d fetches of the user's", len(p.choices))
	}
	if err := p.judge(io.Discard); err != nil && !errors.Is(err, errBars) {
		t.Error(err)
	}
}
