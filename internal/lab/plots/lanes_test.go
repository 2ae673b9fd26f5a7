package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// peers are so many of each name, adversaries where it begins with "bad".
func peers(counts ...any) *engine.Result {
	r := &engine.Result{Seconds: 10}
	for i := 0; i < len(counts); i += 2 {
		name, n := counts[i].(string), counts[i+1].(int)
		for k := range n {
			p := &engine.PeerResult{Name: name, Bad: strings.HasPrefix(name, "bad")}
			if n > 1 {
				p.Name = fmt.Sprintf("%s-%d", name, k+1)
			}
			r.Peers = append(r.Peers, p)
			r.Transfers = append(r.Transfers, &engine.TransferRecord{Peer: p.Name, At: 1, Role: "primary", User: true})
		}
	}
	return r
}

// TestLargeFamiliesShareALane: only as many as must.
func TestLargeFamiliesShareALane(t *testing.T) {
	for _, tc := range []struct {
		r    *engine.Result
		want []string // the first labels and the last
		n    int
	}{
		{peers("honest", 3, "bad", 1), []string{"honest-1", "bad (bad)"}, 4},
		{peers("honest", 30, "bad", 3), []string{"honest (30)", "bad-3 (bad)"}, 4},
		{peers("honest", 30, "bad", 30), []string{"honest-1", "bad (30) (bad)"}, 0}, // both: see below
		{peers("bad", 200, "honest", 8), []string{"bad (200) (bad)", "honest-8"}, 9},
	} {
		all := lanes(tc.r)
		if tc.n == 0 {
			tc.n, tc.want[0] = 2, "honest (30)"
		}
		if got := []string{all[0].label(), all[len(all)-1].label()}; len(all) != tc.n || !slices.Equal(got, tc.want) {
			t.Errorf("%d lanes, %q; want %d, %q", len(all), got, tc.n, tc.want)
		}
		asked := 0
		for _, l := range all {
			asked += len(l.asked)
		}
		if asked != len(tc.r.Transfers) {
			t.Errorf("%d of %d transfers are in lanes", asked, len(tc.r.Transfers))
		}
	}
}

// TestTooManyNames: adversaries and whoever was spoken of keep their lanes.
func TestTooManyNames(t *testing.T) {
	var counts []any
	for i := range 40 {
		counts = append(counts, fmt.Sprintf("peer%c%c", 'a'+i/26, 'a'+i%26), 1)
	}
	r := peers(append(counts, "bad", 1)...)
	r.Events = []engine.EventRecord{{At: 1, Kind: "drop_now", Peer: "peeraa"}}
	all := lanes(r)
	var names []string
	for _, l := range all {
		names = append(names, l.label())
	}
	if len(all) != mostLanes || !slices.Contains(names, "bad (bad)") || !slices.Contains(names, "peeraa") || names[len(names)-1] != "others (18)" {
		t.Errorf("%d lanes: %q", len(all), names)
	}
}

func TestWhatIsSaidAgainIsCounted(t *testing.T) {
	r := peers("bad", 1)
	for i := range 5 {
		r.Events = append(r.Events, engine.EventRecord{At: float64(i), Kind: "size_lie", Peer: "bad"})
	}
	r.Events = append(r.Events,
		engine.EventRecord{At: 6, Kind: "verdict_changed", Peer: "bad", Verdict: "proven lie"},
		engine.EventRecord{At: 7, Kind: "verdict_changed", Peer: "bad", Verdict: "clear"},
		engine.EventRecord{At: 8, Kind: "hedged", Peer: "bad"})
	got := fmt.Sprint(lanes(r)[0].flags)
	if want := "[{0 size lie (5 times)} {6 proven lie} {7 cleared}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLabelsFindRoom: within their ends, none over another, and none is lost
// unless it is cut.
func TestLabelsFindRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f flags
		at := 0.0
		for range rapid.IntRange(1, 25).Draw(t, "flags") {
			at += rapid.Float64Range(0, 60).Draw(t, "later")
			f.all = append(f.all, flagged{min(at, 500), rapid.StringMatching(`[a-z]{1,15}`).Draw(t, "text")})
		}
		width := func(s string) vg.Length { return vg.Length(6 * len([]rune(s))) }
		labels := f.labels(func(x float64) vg.Length { return vg.Length(x) }, width, 0, 500)
		text, end := "", vg.Length(math.Inf(-1))
		for _, l := range labels {
			if l.from < 0 || l.to > 500 || l.from < end || l.to-l.from < width(l.text)-1e-6 {
				t.Fatalf("%+v after %v", l, end)
			}
			text, end = text+l.text, l.to
		}
		for _, g := range f.all {
			if !strings.Contains(text, g.text) && !strings.Contains(text, "…") {
				t.Fatalf("%q is not in %q", g.text, text)
			}
		}
	})
}

