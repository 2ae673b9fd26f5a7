package engine

import (
	"testing"
	"time"

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
