package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// crowd returns records of a population at random: three sizes, a round trip for each peer, four
// peers a group, log-normal residuals.
func crowd(peers, records int) []Record {
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]string, peers)
	groups := make([]string, peers)
	for i := range names {
		names[i], groups[i] = fmt.Sprint("peer ", i), fmt.Sprint("group ", i/4)
	}
	out := make([]Record, records)
	for i := range out {
		p := rng.IntN(peers)
		r := plain(names[p], groups[p], 0.1*math.Exp(0.6*rng.NormFloat64()))
		r.BaseRTT = 5 * time.Millisecond << (p % 6)
		r.Size = int64(64<<10) << (4 * rng.IntN(3))
		r.TTFB = r.BaseRTT
		out[i] = r
	}
	return out
}

// BenchmarkObserve is a fetch of one of 10,000 peers, amortised over the baseline that it builds.
func BenchmarkObserve(b *testing.B) {
	records := crowd(10_000, 1<<18)
	a := New(DefaultConfig())
	var now time.Duration
	for range 4 {
		for i := range records {
			now += 20 * time.Millisecond
			a.Observe(now, records[i])
		}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		now += 20 * time.Millisecond
		a.Observe(now, records[i%len(records)])
		i++
	}
}

// BenchmarkVerdict is what a ranker pays to look a verdict up.
func BenchmarkVerdict(b *testing.B) {
	a := New(DefaultConfig())
	for _, r := range crowd(1000, 10_000) {
		a.Observe(0, r)
	}
	b.ReportAllocs()
	for b.Loop() {
		a.Verdict("peer 7")
	}
}

// BenchmarkReason is what it costs to put a verdict into words.
func BenchmarkReason(b *testing.B) {
	a := New(DefaultConfig())
	for range 8 {
		a.Observe(0, plain("p", "g", 1.2))
	}
	v := a.Verdict("p")
	for b.Loop() {
		_ = v.Reason()
	}
}

// BenchmarkMemory reports the heap of a peer: of 10,000 after 26 fetches each and a change of
// generation, and of some that fill every stratum they may, each alone in its group.
func BenchmarkMemory(b *testing.B) {
	b.Run("typical", func(b *testing.B) {
		records := crowd(10_000, 1<<18)
		for b.Loop() {
			before := heap()
			a := New(DefaultConfig())
			for i := range records {
				a.Observe(time.Duration(i)*500*time.Millisecond, records[i])
			}
			b.ReportMetric(float64(heap()-before)/10_000, "B/peer")
			runtime.KeepAlive(a)
		}
	})
	b.Run("most", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(most(1000), "B/peer")
		}
	})
}

// most returns the heap of one of n peers that take as much as they can.
func most(n int) float64 {
	before := heap()
	a := New(DefaultConfig())
	for day := range 2 {
		for i := range n {
			for j := range maxCells + 1 {
				r := plain(fmt.Sprint("peer ", i), fmt.Sprint("group ", i), 0.1)
				// All eight sizes over two distant paths, and more.
				r.Size, r.BaseRTT, r.Coverage = sizeFloor(j%8), rttFloor(j/8*3), 1<<40
				observeAll(a, time.Duration(day)*a.cfg.Span, r, 100)
			}
		}
	}
	after := heap()
	runtime.KeepAlive(a)
	return float64(after-before) / float64(n)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
