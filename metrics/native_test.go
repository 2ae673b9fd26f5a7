package metrics

import (
	"math"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/assay-mux/assay/mux"
)

func trips(all ...time.Duration) Source {
	var peers []Peer
	for _, d := range all {
		peers = append(peers, Peer{Snapshot: mux.Snapshot{RTT: mux.RTT{Base: d}}})
	}
	return of(peers...)
}

func baseTrips(t *testing.T, c *Collector) *dto.Histogram {
	t.Helper()
	const name = "assay_rtt_base_seconds"
	for _, f := range gather(t, c) {
		if f.GetName() == name {
			return f.GetMetric()[0].GetHistogram()
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

// TestNativeBuckets: both kinds of buckets, over the same figures, and each
// scrape counts afresh.
func TestNativeBuckets(t *testing.T) {
	c := NewCollector(trips(10*time.Millisecond, 10*time.Millisecond, 80*time.Millisecond), WithNativeHistograms())
	plain := baseTrips(t, NewCollector(trips(10*time.Millisecond, 10*time.Millisecond, 80*time.Millisecond)))
	for range 2 {
		h := baseTrips(t, c)
		if h.GetSampleCount() != 3 || math.Abs(h.GetSampleSum()-0.1) > 1e-12 {
			t.Errorf("count %d, sum %v", h.GetSampleCount(), h.GetSampleSum())
		}
		if h.Schema == nil || h.GetSchema() != 3 {
			t.Errorf("schema %v, want 3: bounds a tenth apart", h.Schema)
		}
		if h.CreatedTimestamp != nil {
			t.Error("says when it was made, which a server may take for a restart")
		}
		if got := nativeCounts(h); got != [2]int{2, 1} {
			t.Errorf("native buckets hold %v, want 2 and 1, three octaves apart", got)
		}
		if len(h.GetBucket()) != len(plain.GetBucket()) {
			t.Fatalf("%d fixed buckets, want the %d of a plain one", len(h.GetBucket()), len(plain.GetBucket()))
		}
		for i, b := range h.GetBucket() {
			if b.GetCumulativeCount() != plain.GetBucket()[i].GetCumulativeCount() {
				t.Errorf("fixed bucket %d: %v, plainly %v", i, b, plain.GetBucket()[i])
			}
		}
	}
}

// nativeCounts are those of the first and the last bucket in use.
func nativeCounts(h *dto.Histogram) [2]int {
	var used []int
	n := 0
	for _, d := range h.GetPositiveDelta() {
		if n += int(d); n > 0 {
			used = append(used, n)
		}
	}
	if len(used) == 0 {
		return [2]int{}
	}
	return [2]int{used[0], used[len(used)-1]}
}

// TestNativeOfNobody: an empty one is native too, so that a server does not
// change its mind about the series when the first peer comes. By the threshold of
// its zero bucket a server knows it.
func TestNativeOfNobody(t *testing.T) {
	h := baseTrips(t, NewCollector(nil, WithNativeHistograms()))
	if h.Schema == nil || h.GetSampleCount() != 0 || h.GetZeroThreshold() <= 0 {
		t.Errorf("%v, want an empty native histogram", h)
	}
	if h := baseTrips(t, NewCollector(nil)); h.Schema != nil {
		t.Error("native, though nobody asked")
	}
}

// TestNativeLint: the collector's contract holds with it.
func TestNativeLint(t *testing.T) {
	fixed, native := gather(t, everything()), gather(t, alice(WithNativeHistograms(), WithRanker(rankerOf(fullRanking())), WithCampaign(campaignOf(Campaign{}))))
	if len(fixed) != len(native) {
		t.Errorf("%d families natively, %d without", len(native), len(fixed))
	}
}
