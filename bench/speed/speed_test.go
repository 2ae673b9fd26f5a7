package speed

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/bench/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMeasureEveryModeAndWorkload(t *testing.T) {
	for _, w := range Workloads() {
		for _, m := range Modes() {
			t.Run(w.Name+"/"+m.Name, func(t *testing.T) {
				r, err := Measure(m, w, 20)
				if err != nil {
					t.Fatal(err)
				}
				if r.Value <= 0 || r.Took <= 0 {
					t.Errorf("read nothing: %+v", r)
				}
			})
		}
	}
}

// The value is what was moved over the time it took.
func TestBulkCountsWhatItMoves(t *testing.T) {
	w := Workloads()[1]
	for _, amount := range []int{16, 64} {
		r, err := Measure(Modes()[0], w, amount)
		if err != nil {
			t.Fatal(err)
		}
		moved := r.Value * r.Took.Seconds() * (1 << 20)
		if want := float64(amount * w.Chunk); moved < want*0.999 || moved > want*1.001 {
			t.Errorf("%d chunks: %.0f bytes, want %.0f", amount, moved, want)
		}
	}
}

func TestModesNamesAreUnique(t *testing.T) {
	var names []string
	for _, m := range Modes() {
		if slices.Contains(names, m.Name) {
			t.Errorf("two modes are called %s", m.Name)
		}
		names = append(names, m.Name)
	}
	if names[0] != Bare {
		t.Errorf("the first mode is %s, want %s", names[0], Bare)
	}
}

func TestRun(t *testing.T) {
	done := 0
	tables, err := Run(context.Background(), Plan{
		Modes: Modes()[:4], Workloads: Workloads()[:2], Rounds: 3, Target: time.Millisecond,
		Progress: func(n int) { done = n },
	})
	if err != nil {
		t.Fatal(err)
	}
	if done != 3 || len(tables) != 2 {
		t.Fatalf("%d rounds, %d tables", done, len(tables))
	}
	for _, table := range tables {
		if len(table.Rows) != 4 {
			t.Fatalf("%d rows", len(table.Rows))
		}
		if r := table.Rows[0].Ratio; r.Median != 1 || r.Min != 1 || r.Max != 1 || r.N != 3 {
			t.Errorf("bare over bare is %+v, want 1", r)
		}
		for _, row := range table.Rows[1:] {
			if row.Bar == nil || row.Passed == nil || *row.Passed != row.Bar.Passed(row.Ratio) {
				t.Errorf("%s, %s: no verdict, or another than its bar's", table.Workload, row.Mode)
			}
		}
	}
}

