package passive

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// oracle remembers every second, and computes everything anew when asked.
type oracle struct {
	cfg         Config
	age, newest time.Duration
	seconds     map[int64]int64
}

func (o *oracle) add(at time.Duration, n int64) {
	if at > o.newest {
		o.age += at - o.newest
		o.newest = at
	} else if at < o.newest-time.Second {
		o.newest = at
	}
	o.seconds[int64(o.age/time.Second)] += n
}

// best is the best run of seconds that ended in a second from first on, and is over.
func (o *oracle) best(first int64) int64 {
	now, k := int64(o.age/time.Second), int64(o.cfg.Best/time.Second)
	var most int64
	for began := range o.seconds {
		for end := began; end < began+k; end++ { // only these runs have it in them
			if end < max(first, 0) || end >= now {
				continue
			}
			var sum int64
			for s := end - k + 1; s <= end; s++ {
				sum += o.seconds[s]
			}
			most = max(most, sum)
		}
	}
	return most / k
}

func (o *oracle) bytesSince(first int64) float64 {
	var sum int64
	for s, n := range o.seconds {
		if s >= first && s < int64(o.age/time.Second) {
			sum += n
		}
	}
	return float64(sum)
}

func drawConfig(t *rapid.T) Config {
	k := rapid.IntRange(1, 12).Draw(t, "best")
	bucket := rapid.IntRange(k, 3*k).Draw(t, "bucket")
	buckets := rapid.IntRange(1, 8).Draw(t, "buckets")
	return Config{
		Best: time.Duration(k) * time.Second, Buckets: buckets,
		Window: time.Duration(bucket*buckets) * time.Second,
	}
}

// drawStep is the time to the next reads: mostly short, at times to the edges of the ring, a bucket or
// the window, at times back.
func drawStep(t *rapid.T, cfg Config) time.Duration {
	edge := rapid.SampledFrom([]time.Duration{0, cfg.Best, cfg.bucket(), cfg.Window}).Draw(t, "edge")
	near := time.Duration(rapid.IntRange(-2000, 2000).Draw(t, "ms")) * time.Millisecond
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return edge + near
	case 1:
		return time.Duration(rapid.IntRange(-100, 300).Draw(t, "jump")) * time.Second
	default:
		return near.Abs()
	}
}

func TestAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawConfig(t)
		at := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "base"))
		m := newMeter(t, cfg, at)
		var os [kinds]oracle
		for i := range os {
			os[i] = oracle{cfg: cfg, newest: at, seconds: map[int64]int64{}}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at += drawStep(t, cfg)
			tr := Traffic{
				Read:    rapid.Int64Range(0, 1000).Draw(t, "read"),
				Written: rapid.Int64Range(0, 1000).Draw(t, "written"),
				Test:    rapid.Bool().Draw(t, "test"),
			}
			m.Add(at, tr)
			ordinary := Traffic{Read: tr.Read, Written: tr.Written}
			if tr.Test {
				ordinary = Traffic{}
			}
			for i, n := range [kinds]int64{tr.Read, tr.Written, ordinary.Read, ordinary.Written} {
				os[i].add(at, n)
			}
			compare(t, m, &os, at)
		}
	})
}

// compare holds the meter against the oracles: exactly, by buckets, and by the sliding window that the
// buckets stand for.
func compare(t *rapid.T, m *Meter, os *[kinds]oracle, at time.Duration) {
	cfg := m.cfg
	bucket := int64(cfg.bucket() / time.Second)
	now := int64(os[0].age / time.Second)
	first := (now/bucket - int64(cfg.Buckets)) * bucket
	window := int64(cfg.Window / time.Second)
	f := m.Figures(at)
	got := [kinds]int64{f.Read, f.Written}
	got[readOrdinary], got[writtenOrdinary] = m.series[readOrdinary].rate(), m.series[writtenOrdinary].rate()
	for i := range os {
		if want := os[i].best(first); got[i] != want {
			t.Fatalf("series %d at %v: %d, want %d", i, at, got[i], want)
		}
		if low, high := os[i].best(now-window), os[i].best(now-window-bucket); got[i] < low || got[i] > high {
			t.Fatalf("series %d at %v: %d, the sliding window says %d to %d", i, at, got[i], low, high)
		}
	}
	if f.Observed != min(got[0], got[1]) || f.ObservedWithoutTests != min(got[2], got[3]) {
		t.Fatalf("%+v is not the smaller of %v", f, got)
	}
	if since := max(first, 0); now > since {
		r, w := m.MeanGoodput(at)
		seconds := float64(now - since)
		if math.Abs(r-os[read].bytesSince(since)/seconds) > 1e-9 || math.Abs(w-os[written].bytesSince(since)/seconds) > 1e-9 {
			t.Fatalf("mean %g, %g", r, w)
		}
	}
}

// Asking changes nothing, and neither does cutting traffic into smaller reads.
func TestAskingAndCutting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawConfig(t)
		whole, cut := newMeter(t, cfg, 0), newMeter(t, cfg, 0)
		at := time.Duration(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			at += drawStep(t, cfg).Abs()
			n := rapid.Int64Range(0, 1000).Draw(t, "n")
			whole.Add(at, Traffic{Read: n, Written: n})
			part := rapid.Int64Range(0, n).Draw(t, "part")
			cut.Add(at, Traffic{Read: part, Written: n})
			cut.Figures(at)
			cut.Add(at, Traffic{Read: n - part})
		}
		if a, b := whole.Figures(at+cfg.Best), cut.Figures(at+cfg.Best); a != b {
			t.Fatalf("%+v whole, %+v cut", a, b)
		}
	})
}
