package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/cookie"
	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// someone is what is known of a connection, each figure with a value of its own.
func someone(n uint64) mux.Snapshot {
	d := func(k uint64) time.Duration { return time.Duration(n*1000+k) * time.Millisecond }
	return mux.Snapshot{
		At:       d(900),
		RTT:      mux.RTT{Base: d(1), Confirmed: true, P50: d(2), P95: d(3), LoadedP50: d(4), LoadedP95: d(5), Samples: n + 6, LoadedSamples: n + 7, Censored: n + 8},
		Estimate: burst.Estimation{Rate: burst.SecondsPerByte(1e-6 * float64(n)), StandardError: 1e-8, UpperBound: 1e-7, Coverage: int64(n) * 1000, Bursts: n + 9},
		Burst: burst.State{Gate: burst.Tripped, Last: d(100), Bytes: int64(n) + 10, Covered: int64(n) + 11, Cold: true,
			Tight: d(12), Ours: d(13), Peers: d(14), Waiting: d(15), Bursts: [burst.Reasons]uint64{n + 16, n + 17, n + 18, n + 19}},
		Gaps: mux.Gaps{Credit: d(20), Absent: d(21), Frozen: d(22)}, Fetches: int(n) + 23, Outstanding: int(n) + 24, FrontAge: d(25), EchoAge: d(26),
		Cookies: cookie.Counts{Issued: n + 27, Echoed: n + 28, Skipped: n + 29, Withdrawn: n + 30, Late: n + 31, Replayed: n + 32, Forged: n + 33},
		Counts: mux.Counts{FramesIn: n + 34, FramesOut: n + 35, BytesIn: n + 36, BytesOut: n + 37, PayloadIn: n + 38, UncountedIn: n + 39, Reads: n + 40,
			Writes: n + 41, Splits: n + 42, Cuts: n + 52, LoneCookies: n + 43, EchoesStripped: n + 44, ForeignEchoes: n + 45, Resets: n + 46, LateBytes: n + 47, TransparentOut: true},
		Kernel: mux.Kernel{At: d(880), RTT: d(48), MinRTT: d(49), AckAge: time.Second, OutOfOrder: n + 50, ReorderingSeen: n + 51},
	}
}

// knownSnapshot is a snapshot in which everything is known.
func knownSnapshot() status.Snapshot {
	a := audit.New(audit.DefaultConfig())
	for i, actual := range []time.Duration{time.Second, 1500 * time.Millisecond, 3 * time.Second} {
		a.Observe(time.Duration(i)*time.Minute, audit.Record{
			Peer: "alice", Group: "g", Size: 1 << 20, BaseRTT: 40 * time.Millisecond, Coverage: 1 << 20,
			Claim: time.Second, Actual: actual, Loss: audit.LossClear,
		})
	}
	s := status.Snapshot{
		Peers: []status.PeerSnapshot{{Name: "slow", Snapshot: someone(7)}, {Name: "fast", Snapshot: someone(3)}},
		Ranking: metrics.Ranking{
			Stats: ranking.Stats{
				Tally: ranking.Tally{Plans: 101, Completions: 102, Failures: 103, Hedges: 104, Picks: [5]uint64{105, 106, 107, 108, 109}, Ours: time.Second},
				Peers: 110, Connected: 111, Groups: 112, Verdicts: [7]int{113, 114, 115, 116, 117, 118, 119}, Demoted: 120,
				Prior: 1e-6, OrdinaryLeft: 121, CriticalLeft: 122, RedundantLeft: 123, Spent: 124, Held: "own_gaps", Dropped: 125,
			},
			Best: []ranking.Standing{{Peer: "fast", Expected: 2 * time.Second, Claim: time.Second, Measured: 0.75, Calibration: 1.5, Penalty: 1.25,
				Outstanding: 126, Completions: 127, Failures: 128, Demoted: true, Verdict: audit.Verdict{Kind: audit.Withholding}}},
			Strata:    a.Strata(),
			FreeRates: []audit.FreeRate{{Kind: audit.NeverAlone, Rate: 0.125, InARow: 3}},
		},
	}
	for _, st := range s.Ranking.Strata {
		var all []status.Bucket
		st.Residuals.Buckets(func(bound float64, n uint64) bool {
			all = append(all, status.Bucket{Bound: bound, Count: n})
			return true
		})
		s.Residuals = append(s.Residuals, all)
	}
	return s
}

