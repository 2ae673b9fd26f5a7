package metrics

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/mux"
)

func TestNoPeers(t *testing.T) {
	for name, c := range map[string]*Collector{
		"nil source": NewCollector(nil, WithPerPeer(2)),
		"none":       NewCollector(SourceFunc(func() []Peer { return nil }), WithPerPeer(2)),
	} {
		got := gather(t, c).series()
		check(t, got, map[string]float64{
			"assay_connections": 0, "assay_front_age_max_seconds": 0, "assay_peers_omitted": 0,
			"assay_rtt_base_seconds_count": 0, payload: 0,
			`assay_open_bursts{gate="tripped"}`: 0, `assay_cookie_echoes_total{outcome="forged"}`: 0,
		})
		for series := range got {
			if strings.Contains(series, "slot=") || strings.Contains(series, "peer=") {
				t.Errorf("%s: %s without a peer", name, series)
			}
		}
	}
}

// TestUnknownIsAbsent: a snapshot that knows nothing adds to no distribution
// but age, and shows no figure as 0.
func TestUnknownIsAbsent(t *testing.T) {
	c := NewCollector(SourceFunc(func() []Peer { return []Peer{{Name: "new"}} }), WithPerPeer(1))
	got := gather(t, c).series()
	for series, v := range got {
		if strings.HasSuffix(series, "_count") && v != 0 && series != "assay_connection_age_seconds_count" {
			t.Errorf("%s = %v of a peer of which nothing is known", series, v)
		}
	}
	absent(t, got, `assay_top_rtt_base_seconds{slot="1"}`, `assay_top_rate_bytes_per_second{slot="1"}`,
		`assay_peer_rtt_p95_seconds{peer="new"}`, `assay_peer_idle_seconds{peer="new"}`, `assay_peer_front_age_seconds{peer="new"}`)
	check(t, got, map[string]float64{"assay_connections": 1, `assay_peer_connection_age_seconds{peer="new"}`: 0})
}

func TestGaugesJoin(t *testing.T) {
	a, b := full(), full()
	b.FrontAge = 3 * time.Second
	b.Burst.Gate = burst.Tripped
	idle := full()
	idle.Burst.Gate = burst.Idle // what it says of bytes is of a burst gone by
	idle.RTT.Confirmed, idle.Counts.TransparentIn = false, false
	src := new(crowd)
	src.set(Peer{Snapshot: a}, Peer{Snapshot: b}, Peer{Snapshot: idle})
	check(t, gather(t, NewCollector(src)).series(), map[string]float64{
		"assay_connections":                                3,
		"assay_confirmed_connections":                      2,
		`assay_transparent_connections{direction="in"}`:    2,
		`assay_transparent_connections{direction="out"}`:   3,
		"assay_front_age_max_seconds":                      3,
		"assay_outstanding_cookies":                        9,
		"assay_outstanding_fetches":                        6,
		`assay_open_bursts{gate="open"}`:                   1,
		`assay_open_bursts{gate="tripped"}`:                1,
		"assay_open_bursts_cold":                           2,
		"assay_open_burst_bytes":                           210,
		"assay_open_burst_covered_bytes":                   212,
		`assay_silence_seconds_total{kind="peers"}`:        10.5,
		`assay_gap_seconds_total{cause="credit"}`:          0.75,
		`assay_cookie_echoes_total{outcome="forged"}`:      351,
		"assay_kernel_out_of_order_packets_total":          396,
		"assay_front_age_seconds_count":                    3,
		"assay_front_age_seconds_sum":                      3.04,
		`assay_received_payload_bytes_total{counted="no"}`: 369,
	})
}

