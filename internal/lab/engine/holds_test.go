package engine

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/ranking"
)

// TestHeldTime: holds are counted, and how long they last, the one that goes on at the end too.
func TestHeldTime(t *testing.T) {
	r := new(recorder)
	for i, e := range []ranking.Event{
		{Kind: ranking.HoldBegan, At: 10 * time.Second}, {Kind: ranking.Hedged, At: 12 * time.Second},
		{Kind: ranking.HoldEnded, At: 15 * time.Second}, {Kind: ranking.HoldBegan, At: 60 * time.Second},
	} {
		r.hold(e)
		if i == 1 && r.heldFor(13*time.Second) != 3*time.Second {
			t.Errorf("held for %v of three seconds", r.heldFor(13*time.Second))
		}
	}
	if got := r.heldFor(64 * time.Second); r.holds != 2 || got != 9*time.Second {
		t.Errorf("%d holds of %v, want 2 of 9s", r.holds, got)
	}
}

// TestRange: it spans what was added.
func TestRange(t *testing.T) {
	var r Range
	for _, v := range []float64{0.9, 0.8, 0.95} {
		r.add(v)
	}
	if want := (Range{0.8, 0.95}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// TestBySize: what a peer took, and what is expected of it, is told by size.
func TestBySize(t *testing.T) {
	w := &scenario.Workload{Sizes: []scenario.Size{1e6, 2e6}, Warmup: &scenario.Warmup{Sizes: []scenario.Size{1e6, 50e3}}}
	r := &Result{Transfers: []*TransferRecord{
		{Peer: "a", End: "whole", Got: 1e6, Took: 1},
		{Peer: "a", End: "whole", Got: 1e6, Took: 3},
		{Peer: "b", End: "whole", Got: 1e6, Took: 9},
		{Peer: "a", End: "whole", Got: 1e6, Offset: 1e6, Took: 9}, // the rest of another's
		{Peer: "a", End: "timed out", Got: 2e6, Took: 9},
	}}
	p := &PeerResult{Name: "a"}
	p.bySize(w, r, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second})
	want := []SizeResult{{"50kB", 0, 0, 1}, {"1MB", 2, 2, 2}, {"2MB", 0, 0, 4}}
	if len(p.Sizes) != len(want) {
		t.Fatalf("%d sizes", len(p.Sizes))
	}
	for i, s := range p.Sizes {
		if *s != want[i] {
			t.Errorf("%+v, want %+v", *s, want[i])
		}
	}
}
