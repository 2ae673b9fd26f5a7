package engine_test

import (
	"strings"
	"testing"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// document is one to hold bars to.
func document() *engine.Document {
	return &engine.Document{
		Scenario: "made-up", Seed: 7, Summary: engine.Summary{Regret: 0.04, BadPicks: 3, DemotedAfter: 8},
		Assay: &engine.Result{
			Chooser: "assay", Wait: engine.Spread{Mean: 1, P95: 3},
			Peers: []*engine.PeerResult{
				{Name: "honest-1", Picks: engine.Picks{User: 10}, Rate: 20e6, Verdict: "clear"},
				{Name: "honest-2", Picks: engine.Picks{User: 30}, Rate: 10e6, Verdict: "clear"},
				{Name: "bad", Bad: true, Demoted: true, Picks: engine.Picks{User: 3}, Verdict: "withholding"},
			},
		},
		Oracle: &engine.Result{Chooser: "oracle", Wait: engine.Spread{Mean: 0.9, P95: 2}},
		Rivals: map[string]*engine.Result{"robin": {Chooser: "robin", Wait: engine.Spread{Mean: 4}}},
	}
}

func TestBars(t *testing.T) {
	for bar, want := range map[string]bool{
		"{path: summary.regret, at_most: 5%}":                               true,
		"{path: summary.regret, at_most: 3%}":                               false,
		"{path: summary.regret, below: 0.04}":                               false,
		"{path: summary.regret, at_most: 0.04}":                             true,
		"{path: summary.regret, above: 0.04}":                               false,
		"{path: summary.regret, at_least: 0.04}":                            true,
		"{path: summary.regret, at_least: 1%, at_most: 3%}":                 false,
		"{path: summary.bad_picks, is: 3}":                                  true,
		"{path: summary.bad_picks, not: 3}":                                 false,
		"{path: wait.mean, at_most: 1s}":                                    true,
		"{path: wait.mean, at_most: 999ms}":                                 false,
		"{path: assay.wait.mean, is: 1}":                                    true,
		"{path: oracle.wait.mean, is: 0.9}":                                 true,
		"{path: rivals.robin.wait.mean, above: 3}":                          true,
		"{path: wait.p95, at_most: 1.5, of: oracle.wait.p95}":               true,
		"{path: wait.p95, at_most: 1.4, of: oracle.wait.p95}":               false,
		"{path: wait.p95, at_most: 1.4, of: oracle.wait.p96}":               false,
		"{path: peers.bad.demoted, is: true}":                               true,
		"{path: peers.*.demoted, is: true}":                                 false,
		"{path: peers.*.demoted, is: true, over: any}":                      true,
		"{path: peers.honest-*.demoted, is: true, over: any}":               false,
		"{path: peers.honest-*.demoted, is: false}":                         true,
		"{path: peers.*.demoted, is: 1, over: sum}":                         true,
		"{path: peers.honest-*.picks.user, is: 40, over: sum}":              true,
		"{path: peers.honest-*.picks.user, is: 20, over: mean}":             true,
		"{path: peers.honest-*.picks.user, is: 30, over: max}":              true,
		"{path: peers.honest-*.picks.user, is: 10, over: min}":              true,
		"{path: peers.honest-*.picks.user, at_most: 20}":                    false,
		"{path: peers.honest-1.rate, at_least: 20Mbit/s}":                   true,
		"{path: peers.bad.verdict, is: withholding}":                        true,
		"{path: peers.bad.verdict, not: clear}":                             true,
		"{path: peers.bad.verdict, at_most: 3}":                             false,
		"{path: peers.*.verdict, is: 1, over: sum}":                         false,
		"{path: peers.nobody.demoted, is: false}":                           false,
		"{path: nothing.at.all, is: 0}":                                     false,
		"{path: summary.regret, is: small}":                                 false,
		"{path: summary.regret, at_most: small}":                            false,
		"{path: without.wait.mean, is: 0}":                                  false,
		"{path: peers.*.picks.user, at_most: 10, of: peers.bad.picks.user}": true,
	} {
		s, err := scenario.Parse([]byte("links: {l: {rate: 1Mbit/s}}\npeers: [{name: a, link: l}]\nbars: [" + bar + "]"))
		if err != nil {
			t.Fatal(err)
		}
		got := engine.Judge(document(), s.Bars)
		if len(got) != 1 || got[0].Pass != want || got[0].Found == "" || got[0].Bar == "" {
			t.Errorf("%s: %+v", bar, got)
		}
	}
}

// TestLines: what fails is said in the line, and why.
func TestLines(t *testing.T) {
	d := document()
	d.Pass = true
	if got := d.Line(); !strings.Contains(got, "made-up") || !strings.Contains(got, "4.0 %") || !strings.Contains(got, "after 8") || !strings.HasSuffix(got, "pass") {
		t.Error(got)
	}
	d.Pass = false
	d.Bars = []engine.BarResult{{Bar: "x at most 1", Found: "2", Why: "so"}, {Bar: "y is 1", Found: "1", Pass: true}}
	for range 5 {
		d.Oracle.Violations = append(d.Oracle.Violations, engine.Violation{At: 3, Peer: "bad", What: "it broke"})
	}
	got := d.Line()
	for _, want := range []string{"FAIL", "x at most 1: 2 (so)", "violated by oracle at 3.000 s, peer bad: it broke", "and 2 more of oracle"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "y is 1") {
		t.Errorf("what passes is in\n%s", got)
	}
	if len(strings.Fields(engine.Header())) < 7 {
		t.Error(engine.Header())
	}
}
