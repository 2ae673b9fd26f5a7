package ranking

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
)

// crowd is a ranker with n peers of groups of five, all of which have served a few fetches.
func crowd(b testing.TB, n, fetches int) (*Ranker, []Conn) {
	cfg := DefaultConfig()
	cfg.MaxPeers = max(cfg.MaxPeers, n)
	r, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	conns := make([]Conn, n)
	for i := range conns {
		g := &gauge{}
		g.reading = burst.Reading{
			BaseRTT: time.Duration(5+i%200) * ms, P95RTT: time.Duration(8+i%200) * ms, EchoAge: 10 * ms,
			Estimation: burst.Estimation{Rate: burst.SecondsPerByte(1e-8 * float64(1+i%97)), Coverage: 4e6, Bursts: 3},
		}
		if conns[i], err = r.Join(0, Peer{ID: fmt.Sprint("peer ", i), Addr: in(i/5, i%5), Meter: g}); err != nil {
			b.Fatal(err)
		}
	}
	for k := range fetches {
		for i := range conns {
			observeOne(b, r, time.Duration(k*n+i)*ms, conns[i], 1<<uint(14+2*(k%5)))
		}
	}
	return r, conns
}

// observeOne is a whole fetch from one peer.
func observeOne(b testing.TB, r *Ranker, now time.Duration, c Conn, n int64) {
	p := benchPlan(r, now, c, n)
	f, err := r.Begin(now, p)
	if err != nil {
		b.Fatal(err)
	}
	took := p.Primary.claim.Total
	f.Progress(now+took/8, int(n/2))
	f.Progress(now+took, int(n-n/2))
	f.Done(now+took, 0)
}

func benchPlan(r *Ranker, now time.Duration, c Conn, n int64) Plan {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.conns[c].peer
	pick := r.pick(now, candidate{p: p, expectation: r.expect(p, n, now)}, Primary, 0, n)
	return Plan{Size: Size{Bytes: n}, Primary: pick}
}

// The bar: the best 20 of 10,000 peers in at most 200 microseconds.
func BenchmarkRank20Of10000(b *testing.B) {
	r, _ := crowd(b, 10_000, 3)
	now := time.Hour
	b.ReportAllocs()
	var cpu stopwatch
	cpu.start()
	for b.Loop() {
		now += 10 * ms
		if len(r.Rank(now, 4e6, 20)) != 20 {
			b.Fatal("not 20")
		}
	}
	cpu.stop()
	cpu.report(b)
}

// A choice among 10,000 peers, while fetches go on.
func BenchmarkChooseOf10000(b *testing.B) {
	r, conns := crowd(b, 10_000, 3)
	now, i := time.Hour, 0
	b.ReportAllocs()
	var cpu stopwatch
	for b.Loop() {
		cpu.start()
		now += 10 * ms
		if _, err := r.Choose(now, Query{Size: int64(1) << (16 + i%6)}); err != nil {
			b.Fatal(err)
		}
		cpu.stop()
		b.StopTimer()
		i++
		observeOne(b, r, now, conns[(i*7919)%len(conns)], 1<<18)
		b.StartTimer()
	}
	cpu.report(b)
}

// A choice among 200 holders of a datum, of 10,000 peers.
func BenchmarkChooseOf200Holders(b *testing.B) {
	r, _ := crowd(b, 10_000, 3)
	for i := range 200 {
		if err := r.Offer(0, fmt.Sprint("peer ", i*50), "datum", Size{Bytes: 4e6}); err != nil {
			b.Fatal(err)
		}
	}
	now := time.Hour
	b.ReportAllocs()
	var cpu stopwatch
	cpu.start()
	for b.Loop() {
		now += 10 * ms
		if _, err := r.Choose(now, Query{Datum: "datum"}); err != nil {
			b.Fatal(err)
		}
	}
	cpu.stop()
	cpu.report(b)
}

// The bar: observing a completion, audit and all, in at most 2 microseconds.
func BenchmarkObserve(b *testing.B) {
	for _, n := range []int{50, 1000} {
		b.Run(fmt.Sprint("peers=", n), func(b *testing.B) { benchObserve(b, n) })
	}
}

func benchObserve(b *testing.B, n int) {
	r, conns := crowd(b, n, 30)
	now := 10 * time.Hour
	// One of each peer, so that none waits for another of ours; and no more at a time than a node has
	// under way, for the last bytes of a real fetch come right before its end.
	fetches := make([]*Fetch, 0, 50)
	var spent time.Duration // on the ends alone: stopping b's timer for each batch would cost a tenth of them
	ends, i := 0, 0
	for b.Loop() {
		for range cap(fetches) {
			i++
			now += ms
			p := benchPlan(r, now, conns[(i*7919)%len(conns)], 1<<18)
			f, err := r.Begin(now, p)
			if err != nil {
				b.Fatal(err)
			}
			f.Progress(now+ms, 1<<17)
			now += p.Primary.claim.Total
			f.Progress(now, 1<<17)
			f.Received(now)
			fetches = append(fetches, f)
		}
		began := time.Now()
		for _, f := range fetches {
			f.Done(f.receivedAt, 0)
		}
		spent += time.Since(began)
		ends += len(fetches)
		fetches = fetches[:0]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(spent.Nanoseconds())/float64(ends), "ns/completion")
}

// A whole fetch: begin, two reads, done.
func BenchmarkFetch(b *testing.B) {
	r, conns := crowd(b, 2_000, 10)
	now, i := time.Hour, 0
	p := benchPlan(r, now, conns[0], 1<<18)
	b.ReportAllocs()
	var cpu stopwatch
	cpu.start()
	for b.Loop() {
		i++
		now += ms
		p.Primary.Peer, p.Primary.Conn = fmt.Sprint("peer ", i%2000), conns[i%2000]
		f, err := r.Begin(now, p)
		if err != nil {
			b.Fatal(err)
		}
		f.Progress(now+ms, 1<<17)
		f.Progress(now+2*ms, 1<<17)
		f.Done(now+2*ms, 0)
	}
	cpu.stop()
	cpu.report(b)
}

func BenchmarkProgress(b *testing.B) {
	r, conns := crowd(b, 10, 3)
	f, err := r.Begin(0, benchPlan(r, 0, conns[0], 1<<40))
	if err != nil {
		b.Fatal(err)
	}
	now := time.Duration(0)
	b.ReportAllocs()
	var cpu stopwatch
	cpu.start()
	for b.Loop() {
		now += ms
		f.Progress(now, 16<<10)
	}
	cpu.stop()
	cpu.report(b)
}

// The bar: at most 32 KiB a peer, digests and all. Peers that have served in every class of size are
// the largest there are.
func BenchmarkMemoryPerPeer(b *testing.B) {
	const n = 2000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, _ := crowd(b, n, 40)
		for _, size := range []int64{1e4, 1e5, 1e6, 1e7} {
			r.Rank(time.Hour, size, 20)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/peer")
		runtime.KeepAlive(r)
	}
}
