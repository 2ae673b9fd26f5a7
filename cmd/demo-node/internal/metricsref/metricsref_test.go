package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assay-mux/assay/metrics"
)

// TestPageIsFresh: the page in docs/ is what the collector says now.
func TestPageIsFresh(t *testing.T) {
	got, err := os.ReadFile("../../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page(metrics.Descriptions())) {
		t.Error("docs/metrics.md is not what the collector says of itself; run make metrics-reference")
	}
}

// TestPageHasAll: each metric once, with its labels and meaning.
func TestPageHasAll(t *testing.T) {
	text := string(page(metrics.Descriptions()))
	for _, d := range metrics.Descriptions() {
		row := "| `" + d.Name + "` | " + string(d.Type) + " | " + code(d.Labels) + " | " + d.Help + " |\n"
		if n := strings.Count(text, row); n != 1 {
			t.Errorf("%s has %d rows, want one", d.Name, n)
		}
	}
}

// TestOrderHasAllSections: none of them would be left out of the page.
func TestOrderHasAllSections(t *testing.T) {
	var titles []string
	for _, s := range sections() {
		titles = append(titles, s.title)
	}
	want := slices.Sorted(slices.Values(order))
	if got := slices.Sorted(slices.Values(titles)); !slices.Equal(got, want) {
		t.Errorf("sections %q, in order %q", got, want)
	}
}

func TestChoose(t *testing.T) {
	for name, want := range map[string]metrics.Description{
		"Counters":               {Name: "assay_frames_total", Type: metrics.Counter},
		"Gauges":                 {Name: "assay_connections", Type: metrics.Gauge},
		"Distributions":          {Name: "assay_rtt_base_seconds", Type: metrics.Histogram},
		"By rank slot":           {Name: "assay_top_rtt_base_seconds", Type: metrics.Gauge},
		"Ranker":                 {Name: "assay_ranking_plans_total", Type: metrics.Counter},
		"Standings by rank slot": {Name: "assay_ranking_top_demoted", Type: metrics.Gauge},
		"Audit":                  {Name: "assay_audit_residual_ratio", Type: metrics.Histogram},
		"Speed tests":            {Name: "assay_speedtest_overdue_seconds", Type: metrics.Gauge},
		"By peer":                {Name: "assay_peer_gap_seconds_total", Type: metrics.Counter},
	} {
		if got := choose(want).title; got != name {
			t.Errorf("%s is in %q, want %q", want.Name, got, name)
		}
	}
}
