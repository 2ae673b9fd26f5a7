package metrics

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/ranking"
)

// fullRanking is what a ranker knows, each figure with a value of its own.
func fullRanking() Ranking {
	r := Ranking{
		Stats: ranking.Stats{
			Tally: ranking.Tally{Plans: 1001, Completions: 1002, Failures: 1003, Hedges: 1004, Picks: [5]uint64{1005, 1006, 1007, 1008, 1009}, Ours: 1500 * time.Millisecond},
			Peers: 1010, Connected: 1011, Groups: 1012, Verdicts: [7]int{1013, 1014, 1015, 1016, 1017, 1018, 1019}, Demoted: 1020,
			Prior: burst.SecondsPerByte(1.0 / (1 << 20)), OrdinaryLeft: 1021, CriticalLeft: 1022, RedundantLeft: 1023, Spent: 1024,
			Held: "own_gaps", Dropped: 1025,
		},
		Best: []ranking.Standing{
			{Peer: "alice", Expected: 2 * time.Second, Claim: time.Second, Measured: 0.75, Calibration: 1.5, Penalty: 1.25,
				Outstanding: 1026, Completions: 1027, Failures: 1028, Demoted: true, Verdict: audit.Verdict{Kind: audit.Withholding}},
			{Peer: "bob", Expected: 3 * time.Second},
			{Peer: "carol", Expected: 4 * time.Second},
		},
		Strata:    observed(),
		FreeRates: []audit.FreeRate{{Kind: audit.Withholding, Rate: 0.04, InARow: 8}, {Kind: audit.NeverAlone, Rate: 0.125, InARow: 3}},
	}
	for i := range r.Stats.Events {
		r.Stats.Events[i] = uint64(2000 + i)
	}
	r.Strata[0].Threshold = audit.Threshold{Value: 0.875, Raw: 0.5, Voters: 13, Merged: 1, Thin: true}
	r.Strata[0].Voters = 7
	return r
}

// observed are the strata of three fetches of one size, the last twice as slow as
// claimed, over a lossy path.
func observed() []audit.Stratum {
	a := audit.New(audit.DefaultConfig())
	for i, actual := range []time.Duration{time.Second, 1500 * time.Millisecond, 3 * time.Second} {
		a.Observe(time.Duration(i)*time.Minute, audit.Record{
			Peer: "alice", Group: "g", Size: 1 << 20, BaseRTT: 40 * time.Millisecond, Coverage: 1 << 20,
			Claim: time.Second, Actual: actual, Loss: audit.LossClear,
		})
	}
	return a.Strata()
}

func rankerOf(r Ranking) RankingSource { return RankingFunc(func() Ranking { return r }) }

// shownRanking is what a collector makes of it.
func shownRanking(t *testing.T, r Ranking) map[string]float64 {
	t.Helper()
	return gather(t, NewCollector(nil, WithRanker(rankerOf(r)), WithTop(2))).series()
}

func TestRankerSeries(t *testing.T) {
	got := shownRanking(t, fullRanking())
	in := func(name string) string {
		return name + `{lossy="false",rtt_seconds_from="0.032",size_bytes_from="1048576"}`
	}
	check(t, got, map[string]float64{
		`assay_ranking_plans_total`:                           1001,
		`assay_ranking_outcomes_total{outcome="completed"}`:   1002,
		`assay_ranking_outcomes_total{outcome="failed"}`:      1003,
		`assay_ranking_hedges_total`:                          1004,
		`assay_ranking_transfers_total{role="primary"}`:       1005,
		`assay_ranking_transfers_total{role="exploration"}`:   1009,
		`assay_ranking_own_fault_seconds_total`:               1.5,
		`assay_ranking_events_total{event="drop_now"}`:        2000 + float64(ranking.DropNow),
		`assay_ranking_verdicts{verdict="clear"}`:             1013,
		`assay_ranking_verdicts{verdict="proven_lie"}`:        1019,
		`assay_ranking_verdicts_held{cause="own_gaps"}`:       1,
		`assay_ranking_prior_bytes_per_second`:                1 << 20,
		`assay_ranking_budget_left_bytes{purpose="critical"}`: 1022,
		`assay_ranking_budget_spent_bytes`:                    1024,
		`assay_ranking_top_expected_seconds{slot="1"}`:        2,
		`assay_ranking_top_expected_seconds{slot="2"}`:        3,
		`assay_ranking_top_verdict_gravity{slot="1"}`:         5,
		`assay_audit_free_rate_ratio{verdict="withholding"}`:  0.04,
		`assay_audit_convicting_run{verdict="never_alone"}`:   3,
		in(`assay_audit_threshold_ratio`):                     0.875,
		in(`assay_audit_threshold_thin`):                      1,
		in(`assay_audit_stratum_voters`):                      7,
		in(`assay_audit_residual_ratio`) + `_count`:           3,
		in(`assay_audit_residual_ratio`) + `_sum`:             2.5,
	})
	absent(t, got, `assay_ranking_top_expected_seconds{slot="3"}`, `assay_ranking_verdicts_held{cause="not_held"}`)
}

// TestRankerNames pins names, help texts and labels, which dashboards are built
// on. The values of labels are the ranker's to add to.
func TestRankerNames(t *testing.T) {
	var got strings.Builder
	for _, f := range newRankerTables(1).families() {
		fmt.Fprintf(&got, "%s %s %v: %s\n", f.Type, f.Name, f.Labels, f.Help)
	}
	const golden = "testdata/ranker.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s\nif this is meant, run the test with -update", got.String(), want)
	}
}

