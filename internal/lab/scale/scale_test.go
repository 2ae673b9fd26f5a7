//go:build unix

package main

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serve()
		return
	}
	os.Exit(m.Run())
}

func TestBar(t *testing.T) {
	for _, tt := range []struct {
		got  float64
		met  bool
		word string
	}{{1, true, "met"}, {2, true, "met"}, {2.1, false, "missed"}, {math.NaN(), false, "missed"}, {math.Inf(1), false, "missed"}} {
		b := bar{what: "it", got: tt.got, most: 2, unit: "x"}
		if b.met() != tt.met || !strings.HasSuffix(b.String(), tt.word) {
			t.Errorf("%v: %v, %q", tt.got, b.met(), b)
		}
	}
}

// TestTraffic runs a small one: all is measured, and the shim costs no
// allocation for a frame, however busy the machine.
func TestTraffic(t *testing.T) {
	bars, err := traffic(options{conns: 30, workers: 4, length: 2500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(bars) != 5 {
		t.Fatalf("%d bars", len(bars))
	}
	for _, b := range bars {
		if math.IsNaN(b.got) || math.IsInf(b.got, 0) {
			t.Errorf("%v", b)
		}
	}
	if scrape := bars[2]; scrape.got <= 0 || scrape.got > 30_000 {
		t.Errorf("no scrape was seen: %v", scrape)
	}
}

// TestRecords: the number of records is bounded, and others take the places of
// those that have left.
func TestRecords(t *testing.T) {
	bars, err := records(300, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bars {
		if !b.met() {
			t.Error(b)
		}
	}
	if n := bars[2]; n.got != 300 {
		t.Errorf("%v records, want as many as there may be", n.got)
	}
}