func labelsOf(ticks []plot.Tick) string {
	var out []string
	for _, t := range ticks {
		out = append(out, t.Label)
	}
	return strings.Join(out, " ")
}

func TestTicks(t *testing.T) {
	for name, tc := range map[string]struct {
		got  []plot.Tick
		want string
	}{
		"decades":            {decades{}.Ticks(0.09, 6), "0.1 0.2 0.5 1 2 5"},
		"many decades":       {decades{}.Ticks(0.001, 100), "0.001 0.01 0.1 1 10 100"},
		"no end of them":     {decades{}.Ticks(0, 1), "1e-07 1e-06 1e-05 0.0001 0.001 0.01 0.1 1"},
		"seconds":            {clock{1}.Ticks(-1, 120), "0 20 40 60 80 100 120"},
		"minutes":            {clock{60}.Ticks(-3, 600), "0 2 4 6 8 10"},
		"residuals":          {residuals.Ticks(-1, 6), "-1 -0.5 0 0.5 1 2 5"},
		"with room":          {spaced{residuals, wide{0.5}, 0.1}.Ticks(-1, 6), "0 0.5 1 2 5 -0.5 -1"},
		"without room":       {spaced{residuals, wide{0.5}, 0.1}.Ticks(-1, 10_000), "0 1 5 20 100 500 10000 -1"},
		"all above nought":   {spaced{decades{}, plot.LogScale{}, 0.3}.Ticks(0.1, 10), "0.1 0.5 2 10"},
		"nothing but minus":  {spaced{residuals, wide{0.5}, 0.1}.Ticks(-1, -0.2), "-1 -0.5"},
		"nothing in between": {residuals.Ticks(3, 4), ""},
	} {
		if got := labelsOf(tc.got); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	for seconds, want := range map[float64]string{5: "seconds", 300: "seconds", 301: "minutes", 20_000: "hours"} {
		if _, unit := clockFor(seconds); unit != want {
			t.Errorf("%g s in %s", seconds, unit)
		}
	}
}

// TestWideScale: it rises, keeps its ends, and is even about nought.
func TestWideScale(t *testing.T) {
	w := wide{0.5}
	if a, b := w.Normalize(-1, 100, -1), w.Normalize(-1, 100, 100); a != 0 || b != 1 {
		t.Errorf("ends at %g and %g", a, b)
	}
	if a, b := w.Normalize(-2, 2, 0), w.Normalize(-2, 2, -1)+w.Normalize(-2, 2, 1); math.Abs(a-0.5) > 1e-12 || math.Abs(b-1) > 1e-12 {
		t.Errorf("nought at %g, sides %g", a, b)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-1, 1e5).Draw(t, "a"), rapid.Float64Range(-1, 1e5).Draw(t, "b")
		if x, y := w.Normalize(-1, 1e5, a), w.Normalize(-1, 1e5, b); a < b && x > y {
			t.Fatalf("%g at %g, %g at %g", a, x, b, y)
		}
	})
}

func TestLogRange(t *testing.T) {
	for _, tc := range []struct {
		values    []float64
		low, high float64 // must be within
	}{{nil, 0.1, 10}, {[]float64{0, math.Inf(1)}, 0.1, 10}, {[]float64{0.5}, 0.5, 0.5}, {[]float64{0.2, 90}, 0.2, 90}, {[]float64{5e-324}, 1e-6, 1e-6}} {
		low, high := logRange(tc.values, 4)
		if !(low > 0 && low <= tc.low && high >= tc.high && high/low >= 4) || math.IsInf(high/low, 0) {
			t.Errorf("%v: %g to %g", tc.values, low, high)
		}
	}
}
