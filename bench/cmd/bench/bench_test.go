package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/assay-mux/assay/bench/speed"
)

func TestComplete(t *testing.T) {
	tests := []struct {
		name             string
		f                flags
		modes, workloads int
		ok               bool
	}{
		{"everything", flags{plan: speed.Plan{Rounds: 21}}, 10, 5, true},
		{"some modes", flags{modes: "bare, both", plan: speed.Plan{Rounds: 21}}, 2, 5, true},
		{"some workloads", flags{workloads: "KiB writes", plan: speed.Plan{Rounds: 21}}, 10, 3, true},
		{"no workload", flags{workloads: "nonsense", plan: speed.Plan{Rounds: 21}}, 10, 0, false},
		{"no rounds", flags{}, 10, 5, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := tt.f.complete()
			if (err == nil) != tt.ok {
				t.Fatalf("error %v", err)
			}
			if len(p.Modes) != tt.modes || len(p.Workloads) != tt.workloads {
				t.Errorf("%d modes, %d workloads", len(p.Modes), len(p.Workloads))
			}
		})
	}
}

func TestQuickIsQuick(t *testing.T) {
	p, err := flags{quick: true, plan: speed.Plan{Rounds: 100, Target: time.Hour}}.complete()
	if err != nil || p.Rounds >= speed.MinRounds || p.Target > time.Second {
		t.Errorf("%d rounds of %v, %v", p.Rounds, p.Target, err)
	}
}

// A small run, written and read back under its documented names.
func TestRunWritesJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "bench.json")
	_, err := run(context.Background(), flags{
		file: file, modes: "bare,both", workloads: "64 B",
		plan: speed.Plan{Rounds: 2, Target: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Go     string
		CPUs   int `json:"cpus"`
		Bars   int
		Tables []struct {
			Workload, Unit string
			Rows           []struct {
				Mode  string
				Value struct{ Median, Min, Max float64 }
				Ratio struct {
					Median, Upper95 float64
					N               int
				}
				Passed *bool
			}
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.Go == "" || got.CPUs < 1 || got.Bars != 1 || len(got.Tables) != 1 {
		t.Fatalf("%+v", got)
	}
	both := got.Tables[0].Rows[1]
	if both.Mode != "both" || both.Value.Median <= 0 || both.Ratio.Median <= 0 || both.Ratio.N != 2 || both.Passed == nil {
		t.Errorf("%+v", both)
	}
}

func TestRunNeedsAPlaceToWrite(t *testing.T) {
	_, err := run(context.Background(), flags{
		file: filepath.Join(os.DevNull, "bench.json"), modes: "bare", workloads: "64 B",
		plan: speed.Plan{Rounds: 1, Target: time.Millisecond},
	})
	if err == nil {
		t.Error("figures that could not be written were not missed")
	}
}
