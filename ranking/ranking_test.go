package ranking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// mixed are honest peers of all kinds: Mbit/s and ms.
var mixed = [][2]float64{
	{100, 20}, {60, 30}, {40, 15}, {20, 25}, {10, 40}, {5, 60}, {1000, 150}, {200, 268}, {30, 5}, {2, 20},
}

func truth(a *actor, n int64) time.Duration { return Predict(n, a.path()).Total }

// Honest peers rank by what they truly deliver, for each size.
func TestHonestPeersRankByDelivery(t *testing.T) {
	for _, size := range []int64{16e3, 64e3, 512e3, 4e6, 12e6} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			w := newWorld(t)
			peers := w.honestPeers(mixed...)
			for range 5 {
				for _, a := range peers {
					w.from(a, size)
				}
			}
			ranks := w.ranks(size)
			for _, a := range peers {
				for _, b := range peers {
					if float64(truth(a, size))*1.15 < float64(truth(b, size)) && ranks[a.id] > ranks[b.id] {
						t.Errorf("%s takes %v and ranks behind %s with %v", a.id, truth(a, size), b.id, truth(b, size))
					}
				}
			}
		})
	}
}

// What was learnt at one size carries over to another, as far as it can be known.
func TestSizesAreMadeComparable(t *testing.T) {
	w := newWorld(t)
	small := w.add(&actor{id: "small", addr: in(1, 1), rate: 20e6 / 8, rtt: 40 * ms})
	large := w.add(&actor{id: "large", addr: in(2, 1), rate: 20e6 / 8, rtt: 40 * ms})
	for range 6 {
		w.from(small, 5e3)
		w.from(large, 5e6)
	}
	for _, n := range []int64{1e3, 5e3, 20e3} {
		a, b := w.expect(small, n).Seconds(), w.expect(large, n).Seconds()
		if a/b > 1.2 || b/a > 1.2 {
			t.Errorf("%d bytes: %.3f s of one that served small data, %.3f s of its equal that served large", n, a, b)
		}
	}
	// The other way there is too little to go by: small data say nothing of a slow tail.
	if a, b := w.expect(small, 5e6), w.expect(large, 5e6); a < b {
		t.Errorf("5 kB replies make 5 MB %v, sooner than the %v of their equal that served them", a, b)
	}
}

// A seed cast: everyone who is bad ends below everyone honest who is truly faster, and is chosen no
// more than a trial needs.
func TestCast(t *testing.T) {
	w := newWorld(t)
	good := w.honestPeers([2]float64{50, 20}, [2]float64{45, 30}, [2]float64{48, 25}, [2]float64{8, 40}, [2]float64{80, 200})
	line := 100e6 / 8.0
	bad := []*actor{
		{id: "pacer", answer: slowed(40), vetted: func(int64) int64 { return 50e3 }},
		{id: "padder", answer: slowed(5), reads: line},
		{id: "halfer", answer: slowed(12), reads: line},
		{id: "loris", answer: slowed(300)},
		{id: "failing", answer: failing(Reset), reads: line},
		{id: "not-found", answer: failing(NotFound), reads: line},
		{id: "stalling", answer: stalling(0.999), reads: line},
		{id: "holder", holds: 400 * ms, answer: slowed(6)},
	}
	for i, a := range bad {
		a.addr, a.rate, a.rtt = in(200+i, 1), line, 15*ms
		w.add(a)
	}
	const size = 4e6
	picks := map[string]int{}
	const fetches = 400
	for range fetches {
		w.now += 2 * time.Second
		res := w.fetch(size)
		if !res.ok {
			t.Fatalf("a fetch never came, from %s: %v", res.plan.Primary.Peer, res.advices)
		}
		picks[res.plan.Primary.Peer]++
	}
	ranks := w.ranks(size)
	for _, b := range bad {
		if picks[b.id] > fetches/50 {
			t.Errorf("%s was chosen %d times of %d", b.id, picks[b.id], fetches)
		}
		for _, a := range good {
			if a.picks > 2 && ranks[b.id] < ranks[a.id] {
				t.Errorf("%s ranks %d, before %s with %d", b.id, ranks[b.id], a.id, ranks[a.id])
			}
		}
	}
	for _, a := range good {
		if v := w.r.peers[a.id].verdict; v.Kind.Punitive() {
			t.Errorf("%s: %s", a.id, v)
		}
	}
}