// shown is what the collector makes of it, as Prometheus would have it.
func shown(t *testing.T, s status.Snapshot) figures {
	t.Helper()
	src := metrics.SourceFunc(func() (all []metrics.Peer) {
		for _, p := range s.Peers {
			all = append(all, metrics.Peer{Name: p.Name, Snapshot: p.Snapshot})
		}
		return all
	})
	reg := prom.NewPedanticRegistry()
	reg.MustRegister(metrics.NewCollector(src, metrics.WithRanker(metrics.RankingFunc(func() metrics.Ranking { return s.Ranking }))))
	got, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	f := make(figures)
	for _, mf := range got {
		for _, m := range mf.GetMetric() {
			f.take(mf.GetName(), m)
		}
	}
	return f
}

func (f figures) take(name string, m *dto.Metric) {
	var in []string
	for _, l := range m.GetLabel() {
		in = append(in, l.GetName(), l.GetValue())
	}
	switch {
	case m.Counter != nil:
		f[series(name, in...)] = m.GetCounter().GetValue()
	case m.Gauge != nil:
		f[series(name, in...)] = m.GetGauge().GetValue()
	case m.Histogram != nil:
		h := m.GetHistogram()
		f[series(name+"_count", in...)] = float64(h.GetSampleCount())
		f[series(name+"_sum", in...)] = h.GetSampleSum()
		if !strings.HasPrefix(name, "assay_audit_") {
			return
		}
		for _, b := range h.GetBucket() {
			f[series(name+"_bucket", append(slices.Clone(in), "le", strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64))...)] = float64(b.GetCumulativeCount())
		}
		f[series(name+"_bucket", append(slices.Clone(in), "le", "+Inf")...)] = float64(h.GetSampleCount())
	}
}

// TestOracle: collector and oracle, which share no code, make the same of a
// snapshot in which everything is known, and neither has a series more.
func TestOracle(t *testing.T) {
	s := knownSnapshot()
	want := expect(s)
	exact, between, err := compare(shown(t, s), want, want)
	if err != nil {
		t.Error(err)
	}
	if exact != len(want) || between != 0 || exact < 150 {
		t.Errorf("%d exact and %d between, of %d", exact, between, len(want))
	}
}

// TestPastCounts: counters have the connections that have closed, gauges not.
func TestPastCounts(t *testing.T) {
	s := knownSnapshot()
	one := expect(s)
	s.Past = []status.PeerSnapshot{{Snapshot: someone(1000)}}
	both := expect(s)
	for name, more := range map[string]float64{
		`assay_frames_total{direction="in"}`: 1034, "assay_cookies_issued_total": 1027, "assay_connections": 0, "assay_outstanding_fetches": 0,
		`assay_gap_seconds_total{cause="credit"}`: 1000.02,
	} {
		if got := both[name] - one[name]; !within(got, more, more) && (got-more > 1e-6 || more-got > 1e-6) {
			t.Errorf("%s grows by %v, want %v", name, got, more)
		}
	}
}

func TestCompare(t *testing.T) {
	want := figures{"a": 1, "b": 2, "c": 3}
	later := figures{"a": 1, "b": 4, "c": 3}
	with := func(name string, v float64) figures {
		f := maps.Clone(want)
		f[name] = v
		return f
	}
	without := maps.Clone(want)
	delete(without, "b")
	for name, tt := range map[string]struct {
		got  figures
		want string
	}{
		"as it was":        {want, ""},
		"as it was later":  {later, ""},
		"between":          {with("b", 3), ""},
		"off by one":       {with("a", 2), "a is 2, the snapshot says 1 and then 1"},
		"beyond":           {with("b", 5), "b is 5"},
		"a little off":     {with("c", 3.00001), "c is 3.00001"},
		"one more":         {with("d", 0), "d is 0, of which the snapshot knows nothing"},
		"one is missing":   {without, "b is missing"},
		"not even numbers": {with("a", parse("x", nil)), "a is NaN"},
	} {
		exact, between, err := compare(tt.got, want, later)
		if tt.want == "" && (err != nil || exact != 2 || between != 1) {
			t.Errorf("%s: %d exact, %d between, %v", name, exact, between, err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
