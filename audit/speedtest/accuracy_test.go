package speedtest

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
)

// whole runs all of the grid of TestAccuracy, which moves some 20 GB: make
// speedtest-accuracy.
var whole = flag.Bool("whole", false, "run all of TestAccuracy, not a sample")

const (
	runs     = 100
	wantNear = 0.95 // of them
	nearness = 0.05
	// sampled is what a run of the sample may move, in bytes.
	sampled = 25e6 / heavy
)

// unraced skips what only figures come of, and takes minutes with the race
// detector: the same code runs in other tests.
func unraced(t *testing.T) {
	t.Helper()
	if heavy > 1 {
		t.Skip("too slow with the race detector")
	}
}

// trial is one test of a link whose rate is known.
type trial struct {
	rate  lab.BitRate
	rtt   time.Duration
	way   message.Way
	prior float64 // as a multiple of the truth
}

func (c trial) String() string {
	return fmt.Sprintf("%6.1f Mbit/s, %3d ms, %v, prior %.1f", float64(c.rate/lab.Mbit), c.rtt.Milliseconds(), c.way, c.prior)
}

func (c trial) length() time.Duration {
	if c.rate > 100*lab.Mbit {
		return 8 * time.Second
	}
	return 20 * time.Second
}

// trials are drawn log-uniformly: 1 Mbit/s to 1 Gbit/s, 5 to 268 ms, and a prior
// from a third of the truth to three times it.
func trials() []trial {
	rng := rand.New(rand.NewPCG(5, 2))
	between := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	out := make([]trial, runs)
	for i := range out {
		out[i] = trial{
			rate: lab.BitRate(between(1, 1000)) * lab.Mbit, rtt: time.Duration(between(5, 268) * float64(time.Millisecond)),
			way: message.Way(i % 2), prior: between(1/3., 3),
		}
	}
	return out
}

// measure runs a trial.
func (c trial) measure(t *testing.T, change func(*Config)) (r Run) {
	t.Helper()
	bubble.Run(t, func(t *testing.T) {
		g := newTarget(t, ResponderConfig{Policy: free()})
		defer g.stop()
		near := g.connect(lab.Link{Rate: c.rate, OneWay: c.rtt / 2, SlowStart: true}, us)
		cfg := Config{Near: near, Ways: []message.Way{c.way}, Length: c.length(), Prior: c.prior * float64(c.rate) / 8}
		if change != nil {
			change(&cfg)
		}
		res, err := Measure(t.Context(), cfg)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		r = res.Runs[0]
	})
	return r
}

// TestAccuracy: against a link of a known rate, at least 95 % of runs are within
// 5 %, and none that is not says that it is right.
func TestAccuracy(t *testing.T) {
	near, n := 0, 0
	for _, c := range trials() {
		if !*whole && float64(c.rate)/8*c.length().Seconds() > sampled {
			continue
		}
		r := c.measure(t, nil)
		e := off(r.Flow.Median, float64(c.rate)/8)
		n++
		if math.Abs(e) <= nearness {
			near++
		} else if !r.LowerBound {
			t.Errorf("%v: %+.1f %%, and claims to be limited by the peer: %+v", c, 100*e, r)
		}
		t.Logf("%v: %+.2f %% by %s, %d streams, doubled %d times", c, 100*e, r.LimitedBy, r.Streams, r.Doublings)
	}
	t.Logf("%d of %d within %.0f %%", near, n, 100*nearness)
	if *whole && n != runs || n < 20/heavy {
		t.Errorf("%d trials", n)
	}
	if float64(near) < wantNear*float64(n) {
		t.Errorf("%d of %d within %.0f %%, want %.0f %%", near, n, 100*nearness, 100*wantNear)
	}
}

// TestLimitedRunsSaySo: where something else than the target is the limit the run
// names it, and claims a lower bound.
func TestLimitedRunsSaySo(t *testing.T) {
	unraced(t)
	c := trial{rate: 100 * lab.Mbit, rtt: 100 * time.Millisecond, prior: 1}
	short := func(cfg *Config) { cfg.Length = 6 * time.Second }
	for name, tt := range map[string]struct {
		change func(*Config)
		want   report.Limit
		rate   float64 // at most, in bytes per second
	}{
		// two streams of 256 KiB over 100 ms: 5 MB/s
		"window":             {func(cfg *Config) { short(cfg); cfg.Streams, cfg.MaxStreams = 2, 2 }, report.ByWindow, 5.3e6},
		"our rate":           {func(cfg *Config) { short(cfg); cfg.Rate = 2e6 }, report.ByOurCap, 2.1e6},
		"our bytes":          {func(cfg *Config) { short(cfg); cfg.Bytes = 20e6 }, report.ByOurCap, 12.5e6},
		"nothing but itself": {short, report.ByPeer, 12.5e6},
	} {
		for _, way := range []message.Way{message.FromTarget, message.ToTarget} {
			c.way = way
			r := c.measure(t, tt.change)
			if r.LimitedBy != tt.want || r.LowerBound != (tt.want != report.ByPeer) || r.Flow.Median > tt.rate || r.Flow.Median == 0 {
				t.Errorf("%s, %v: %+v", name, way, r)
			}
		}
	}
}

// TestTooFewStreamsAreDoubled: a prior a hundred times too low.
func TestTooFewStreamsAreDoubled(t *testing.T) {
	unraced(t)
	c := trial{rate: 200 * lab.Mbit, rtt: 100 * time.Millisecond, prior: 0.01, way: message.FromTarget}
	r := c.measure(t, func(cfg *Config) { cfg.Length = 10 * time.Second })
	if e := off(r.Flow.Median, 25e6); r.Doublings == 0 || r.LowerBound || math.Abs(e) > nearness {
		t.Errorf("%+.1f %%: %+v", 100*e, r)
	}
}

// TestTooFewStreamsAtTheEnd: where the windows turn out to be the limit after the
// rates count, the run is made again.
func TestTooFewStreamsAtTheEnd(t *testing.T) {
	unraced(t)
	c := trial{rate: 113 * lab.Mbit, rtt: 172 * time.Millisecond, prior: 0.4, way: message.FromTarget}
	r := c.measure(t, func(cfg *Config) { cfg.Length, cfg.Omit = 8*time.Second, 1500*time.Millisecond })
	if e := off(r.Flow.Median, float64(c.rate)/8); r.Doublings != 1 || r.LowerBound || math.Abs(e) > nearness {
		t.Errorf("%+.1f %%: %+v", 100*e, r)
	}
}