// TestResidualBuckets: they are cumulative, and the last holds all there are.
func TestResidualBuckets(t *testing.T) {
	for _, mf := range gather(t, NewCollector(nil, WithRanker(rankerOf(fullRanking())))) {
		if mf.GetName() != "assay_audit_residual_ratio" {
			continue
		}
		h := mf.GetMetric()[0].GetHistogram()
		at := func(bound float64) (n uint64) {
			for _, b := range h.GetBucket() {
				if b.GetUpperBound() <= bound {
					n = b.GetCumulativeCount()
				}
			}
			return n
		}
		if at(0) != 1 || at(1) != 2 || at(1e9) != 3 {
			t.Errorf("residuals 0, 0.5 and 2: %d at most 0, %d at most 1, %d in all", at(0), at(1), at(1e9))
		}
		return
	}
	t.Error("no histogram of residuals")
}

// unshownRanking are the fields that no metric of the ranker shows, and why.
var unshownRanking = map[string]string{
	"Best.Peer": "no peer is a label", "Best.Group": "nor a group",
	"Best.Connected": "those ranked all are", "Best.Pinned": "the operator's own doing",
	"Best.BaseRTT": "the meter's, shown as assay_top_", "Best.HighRTT": "likewise", "Best.Rate": "likewise", "Best.Coverage": "likewise",
	"Best.Picked": "summed in assay_ranking_transfers_total", "Best.Bytes": "the meter's payload",
	"Best.Tested": "the operator's own measurement, in the reports of speed tests", "Best.Newcomer": "no completions", "Best.Dropped": "counted as an event",
	"Strata.SizeTo": "the next stratum's from", "Strata.RTTTo": "likewise",
}

// TestNothingOfTheRankerIsLeftOut is TestNothingIsLeftOut for it.
func TestNothingOfTheRankerIsLeftOut(t *testing.T) {
	before := shownRanking(t, fullRanking())
	r := fullRanking()
	for part, v := range map[string]any{"Stats": &r.Stats, "Best": &r.Best[0], "Strata": &r.Strata[0], "FreeRates": &r.FreeRates[0]} {
		each(reflect.ValueOf(v).Elem(), part, func(path string, field reflect.Value) {
			if strings.HasPrefix(path, "Best.Verdict.") && path != "Best.Verdict.Kind" || strings.HasPrefix(path, "Strata.Residuals.") {
				return // for people; and not to be altered from outside, see TestResidualBuckets
			}
			kept := reflect.New(field.Type()).Elem()
			kept.Set(field)
			alterRanking(t, path, field)
			same := maps.Equal(before, shownRanking(t, r))
			field.Set(kept)
			if _, meant := unshownRanking[path]; same != meant {
				t.Errorf("%s: in no metric: %v, meant so: %v", path, same, meant)
			}
		})
	}
}

func alterRanking(t *testing.T, path string, field reflect.Value) {
	t.Helper()
	switch field.Type() {
	case reflect.TypeFor[audit.Kind]():
		field.SetUint(uint64(audit.SlowToStart))
	case reflect.TypeFor[string](), reflect.TypeFor[ranking.Group]():
		field.SetString("another")
	default:
		alter(t, path, field)
	}
}

func TestRankerOptions(t *testing.T) {
	count := func(opts ...Option) int { return len(gather(t, NewCollector(nil, opts...))) }
	src := WithRanker(rankerOf(fullRanking()))
	if with, without := count(src, WithTop(0)), count(WithTop(0)); with-without != len(rankerFamilies())+1 {
		t.Errorf("%d families with a ranker and no slots, %d without", with, without)
	}
	if got, want := count(WithRanker(nil)), count(); got != want {
		t.Errorf("a nil source gives %d families, want %d", got, want)
	}
	if problems, err := testutil.CollectAndLint(NewCollector(nil, src)); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}

func TestHeld(t *testing.T) {
	r := fullRanking()
	r.Stats.Held = "not_held"
	check(t, shownRanking(t, r), map[string]float64{`assay_ranking_verdicts_held{cause="not_held"}`: 0})
}

// still is a meter that knows nothing.
type still struct{}

func (still) Reading() burst.Reading { return burst.Reading{} }
func (still) Begin() func()          { return func() {} }

// TestOfRanker scrapes a ranker at work.
func TestOfRanker(t *testing.T) {
	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := r.Join(0, ranking.Peer{ID: fmt.Sprint("peer-", i), Meter: still{}}); err != nil {
			t.Fatal(err)
		}
	}
	c := NewCollector(nil, WithRanker(RankingFunc(func() Ranking { return OfRanker(r, time.Minute, 1<<20, 2) })))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range 50 {
				now := time.Duration(i) * time.Second
				p, err := r.Choose(now, ranking.Query{Size: 1 << 20})
				if err != nil {
					t.Error(err)
					return
				}
				f, err := r.Begin(now, p)
				if err != nil {
					t.Error(err)
					return
				}
				f.Progress(now+100*time.Millisecond, 1<<20)
				f.Done(now+time.Second, 1<<20)
				c.scrape()
			}
		})
	}
	wg.Wait()
	got := gather(t, c).series()
	check(t, got, map[string]float64{
		"assay_ranking_plans_total": 100, "assay_ranking_connected_peers": 3, "assay_ranking_peers": 3,
		`assay_ranking_outcomes_total{outcome="completed"}`: 100,
	})
	if got[`assay_ranking_top_expected_seconds{slot="2"}`] <= 0 {
		t.Error("no second slot")
	}
	absent(t, got, `assay_ranking_top_expected_seconds{slot="3"}`)
}