// After five fetches from each peer, what users wait is near to what an oracle's choice would cost.
func TestRegret(t *testing.T) {
	for _, size := range []int64{64e3, 4e6, 12e6} {
		w := newWorld(t)
		peers := w.honestPeers(mixed...)
		for range 5 {
			for _, a := range peers {
				w.from(a, size)
			}
		}
		best := truth(peers[0], size)
		for _, a := range peers {
			best = min(best, truth(a, size))
		}
		var sum time.Duration
		const n = 200
		for range n {
			w.now += time.Second
			sum += w.fetch(size).took
		}
		if mean := sum / n; float64(mean) > 1.07*float64(best) { // 2 % of it is the simulation's own noise
			t.Errorf("%d bytes: %v on average, %v at best", size, mean, best)
		}
	}
}

// tailed serves with noise, and in so many of all cases with a spike, as disks and queues do.
func tailed(spikes float64) func(*actor, int64, *rand.Rand) reply {
	return func(a *actor, n int64, rng *rand.Rand) reply {
		t := Predict(n, a.warm()).Total
		f := 1 + 0.1*math.Exp(0.6*rng.NormFloat64())
		if rng.Float64() < spikes {
			f += 0.8 * math.Exp(rng.NormFloat64())
		}
		return reply{first: a.rtt, last: time.Duration(float64(t) * f)}
	}
}

// Accidents do not keep the best peer out of use: with heavy tails, choices are near to those of an
// oracle that knows which peer is the best on average.
func TestRegretWithHeavyTails(t *testing.T) {
	for _, gap := range []float64{0.95, 0.8, 0.5} {
		w := newWorld(t)
		rate := 1e7
		for i := range 8 {
			w.add(&actor{id: fmt.Sprint("peer ", i), addr: in(i, 1), rate: rate, rtt: 20 * ms, answer: tailed(0.01)})
			rate *= gap
		}
		for range 5 {
			for _, a := range w.order {
				w.from(a, 4e6)
			}
		}
		var sum time.Duration
		const n = 1500
		for range n {
			w.now += 2 * time.Second
			sum += w.fetch(4e6).took
		}
		var oracle time.Duration
		for range 20 * n {
			oracle += w.order[0].answer(w.order[0], 4e6, w.rng).last / 20
		}
		if d := float64(sum) / float64(oracle); d > 1.05 {
			t.Errorf("each peer %v of the one before: %.3f times the oracle's time", gap, d)
		}
	}
}

// One that is faster than all others and withholds some fetches is chosen no more than it deserves,
// far below what would convict it.
func TestOccasionalWithholders(t *testing.T) {
	for _, c := range []struct{ share, by, faster, most float64 }{
		{0.5, 5, 2, 0.05}, {0.3, 5, 1.3, 0.05}, {0.3, 10, 2, 0.1}, {0.1, 10, 1.3, 0.15},
	} {
		w := newWorld(t)
		for i := range 5 {
			w.add(&actor{id: fmt.Sprint("peer ", i), addr: in(i, 1), rate: 1e7, rtt: 20 * ms, answer: tailed(0.01)})
		}
		bad := w.add(&actor{id: "bad", addr: in(90, 1), rate: 1e7 * c.faster, rtt: 20 * ms, reads: 1e7 * c.faster})
		bad.answer = func(a *actor, n int64, rng *rand.Rand) reply {
			r := tailed(0.01)(a, n, rng)
			if rng.Float64() < c.share {
				r.last = time.Duration(float64(r.last) * c.by)
			}
			return r
		}
		for range 5 {
			for _, a := range w.order {
				w.from(a, 4e6)
			}
		}
		picks := 0
		const n = 1000
		for range n {
			w.now += 2 * time.Second
			if w.fetch(4e6).plan.Primary.Peer == "bad" {
				picks++
			}
		}
		if float64(picks)/n > c.most {
			t.Errorf("%+v: %d of %d", c, picks, n)
		}
	}
}
