package rivals

import (
	"strings"
	"testing"

	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// TestEntrants: each has the name that it gives itself, and no other's.
func TestEntrants(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Entrants() {
		c, err := e.New(engine.Setting{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() != e.Name || seen[e.Name] {
			t.Errorf("%s calls itself %s, or there are two", e.Name, c.Name())
		}
		seen[e.Name] = true
	}
	if !seen[Assay] || !seen[Oracle] || len(seen) < 7 {
		t.Errorf("there are only %v", seen)
	}
}

// result is a run with these waits and so many of ten picks of an adversary.
func result(mean, p95 float64, bad int) *engine.Result {
	return &engine.Result{
		Wait: engine.Spread{Count: 10, Mean: mean, P95: p95},
		Peers: []*engine.PeerResult{
			{Name: "honest", UserShare: 1 - float64(bad)/10},
			{Name: "liar", Bad: true, UserShare: float64(bad) / 10},
		},
	}
}

// runs are those of all entrants, by the mean waits given, 9 s for others.
func runs(means map[string]float64) map[string]*engine.Result {
	out := map[string]*engine.Result{}
	for _, e := range Entrants() {
		m, ok := means[e.Name]
		if !ok {
			m = 9
		}
		out[e.Name] = result(m, 2*m, 1)
	}
	return out
}

func TestNewRound(t *testing.T) {
	all := runs(map[string]float64{Assay: 1.1, Oracle: 1, "ungated": 3})
	all[Assay].Failed, all[Assay].Missed, all[Assay].Bytes.ExtraShare = 1, 2, 0.25
	all["ungated"].Violations = []engine.Violation{{Peer: "liar", What: "is a ghost"}}
	r := NewRound(7, all)
	a := r.By[Assay]
	near(t, "regret", a.Regret, 0.1)
	near(t, "p95 regret", a.P95Regret, 0.1)
	near(t, "ungated's regret", r.By["ungated"].Regret, 2)
	near(t, "the oracle's", r.By[Oracle].Regret, 0)
	near(t, "bad share", a.BadShare, 0.1)
	if r.Seed != 7 || a.Failed != 1 || a.Missed != 2 || a.Extra != 0.25 || len(r.By) != len(Entrants()) {
		t.Errorf("%+v", r)
	}
	if len(r.Broken) != 1 || r.Broken[0] != "ungated: liar: is a ghost" {
		t.Errorf("broken are %q", r.Broken)
	}
	delete(all, "ungated")
	all[Oracle].Wait = engine.Spread{}
	if r := NewRound(1, all); r.By[Assay].Regret != 0 || len(r.By) != len(Entrants())-1 {
		t.Errorf("without a yardstick, and without one entrant: %+v", r)
	}
}

// file is a scenario with or without an adversary.
func file(bad bool) *scenario.Scenario {
	return &scenario.Scenario{Name: "some", Peers: []scenario.Peer{{Name: "honest"}, {Name: "other", Bad: bad}}}
}

func TestRank(t *testing.T) {
	for _, tc := range []struct {
		assay, rival float64
		bad          bool
		rank         Rank
		holds        bool
	}{
		{1, 2, true, Best, true}, {1, 1, true, Best, true}, {1.00005, 1, true, Best, true},
		{1.001, 1, true, Within, false}, {1.001, 1, false, Within, true}, {1.0199, 1, false, Within, true},
		{1.021, 1, false, Worse, false}, {1.021, 1, true, Worse, false}, {0.5, 1, false, Best, true},
	} {
		// The oracle is better than all of them, and none to beat.
		round := NewRound(1, runs(map[string]float64{Assay: tc.assay, "msgrate": tc.rival, Oracle: 0.1}))
		r := Compare(file(tc.bad), []Round{round})
		if r.Rank != tc.rank || r.Holds != tc.holds || r.Rival != "msgrate" || r.P95Rival != "msgrate" || r.Adversary != tc.bad {
			t.Errorf("%v against %v, adversary %v: %+v", tc.assay, tc.rival, tc.bad, r)
		}
		near(t, "lead", r.Lead, tc.assay/tc.rival-1)
	}
}

// TestCompareSeeds: the best is so by the mean over the seeds, and the spread is of
// pairs.
func TestCompareSeeds(t *testing.T) {
	r := Compare(file(true), []Round{
		NewRound(1, runs(map[string]float64{Assay: 1, "msgrate": 1.1, "ungated": 5, Oracle: 1})),
		NewRound(2, runs(map[string]float64{Assay: 3, "msgrate": 2.7, "ungated": 0.5, Oracle: 2})),
	})
	if r.Rival != "ungated" && r.Rival != "msgrate" {
		t.Fatalf("the best is %s", r.Rival)
	}
	near(t, "msgrate's mean", r.All["msgrate"].Mean, 1.9)
	near(t, "ungated's mean", r.All["ungated"].Mean, 2.75)
	near(t, "assay's regret", r.All[Assay].Regret, 0.25)
	near(t, "lead", r.Lead, 2/1.9-1)
	near(t, "least", r.Least, 1/1.1-1)
	near(t, "most", r.Most, 3/2.7-1)
	near(t, "bad share", r.All[Assay].BadShare, 0.1)
	if r.Rival != "msgrate" || r.Rank != Worse || len(r.Rounds) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestText(t *testing.T) {
	round := NewRound(3, runs(map[string]float64{Assay: 1.25, "peak_ewma": 1, Oracle: 1}))
	round.Broken = []string{"assay: liar: is a ghost"}
	r := Compare(file(true), []Round{round})
	text := r.Text()
	for _, want := range []string{
		"some (an adversary acts, 1 seeds)", "assay", "round_robin", "oracle", "25.0 %", "1.250", "2.500",
		"assay is NOT THE BEST: +25.00 % against peak_ewma (+25.00 % to +25.00 % by seed), p95 +25.00 % against peak_ewma",
		"not to be trusted, seed 3: assay: liar: is a ghost",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n != len(Entrants())+4 {
		t.Errorf("%d lines in\n%s", n, text)
	}
}

func TestSummary(t *testing.T) {
	row := func(assay float64, bad bool) Row {
		return Compare(file(bad), []Round{NewRound(1, runs(map[string]float64{Assay: assay, "msgrate": 1, Oracle: 1}))})
	}
	all := Summary([]Row{row(1, true), row(1.01, false)})
	if !strings.Contains(all, "of 2 scenarios assay is best on 1, within 2 % of the best on 1 and worse on 0\nbest wherever") {
		t.Error(all)
	}
	some := Summary([]Row{row(1, true), row(1.01, true), row(1.5, false), row(1.019, false)})
	if n := strings.Count(some, "\n"); n != 4 || !strings.Contains(some, "some (an adversary acts): assay is WITHIN 2 % OF THE BEST: +1.00 %") ||
		!strings.Contains(some, "some (no adversary): assay is NOT THE BEST: +50.00 % against msgrate") {
		t.Errorf("%d lines:\n%s", n, some)
	}
}

// small has a peer that is slow, one that lies about sizes and one that paces.
const small = `
about: Three bad peers, each bad to another rival.
links:
  path: {rate: 16Mbit/s, rtt: 40ms}
  slow: {rate: 1Mbit/s, rtt: 40ms}
  fast: {rate: 40Mbit/s, rtt: 20ms}
peers:
  - {name: honest, count: 3, link: path}
  - {name: liar, bad: true, link: slow, claims: {factor: 0.01}}
  - {name: pacer, bad: true, link: fast, behaviour: [{do: {pace: {burst: 50kB, silence: 1.05s}}}]}
workload:
  warmup: {each: 2, sizes: [200kB]}
  fetches: 30
  sizes: [300kB]
  every: 1s
bars:
  - {path: failed, is: 0}
`

// TestRivalsFallForTheirWeakness: each does well but where its formula looks away;
// and all of them meet the same data.
func TestRivalsFallForTheirWeakness(t *testing.T) {
	s, err := scenario.Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	share := map[string]map[string]float64{}
	all := map[string]*engine.Result{}
	for _, e := range Entrants() {
		bubble.Run(t, func(t *testing.T) {
			all[e.Name], err = engine.Run(t.Context(), s, engine.Options{Seed: 1, New: e.New})
		})
		if err != nil {
			t.Fatal(err)
		}
		share[e.Name] = map[string]float64{}
		for _, p := range all[e.Name].Peers {
			share[e.Name][p.Name] = p.UserShare
		}
		if n := all[e.Name].Wait.Count; n != 30 || all[e.Name].Failed > 0 {
			t.Errorf("%s has %d fetches, of which %d failed", e.Name, n, all[e.Name].Failed)
		}
	}
	for _, tc := range []struct {
		rival, peer string
		least, most float64
	}{
		{"ungated", "pacer", 0.5, 1}, {"ungated", "liar", 0, 0.05},
		{"advertised", "liar", 0.9, 1}, {"advertised", "pacer", 0, 0.05},
		{"msgrate", "liar", 0, 0.05}, {"msgrate", "pacer", 0, 0.05},
		{"peak_ewma", "liar", 0, 0.2}, {"peak_ewma", "pacer", 0, 0.2},
		{"round_robin", "liar", 0.15, 0.25}, {"round_robin", "pacer", 0.15, 0.25},
		{Assay, "liar", 0, 0.05}, {Assay, "pacer", 0, 0.05},
	} {
		if got := share[tc.rival][tc.peer]; got < tc.least || got > tc.most {
			t.Errorf("%s picks the %s for %.2f of its fetches, want %.2f to %.2f", tc.rival, tc.peer, got, tc.least, tc.most)
		}
	}
	r := Compare(s, []Round{NewRound(1, all)})
	// Assay draws from equals, so that their windows close in between; msgrate keeps to one.
	if r.All["ungated"].Regret < 0.5 || r.All["advertised"].Regret < 0.5 || r.All[Assay].Regret > 0.25 {
		t.Errorf("what came of it:\n%s", r.Text())
	}
}
