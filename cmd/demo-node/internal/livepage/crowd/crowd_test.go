package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
)

// TestCrowd: ranks change, the bad are found out and the honest are not, and the
// same seed makes the same crowd.
func TestCrowd(t *testing.T) {
	base := time.Unix(0, 0)
	now := base
	clock := func() time.Time { return now }
	a, b := newCrowd(60, 7, clock), newCrowd(60, 7, clock)
	var orders []string
	for range 90 {
		now = now.Add(5 * time.Second)
		va, vb := a.View(), b.View()
		var order string
		for i := range va.Peers {
			if va.Peers[i].Name != vb.Peers[i].Name {
				t.Fatalf("place %d: %s and %s", i, va.Peers[i].Name, vb.Peers[i].Name)
			}
			order += va.Peers[i].Name
		}
		orders = append(orders, order)
	}
	if n := len(slices.Compact(orders)); n < 80 {
		t.Errorf("%d different orders of 90", n)
	}
	v := a.View()
	if len(v.Strata) == 0 || v.Stats.Completions == 0 || len(v.Events) == 0 {
		t.Errorf("%d strata, %d completions, %d events", len(v.Strata), v.Stats.Completions, len(v.Events))
	}
	for i, p := range v.Peers {
		bad := p.Name == "peer-003" || p.Name == "peer-005" || p.Name == "peer-049"
		if p.Standing.Demoted != bad {
			t.Errorf("%s: demoted %v, %v", p.Name, p.Standing.Demoted, p.Standing.Verdict)
		}
		if bad && i < len(v.Peers)-3 {
			t.Errorf("%s is at place %d", p.Name, i)
		}
	}
	if k := a.byName["peer-005"].verdict.Kind; k != audit.ProvenLie {
		t.Errorf("the liar is found %v", k)
	}
	if _, ok := a.Snapshot("nobody"); ok {
		t.Error("a snapshot of nobody")
	}
	if s, ok := a.Snapshot("peer-001"); !ok || s.Burst.Bursts[0] == 0 {
		t.Errorf("peer-001: %v, %+v", ok, s.Burst)
	}
}

func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := serve(ctx, "127.0.0.1:0", 2, 1); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	for _, n := range []int{0, 100_001} {
		if err := serve(t.Context(), "127.0.0.1:0", n, 1); err == nil {
			t.Errorf("served %d peers", n)
		}
	}
}
