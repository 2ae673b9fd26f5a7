package metrics

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cookie"
	"github.com/assay-mux/assay/mux"
)

// crowd is a Source whose peers a test sets.
type crowd struct {
	mu    sync.Mutex
	peers []Peer
}

func (c *crowd) Peers() []Peer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.peers)
}

func (c *crowd) set(peers ...Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peers = peers
}

// ordering is a crowd that says whether it is in order.
type ordering struct {
	crowd
	best bool
}

func (r *ordering) Ranked() bool { return r.best }

// gather scrapes through a pedantic registry, which checks the collector's
// contract: what is collected was described, is consistent and unique.
func gather(t testing.TB, c prometheus.Collector) families {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(c); err != nil {
		t.Fatal(err)
	}
	got, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

type families []*dto.MetricFamily

// series flattens counters and gauges to name{label="value"} and value.
func (f families) series() map[string]float64 {
	all := make(map[string]float64)
	for _, mf := range f {
		for _, m := range mf.GetMetric() {
			var pairs []string
			for _, l := range m.GetLabel() {
				pairs = append(pairs, l.GetName()+`="`+l.GetValue()+`"`)
			}
			name := mf.GetName()
			if len(pairs) > 0 {
				name += "{" + strings.Join(pairs, ",") + "}"
			}
			switch {
			case m.Counter != nil:
				all[name] = m.GetCounter().GetValue()
			case m.Gauge != nil:
				all[name] = m.GetGauge().GetValue()
			case m.Histogram != nil:
				all[name+"_count"] = float64(m.GetHistogram().GetSampleCount())
				all[name+"_sum"] = m.GetHistogram().GetSampleSum()
			}
		}
	}
	return all
}

// check compares some series. Sums of seconds are floats, hence the tolerance.
func check(t *testing.T, got map[string]float64, want map[string]float64) {
	t.Helper()
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			t.Errorf("%s is missing, want %v", name, w)
		} else if math.Abs(g-w) > 1e-9*max(1, math.Abs(w)) {
			t.Errorf("%s = %v, want %v", name, g, w)
		}
	}
}

// absent reports series that should not be there.
func absent(t *testing.T, got map[string]float64, names ...string) {
	t.Helper()
	for _, name := range names {
		if v, ok := got[name]; ok {
			t.Errorf("%s = %v, want none", name, v)
		}
	}
}

// counting is a snapshot in which n payload bytes have come.
func counting(at time.Duration, n uint64) mux.Snapshot {
	return mux.Snapshot{At: at, Counts: mux.Counts{PayloadIn: n}}
}

// rated is a peer with a rate.
func rated(name string, bytesPerSecond float64) Peer {
	p := Peer{Name: name}
	if bytesPerSecond > 0 {
		p.Snapshot.Estimate.Rate = burst.SecondsPerByte(1 / bytesPerSecond)
	}
	return p
}

// full is a snapshot in which each field has a value of its own.
func full() mux.Snapshot {
	return mux.Snapshot{
		At: 100 * time.Second,
		RTT: mux.RTT{
			Base: 40 * time.Millisecond, Confirmed: true,
			P50: 45 * time.Millisecond, P95: 60 * time.Millisecond,
			LoadedP50: 150 * time.Millisecond, LoadedP95: 250 * time.Millisecond,
			Samples: 101, LoadedSamples: 102, Censored: 103,
		},
		Estimate: burst.Estimation{
			Rate: 1.0 / (4 << 20), StandardError: 0.0625 / (4 << 20), UpperBound: 1.0 / (2 << 20),
			Coverage: 12_000_000, Bursts: 104,
		},
		Burst: burst.State{
			Gate: burst.Open, Opened: 80 * time.Second, Last: 98 * time.Second, Deadline: 99 * time.Second,
			Bytes: 105, Covered: 106, Fetches: 2, Cold: true,
			Tight: 1500 * time.Millisecond, Ours: 2500 * time.Millisecond, Peers: 3500 * time.Millisecond, Waiting: 4500 * time.Millisecond,
			Bursts: [burst.Reasons]uint64{burst.Horizon: 107, burst.Exchange: 108, burst.FetchEnd: 109, burst.Closed: 110},
		},
		Gaps:    mux.Gaps{Credit: 250 * time.Millisecond, Absent: 500 * time.Millisecond, Frozen: 750 * time.Millisecond},
		Fetches: 2, Outstanding: 3, FrontAge: 20 * time.Millisecond, EchoAge: 5 * time.Second,
		Cookies: cookie.Counts{Issued: 111, Echoed: 112, Skipped: 113, Withdrawn: 114, Late: 115, Replayed: 116, Forged: 117},
		Counts: mux.Counts{
			FramesIn: 118, FramesOut: 119, BytesIn: 120, BytesOut: 121, PayloadIn: 122, UncountedIn: 123,
			Reads: 124, Writes: 125, Splits: 126, Cuts: 134, LoneCookies: 127, EchoesStripped: 128, ForeignEchoes: 129,
			Resets: 130, LateBytes: 131, TransparentIn: true, TransparentOut: true,
		},
		Kernel: mux.Kernel{
			At: 95 * time.Second, RTT: 42 * time.Millisecond, MinRTT: 41 * time.Millisecond, AckAge: time.Second,
			OutOfOrder: 132, ReorderingSeen: 133,
		},
	}
}

// written is a metric as it goes on the wire.
func written(t interface{ Fatal(...any) }, m prometheus.Metric) *dto.Metric {
	out := new(dto.Metric)
	if err := m.Write(out); err != nil {
		t.Fatal(err)
	}
	return out
}