func TestKernelFreshness(t *testing.T) {
	for name, tc := range map[string]struct {
		at     time.Duration
		kernel mux.Kernel
		want   float64
	}{
		"never read, and young": {10 * time.Second, mux.Kernel{RTT: time.Second}, 0},
		"never read":            {100 * time.Second, mux.Kernel{RTT: time.Second}, 0},
		"just read":             {100 * time.Second, mux.Kernel{At: 100 * time.Second, RTT: time.Second}, 1},
		"read long ago":         {100 * time.Second, mux.Kernel{At: 84 * time.Second, RTT: time.Second}, 0},
		"acknowledged long ago": {100 * time.Second, mux.Kernel{At: 100 * time.Second, AckAge: 16 * time.Second, RTT: time.Second}, 0},
		"both together":         {100 * time.Second, mux.Kernel{At: 90 * time.Second, AckAge: 6 * time.Second, RTT: time.Second}, 0},
		"just within":           {100 * time.Second, mux.Kernel{At: 90 * time.Second, AckAge: 5 * time.Second, RTT: time.Second}, 1},
		"says nothing":          {100 * time.Second, mux.Kernel{At: 100 * time.Second}, 0},
	} {
		s := mux.Snapshot{At: tc.at, Kernel: tc.kernel}
		c := NewCollector(SourceFunc(func() []Peer { return []Peer{{Snapshot: s}} }))
		if got := gather(t, c).series()["assay_kernel_rtt_seconds_count"]; got != tc.want {
			t.Errorf("%s: known for %v connections, want %v", name, got, tc.want)
		}
	}
}

// TestDistributions compares buckets, count and sum with a plain count.
func TestDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := newTables(options{}).figures[0] // the base round trip
		values := rapid.SliceOfN(rapid.OneOf(
			rapid.Float64Range(0, 10),
			rapid.SampledFrom(v.bounds), // a bound belongs to its own bucket
		), 0, 50).Draw(t, "seconds")
		v.read = func(s *mux.Snapshot) (float64, bool) { return math.Float64frombits(s.Counts.Reads), true }
		peers := make([]Peer, len(values))
		sum := 0.0
		for i, x := range values {
			peers[i].Snapshot.Counts.Reads = math.Float64bits(x)
			sum += x
		}
		h := written(t, v.fixed(rank(peers, true))).GetHistogram()
		if h.GetSampleCount() != uint64(len(values)) || math.Abs(h.GetSampleSum()-sum) > 1e-9 {
			t.Fatalf("count %d, sum %v; want %d, %v", h.GetSampleCount(), h.GetSampleSum(), len(values), sum)
		}
		if len(h.GetBucket()) != len(v.bounds) {
			t.Fatalf("%d buckets, want %d", len(h.GetBucket()), len(v.bounds))
		}
		for _, b := range h.GetBucket() {
			want := uint64(0)
			for _, x := range values {
				if x <= b.GetUpperBound() {
					want++
				}
			}
			if b.GetCumulativeCount() != want {
				t.Fatalf("at most %v: %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), want)
			}
		}
	})
}

func TestBoundsRise(t *testing.T) {
	for _, f := range figures() {
		if !slices.IsSorted(f.bounds) || len(slices.Compact(slices.Clone(f.bounds))) != len(f.bounds) || len(f.bounds) > 16 {
			t.Errorf("%s: bounds %v must rise, and be 16 at most", f.name, f.bounds)
		}
	}
}

func TestSlots(t *testing.T) {
	slow, fast, unknown := rated("slow", 1000), rated("fast", 4000), rated("unknown", 0)
	const rate = `assay_top_rate_bytes_per_second{slot="%d"}`
	slot := func(i int) string { return fmt.Sprintf(rate, i) }
	for name, tc := range map[string]struct {
		src  Source
		want map[string]float64
		none []string
	}{
		"by rate":             {of(unknown, slow, fast), map[string]float64{slot(1): 4000, slot(2): 1000}, []string{slot(3)}},
		"ranked":              {ranked(true, slow, unknown, fast), map[string]float64{slot(1): 1000, slot(3): 4000}, []string{slot(2)}},
		"not ranked just now": {ranked(false, slow, fast), map[string]float64{slot(1): 4000, slot(2): 1000}, nil},
		"more than slots":     {of(slow, slow, slow, fast), map[string]float64{slot(1): 4000, slot(3): 1000}, []string{slot(4)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := gather(t, NewCollector(tc.src, WithTop(3))).series()
			check(t, got, tc.want)
			absent(t, got, tc.none...)
		})
	}
}

func of(peers ...Peer) Source { return SourceFunc(func() []Peer { return peers }) }

func ranked(best bool, peers ...Peer) Source {
	r := &ordering{best: best}
	r.set(peers...)
	return r
}

