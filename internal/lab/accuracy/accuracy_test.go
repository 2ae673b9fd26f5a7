package accuracy

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/ranking"
)

var whole = flag.Bool("whole", false, "all of the grid, which takes a while under the race detector")

// ways are those to measure: unless all, a near and fast one, one whose echoes
// are long stuck behind payload, and one whose ramp is never over.
func ways() []Way {
	all := Grid()
	if *whole {
		return all
	}
	var some []Way
	for _, i := range []int{3, 9, 19} {
		some = append(some, all[i])
	}
	return some
}

// TestAccuracy holds predictions to the bars, cold and warm, with the node's own
// estimates and with the true parameters.
func TestAccuracy(t *testing.T) {
	var runs []Run
	for _, w := range ways() {
		bubble.Run(t, func(t *testing.T) {
			r, err := Measure(w, Sizes())
			if err != nil {
				t.Fatalf("%v: %v", w, err)
			}
			runs = append(runs, r)
		})
	}
	var out strings.Builder
	WriteEstimates(&out, runs)
	for st := range states {
		for _, src := range []Source{Own, True} {
			WriteTable(&out, runs, st, src)
			for _, miss := range Judge(runs, st, src).Misses {
				t.Errorf("with %v: %s", src, miss)
			}
		}
	}
	t.Logf("\n%s", &out)
}

// TestGrid: the grid has what it should, and the ramp is what a slow start
// carries until its window covers the path.
func TestGrid(t *testing.T) {
	if n := len(Grid()); n != 20 {
		t.Errorf("%d ways", n)
	}
	for _, tt := range []struct {
		rtt  int64 // ms
		rate float64
		ramp int64
		far  bool
	}{
		{5, 1, 0, false},
		{69, 10, 7 * initialWindow, false},
		{20, 1000, 255 * initialWindow, false},
		{69, 1000, 1023 * initialWindow, true},
		{268, 1000, 4095 * initialWindow, true},
	} {
		for _, w := range Grid() {
			if w.RTT.Milliseconds() != tt.rtt || float64(w.Rate) != tt.rate*1e6 {
				continue
			}
			if w.Ramp() != tt.ramp || w.Far() != tt.far {
				t.Errorf("%v: ramp %d, far %v; want %d, %v", w, w.Ramp(), w.Far(), tt.ramp, tt.far)
			}
		}
	}
}

// TestJudge: each bar is one.
func TestJudge(t *testing.T) {
	near, far := Way{RTT: 20 * time.Millisecond, Rate: 1e8}, Way{RTT: 268 * time.Millisecond, Rate: 1e9}
	fetch := func(w Way, off float64) Run {
		return Run{Way: w, Fetches: []Fetch{{
			Way: w, State: Warm, Bytes: 1e6, Actual: time.Second, True: time.Second,
			Own: time.Duration((1 + off) * float64(time.Second)),
		}}}
	}
	for _, tt := range []struct {
		name   string
		runs   []Run
		misses int
	}{
		{"none", nil, 1},
		{"exact", []Run{fetch(near, 0)}, 0},
		{"within", []Run{fetch(near, 0), fetch(near, 0.04), fetch(near, -0.19)}, 0},
		{"far", []Run{fetch(near, 0), fetch(near, 0), fetch(far, 0.34)}, 0},
		{"too slow", []Run{fetch(near, 0), fetch(near, 0), fetch(near, 0.21)}, 1},
		{"too fast", []Run{fetch(near, 0), fetch(near, 0), fetch(near, -0.21)}, 1},
		{"too far", []Run{fetch(near, 0), fetch(near, 0), fetch(far, 0.36)}, 1},
		{"median", []Run{fetch(near, 0.06), fetch(near, 0.07), fetch(near, 0)}, 1},
		{"median of an even number", []Run{fetch(near, 0.01), fetch(near, 0.1)}, 1},
	} {
		if got := Judge(tt.runs, Warm, Own); len(got.Misses) != tt.misses {
			t.Errorf("%s: %d misses, want %d: %q", tt.name, len(got.Misses), tt.misses, got.Misses)
		}
		if got := Judge(tt.runs, Warm, True); tt.runs != nil && (len(got.Misses) != 0 || got.Worst != 0) {
			t.Errorf("%s, true: %+v", tt.name, got)
		}
	}
	if got := Judge([]Run{fetch(near, 0)}, Cold, Own); len(got.Misses) != 1 {
		t.Errorf("no cold fetch, and the bars are met: %+v", got)
	}
}

// TestTable: a miss is seen where the table is read.
func TestTable(t *testing.T) {
	w := Way{RTT: 20 * time.Millisecond, Rate: 1e8}
	runs := []Run{{Way: w, Fetches: []Fetch{{
		Way: w, Bytes: 64_000, Actual: time.Second, Own: 3 * time.Second / 2, True: time.Second,
	}}}}
	var own, truth strings.Builder
	WriteTable(&own, runs, Cold, Own)
	WriteTable(&truth, runs, Cold, True)
	for _, want := range []string{"64 kB", "+50.00", "20ms, 100 Mbit/s", "missed"} {
		if !strings.Contains(own.String(), want) {
			t.Errorf("no %q in:\n%s", want, &own)
		}
	}
	if !strings.Contains(truth.String(), ") met\n") {
		t.Errorf("not met:\n%s", &truth)
	}
}

// TestStatesDiffer: what is called cold, warm and hot is so, or the tables would
// show one thing three times. At 268 ms and 100 Mbit/s 64 kB take three round
// trips cold and one warm, 512 kB six and one.
func TestStatesDiffer(t *testing.T) {
	w := Way{RTT: 268 * time.Millisecond, Rate: 1e8}
	bubble.Run(t, func(t *testing.T) {
		r, err := Measure(w, []int64{64_000, 512_000})
		if err != nil {
			t.Fatal(err)
		}
		want := map[State][]int{Cold: {3, 6}, Warm: {1, 1}, Hot: {1, 1}}
		for st, rounds := range want {
			for i, f := range fetches([]Run{r}, st) {
				if got := int(f.Actual / w.RTT); got != rounds[i] {
					t.Errorf("%v, %d bytes: %v, %d round trips; want %d", st, f.Bytes, f.Actual, got, rounds[i])
				}
			}
		}
	})
}

// TestWithoutWarmth: the warm bars hold because the prediction follows the
// window; one that takes every connection for cold misses them.
func TestWithoutWarmth(t *testing.T) {
	w := Way{RTT: 150 * time.Millisecond, Rate: 1e8}
	bubble.Run(t, func(t *testing.T) {
		r, err := Measure(w, Sizes())
		if err != nil {
			t.Fatal(err)
		}
		own, _ := r.paths()
		for i, f := range r.Fetches {
			r.Fetches[i].Own = ranking.Predict(f.Bytes, own).Total
		}
		if got := Judge([]Run{r}, Cold, Own); len(got.Misses) != 0 {
			t.Errorf("cold: %q", got.Misses)
		}
		if got := Judge([]Run{r}, Warm, Own); len(got.Misses) < 4 {
			t.Errorf("warm fetches predicted as cold ones: %d misses", len(got.Misses))
		}
	})
}
