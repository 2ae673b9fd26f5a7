package ranking

import (
	"fmt"
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