// TestRankIsDeterministic: in whatever order peers come, names of equal rate
// are shown in one order.
func TestRankIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sorted := []Peer{rated("z", 9), rated("a", 5), rated("b", 5), rated("c", 5), rated("a0", 0), rated("b0", 0)}
		for i, p := range rank(rapid.Permutation(sorted).Draw(t, "peers"), false) {
			if p.Name != sorted[i].Name {
				t.Fatalf("place %d: %s, want %s", i, p.Name, sorted[i].Name)
			}
		}
	})
}

func TestPerPeerCap(t *testing.T) {
	const k = 3
	src := new(crowd)
	c := NewCollector(src, WithPerPeer(k))
	for _, tc := range []struct {
		name    string
		peers   []Peer
		shown   []string
		omitted float64
	}{
		{"fewer", []Peer{rated("a", 1), rated("b", 2)}, []string{"a", "b"}, 0},
		{"as many", []Peer{rated("a", 1), rated("b", 2), rated("c", 3)}, []string{"a", "b", "c"}, 0},
		{"more: the slowest go", []Peer{rated("a", 1), rated("b", 2), rated("c", 3), rated("d", 4), rated("e", 0)}, []string{"b", "c", "d"}, 2},
		{"equals: by name", []Peer{rated("d", 1), rated("c", 1), rated("b", 1), rated("a", 1)}, []string{"a", "b", "c"}, 1},
		{"a name twice counts once", []Peer{rated("a", 1), rated("a", 2), rated("b", 1), rated("c", 1)}, []string{"a", "b", "c"}, 0},
		{"an omitted name twice counts once", []Peer{rated("a", 5), rated("b", 5), rated("c", 5), rated("d", 1), rated("d", 2)}, []string{"a", "b", "c"}, 1},
		{"without names", []Peer{rated("", 5), rated("", 6), rated("a", 1)}, []string{"a"}, 2},
		{"not UTF-8", []Peer{rated("x\xff", 1), rated("x\xfe", 2)}, []string{"x\uFFFD"}, 0},
		{"all gone", nil, nil, 0},
	} {
		src.set(tc.peers...)
		got := gather(t, c).series()
		check(t, got, map[string]float64{"assay_peers_omitted": tc.omitted})
		shown := make(map[string]bool)
		for series := range got {
			if _, rest, ok := strings.Cut(series, `peer="`); ok {
				shown[strings.TrimSuffix(rest, `"}`)] = true
			}
		}
		if names := slices.Sorted(maps.Keys(shown)); !slices.Equal(names, tc.shown) {
			t.Errorf("%s: shown %q, want %q", tc.name, names, tc.shown)
		}
	}
}

// TestPerPeerCounters follows one name: two connections, one of which leaves,
// then a time beyond the cap, then the other leaves too and it comes anew.
func TestPerPeerCounters(t *testing.T) {
	one, two, three := new(mux.Meter), new(mux.Meter), new(mux.Meter)
	conn := func(m *mux.Meter, at time.Duration, n uint64) Peer {
		return Peer{Name: "a", Meter: m, Snapshot: counting(at, n)}
	}
	const series = `assay_peer_received_payload_bytes_total{counted="yes",peer="a"}`
	src := new(crowd)
	c := NewCollector(src, WithPerPeer(1))
	for _, s := range []struct {
		name  string
		peers []Peer
		want  float64 // less than 0 is none
	}{
		{"one", []Peer{conn(one, 1, 10)}, 10},
		{"and a second", []Peer{conn(one, 2, 11), conn(two, 1, 100)}, 111},
		{"the first leaves", []Peer{conn(two, 2, 101)}, 112},
		{"beyond the cap", []Peer{conn(two, 3, 102), rated("faster", 1)}, -1},
		{"back again", []Peer{conn(two, 4, 103)}, 114},
		{"gone", nil, -1},
		{"and anew", []Peer{conn(three, 1, 5)}, 5},
	} {
		src.set(s.peers...)
		got, ok := gather(t, c).series()[series]
		if !ok {
			got = -1
		}
		if got != s.want {
			t.Errorf("%s: %v, want %v", s.name, got, s.want)
		}
	}
}
