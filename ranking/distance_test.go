package ranking

import (
	"fmt"
	"testing"
	"time"
)

// A stranger is expected no sooner than where most are that have served, however near it is: its round
// trip says where its multiplexer is, and not that it serves. What is known to be near is.
func TestNearStrangersDoNotTopTheList(t *testing.T) {
	w := newWorld(t)
	known := w.honestPeers([2]float64{20, 40}, [2]float64{20, 40}, [2]float64{20, 40}, [2]float64{20, 40}, [2]float64{20, 40})
	for _, a := range known {
		w.from(a, 1e5)
	}
	w.now += time.Minute
	a := w.add(&actor{id: "near", addr: in(90, 1), rate: 2.5e6, rtt: ms})
	if got, others := w.expect(a, 1e4), w.expect(known[0], 1e4); got < others*9/10 {
		t.Errorf("a stranger at 1 ms is expected in %v, who have served at 40 ms in %v", got, others)
	}
	far := w.add(&actor{id: "far", addr: in(91, 1), rate: 2.5e6, rtt: 300 * ms})
	if got := w.expect(far, 1e4); got < 300*ms {
		t.Errorf("a stranger at 300 ms is expected in %v", got)
	}
	w.from(a, 1e5)
	if got := w.expect(a, 1e4); got > 20*ms {
		t.Errorf("one at 1 ms that has served is expected in %v", got)
	}
}

// While few groups have served there is nothing to hold strangers to.
func TestFewGroupsSetNoDistance(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.from(w.add(&actor{id: fmt.Sprint("far ", i), addr: in(50+i, 1), rate: 2.5e6, rtt: 300 * ms}), 1e5)
	}
	w.now += time.Minute
	a := w.add(&actor{id: "near", addr: in(90, 1), rate: 2.5e6, rtt: ms})
	if got := w.expect(a, 1e4); got > 100*ms {
		t.Errorf("a stranger at 1 ms is expected in %v", got)
	}
}

// The order kept for a size follows where strangers are taken to be, which moves with who has served.
func TestTheOrderFollowsTheDistance(t *testing.T) {
	w := newWorld(t)
	for i := range 6 {
		w.from(w.add(&actor{id: fmt.Sprint("known ", i), addr: in(50+i, 1), rate: 2.5e6, rtt: 40 * ms}), 8e6)
	}
	for i := range 60 {
		w.add(&actor{id: fmt.Sprint("near ", i), addr: in(90+i, 1), rate: 2.5e6, rtt: ms})
	}
	for i := range 400 {
		w.add(&actor{id: fmt.Sprint("near too ", i), addr: in(200, i%250), rate: 2.5e6, rtt: ms})
	}
	w.now += time.Minute
	w.r.Rank(w.now, 1e4, 1)
	w.r.population.distance = 200 * ms // as when others serve that are as fast and farther: it moves alone
	for range 4 {                      // a sweep looks at so many at each use
		w.r.Rank(w.now, 1e4, 1)
	}
	x := w.r.indexOf(w.now, 1e4)
	for _, p := range w.r.slots {
		if kept, fresh := x.key[x.leaves+p.slot], w.r.keyOf(x, p.slot, w.now); kept < 0.99*fresh {
			t.Fatalf("%s is kept at %.4f s and expected in %.4f", p.id, kept, fresh)
		}
	}
}
