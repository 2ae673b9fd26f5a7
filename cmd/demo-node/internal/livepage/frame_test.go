package livepage

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/ranking"
)

func TestBrief(t *testing.T) {
	for x, want := range map[float64]float64{
		0: 0, 1: 1, 123456: 123460, 0.000123456: 0.00012346, -2.345678: -2.3457,
		math.Inf(1): 0, math.Inf(-1): 0, math.MaxFloat64: 0, math.SmallestNonzeroFloat64: 0,
	} {
		if got := brief(x); got != want {
			t.Errorf("brief(%g) = %g, want %g", x, got, want)
		}
	}
	if got := brief(math.NaN()); got != 0 {
		t.Errorf("of no number: %g", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e12, 1e12).Draw(t, "x")
		if math.Abs(x) > 1e-12 && math.Abs(brief(x)-x) > 6e-5*math.Abs(x) {
			t.Errorf("brief(%g) = %g", x, brief(x))
		}
	})
}

// judged is a ranked peer that one fetch was judged of.
func judged(name string, actual time.Duration) Peer {
	p := Peer{Name: name, Standing: ranking.Standing{
		Peer: name, Group: "192.0.2.0/24", Expected: time.Second, Claim: 900 * time.Millisecond, Measured: 0.5,
		BaseRTT: 40 * time.Millisecond, HighRTT: 50 * time.Millisecond, Rate: 1e-6, Coverage: 12345, Completions: 3,
	}}
	p.Standing.Verdict.Latest = audit.Finding{
		Outcome: audit.Judged, Claim: time.Second, Actual: actual, Residual: actual.Seconds() - 1, Threshold: audit.Threshold{Value: 0.8}, Gross: 3.2,
	}
	return p
}

func TestRow(t *testing.T) {
	p := judged("a", 3*time.Second)
	p.Standing.Demoted = true
	p.Standing.Verdict.Kind, p.Standing.Verdict.Lie, p.Standing.Verdict.Detail = audit.ProvenLie, audit.FalseSize, "said 1 MB for 2 MB"
	p.Standing.Verdict.EchoHolding = true
	p.Snapshot.At = 10 * time.Second
	p.Snapshot.Burst = burst.State{Gate: burst.Open, Deadline: 10500 * time.Millisecond}
	p.Snapshot.Estimate = burst.Estimation{Rate: 1e-6, StandardError: 1e-7}
	r := newRow(&p)
	if r.Base != 0.04 || r.P95 != 0.05 || r.Rate != 1e6 || r.Error != 0.1 || r.Coverage != 12345 || r.Expected != 1 || r.Claim != 0.9 || r.Group != "192.0.2.0/24" {
		t.Errorf("%+v", r)
	}
	if !r.Bad || !r.Demoted || r.Verdict != "proven lie" || !strings.Contains(r.Reason, "said 1 MB for 2 MB") || !strings.Contains(r.Reason, "holds its echoes") {
		t.Errorf("%q: %q", r.Verdict, r.Reason)
	}
	if r.Gate != "open" || r.Closes != 0.5 {
		t.Errorf("%s, closes in %g", r.Gate, r.Closes)
	}
	if want := (last{"judged", 1, 3, 2, 0.8, 3.2}); r.Last == nil || *r.Last != want {
		t.Errorf("last %+v", r.Last)
	}
	// A peer that nobody ranks has what was measured, and nothing else.
	q := Peer{Name: "b"}
	q.Snapshot.RTT.Base, q.Snapshot.RTT.P95 = time.Millisecond, 2*time.Millisecond
	q.Snapshot.Estimate = burst.Estimation{Rate: 1e-3, Coverage: 7}
	q.Snapshot.Burst.Deadline = time.Hour // of a burst that has closed
	if got, want := newRow(&q), (row{Peer: "b", Base: 0.001, P95: 0.002, Rate: 1000, Coverage: 7, Gate: "idle"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestFrame: the whole state, whatever is in it, is JSON.
func TestFrame(t *testing.T) {
	v := View{Ranked: true, Size: 5, Peers: []Peer{judged("a\xff</script>", time.Second)}, Stats: ranking.Stats{Groups: 2, Demoted: 1, Held: notHeld}}
	v.Peers[0].Standing.Penalty = math.Inf(1)
	v.Peers[0].Standing.Calibration = math.NaN()
	v.Events = []Event{{7, ranking.Event{At: time.Second, Kind: ranking.Demoted, Peer: "a", Detail: "why"}}}
	text, err := json.Marshal(newFrame(3, time.UnixMilli(1500), v, newRows(v)))
	if err != nil {
		t.Fatal(err)
	}
	var f frame
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	if f.Number != 3 || f.Sent != 1500 || !f.Ranked || f.Size != 5 || f.Hidden != 0 || len(f.Peers.Peer) != 1 || f.Node.Groups != 2 || f.Node.Held != "" {
		t.Errorf("%+v", f)
	}
	if want := (event{7, 1, "demoted", "a", "why"}); len(f.Events) != 1 || f.Events[0] != want {
		t.Errorf("%+v", f.Events)
	}
	if strings.Contains(string(text), "null") || strings.Contains(string(text), "</script>") {
		t.Errorf("%s", text)
	}
	v.Stats.Held = "suspended"
	v.Peers = make([]Peer, mostPeers+2)
	if f := newFrame(1, time.Now(), v, newRows(v)); f.Hidden != 2 || len(f.Peers.Peer) != mostPeers || f.Node.Held != "suspended" {
		t.Errorf("%d hidden, %d shown, held %q", f.Hidden, len(f.Peers.Peer), f.Node.Held)
	}
}

// TestCharts: each residual is in one bucket, and in the right one.
func TestCharts(t *testing.T) {
	a := audit.New(audit.DefaultConfig())
	for _, actual := range []float64{1, 1.5, 1.9, 9} {
		a.Observe(0, audit.Record{
			Peer: "a", Group: "g", Size: 1 << 20, BaseRTT: 10 * time.Millisecond, Claim: 10 * time.Second, Coverage: 1 << 20,
			Actual: time.Duration(actual * 1e10), TTFB: 10 * time.Millisecond, Echoes: audit.EchoesFlowed,
		})
	}
	c := newCharts(View{Strata: a.Strata(), FreeRates: a.FreeRates()})
	if len(c.Strata) != 1 || len(c.Free) != len(a.FreeRates()) || len(c.Free) == 0 {
		t.Fatalf("%+v", c)
	}
	s := c.Strata[0]
	if len(s.Counts) != len(c.Bounds)+1 || s.Count != 4 || !s.Thin || s.Threshold != 0.95 || s.SizeFrom != 1<<20 {
		t.Errorf("%+v", s)
	}
	in := make(map[float64]uint64)
	for i, n := range s.Counts[:len(c.Bounds)] {
		if n > 0 {
			in[c.Bounds[i]] = n
		}
	}
	if in[0] != 1 || in[0.6] != 1 || in[0.95] != 1 || in[8]+in[16] != 1 || len(in) != 4 {
		t.Errorf("buckets %v", in)
	}
	if text, err := json.Marshal(newCharts(View{})); err != nil || strings.Contains(string(text), "null") {
		t.Errorf("of nothing: %s, %v", text, err)
	}
}