// Over TLS the bytes are sealed, which costs, and no bar is set.
func TestOverTLS(t *testing.T) {
	modes := []Mode{Modes()[0].OverTLS(), Modes()[3].OverTLS()}
	client, server, err := modes[0].connect()
	if err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{client, server} {
		if _, ok := conn.(*tls.Conn); !ok {
			t.Errorf("a %T", conn)
		}
		conn.Close()
	}
	tables, err := Run(context.Background(), Plan{Modes: modes, Workloads: Workloads()[3:4], Rounds: 1, Target: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tables[0].Rows {
		if row.Value.Median <= 0 || row.Bar != nil || row.Passed != nil {
			t.Errorf("%+v", row)
		}
	}
}

func TestRunNeedsTheBareMode(t *testing.T) {
	_, err := Run(context.Background(), Plan{Modes: Modes()[1:], Workloads: Workloads(), Rounds: 1})
	if err == nil || !strings.Contains(err.Error(), Bare) {
		t.Errorf("error %v does not name the missing mode", err)
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	done := 0
	_, err := Run(ctx, Plan{
		Modes: Modes()[:1], Workloads: Workloads()[:1], Rounds: 100, Target: time.Microsecond,
		Progress: func(n int) {
			done = n
			cancel()
		},
	})
	if err == nil || done != 1 {
		t.Errorf("%d rounds after cancelling in the first, error %v", done, err)
	}
}

func TestLimitKeepsEnoughRounds(t *testing.T) {
	done := 0
	_, err := Run(context.Background(), Plan{
		Modes: Modes()[:1], Workloads: Workloads()[:1], Rounds: 100, Target: time.Microsecond,
		Limit: time.Nanosecond, Progress: func(n int) { done = n },
	})
	if err != nil || done != MinRounds {
		t.Errorf("%d rounds, want %d; %v", done, MinRounds, err)
	}
}

// The ratio is taken within each round: a machine that is twice as slow in one
// round changes no ratio.
func TestTablePairsRounds(t *testing.T) {
	modes := Modes()[:2]
	s := series{workload: Workloads()[1], readings: map[string][]Reading{
		Bare:          {{Value: 100, CPU: 1}, {Value: 50, CPU: 2}, {Value: 200, CPU: 1}},
		modes[1].Name: {{Value: 120, CPU: 2}, {Value: 60, CPU: 4}, {Value: 240, CPU: 2}},
	}}
	row := s.table(modes).Rows[1]
	if row.Ratio.Min != 1.2 || row.Ratio.Max != 1.2 || row.CPURatio.Median != 2 || row.Value.Median != 120 {
		t.Errorf("%+v", row)
	}
}

func TestBars(t *testing.T) {
	trip, bulk := Workloads()[0], Workloads()[1]
	tests := []struct {
		name     string
		workload Workload
		mode     string
		ratio    stats.Summary
		want     bool
	}{
		{"faster trips", trip, "both", stats.Summary{N: 15, Median: 0.6}, true},
		{"at the bar", trip, "both", stats.Summary{N: 15, Median: 0.7}, true},
		{"trips not fast enough", trip, "both", stats.Summary{N: 15, Median: 0.8}, false},
		{"faster bulk", bulk, "both", stats.Summary{N: 15, Median: 1.5}, true},
		{"bulk not fast enough", bulk, "both", stats.Summary{N: 15, Median: 1.3}, false},
		{"as fast", bulk, "client", stats.Summary{N: 15, Median: 0.99, Lower95: 0.95, Upper95: 1.03}, true},
		{"a little slower for sure", bulk, "client", stats.Summary{N: 15, Median: 0.97, Lower95: 0.96, Upper95: 0.99}, false},
		{"perhaps slower by much", bulk, "server", stats.Summary{N: 15, Median: 0.9, Lower95: 0.7, Upper95: 1.2}, false},
		{"trips as fast", trip, "server", stats.Summary{N: 15, Median: 1.01, Lower95: 0.98, Upper95: 1.1}, true},
		{"trips slower for sure", trip, "server", stats.Summary{N: 15, Median: 1.02, Lower95: 1.01, Upper95: 1.1}, false},
		{"trips slower by much", trip, "client", stats.Summary{N: 15, Median: 1.1, Lower95: 0.9, Upper95: 1.3}, false},
		{"nothing measured", bulk, "client", stats.Summary{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bar, ok := BarFor(tt.workload, tt.mode)
			if !ok {
				t.Fatal("no bar")
			}
			if got := bar.Passed(tt.ratio); got != tt.want {
				t.Errorf("%v: %v, want %v", bar, got, tt.want)
			}
		})
	}
	if _, ok := BarFor(bulk, "raw"); ok {
		t.Error("a bar for a mode that is there for comparison only")
	}
	for _, w := range Workloads() {
		if _, ok := BarFor(w, "both"); !ok {
			t.Errorf("no bar for %s", w.Name)
		}
	}
}

func TestBarInWords(t *testing.T) {
	trip, bulk := Workloads()[0], Workloads()[1]
	for want, get := range map[string]struct {
		w    Workload
		mode string
	}{
		"<= 0.70":             {trip, "both"},
		">= 1.40":             {bulk, "both"},
		">= 0.95, bound >= 1": {bulk, "client"},
		"<= 1.05, bound <= 1": {trip, "server"},
	} {
		if bar, _ := BarFor(get.w, get.mode); bar.String() != want {
			t.Errorf("%q, want %q", bar, want)
		}
	}
}

func TestCalibrate(t *testing.T) {
	w, bare := Workloads()[1], Modes()[0]
	amount, err := Calibrate(bare, w, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	// Any machine moves between 1 MiB and 20 GiB in a second.
	if bytes := amount * w.Chunk; bytes < 20<<10 || bytes > 400<<20 {
		t.Errorf("%d bytes for 20 ms", bytes)
	}
}
