package ranking

import (
	"fmt"
	"testing"
	"time"
)

// A hedge that stalls as well is no help: the next is asked, so that a fetch gets past several that
// stall together.
func TestHedgesThatStallAreHedged(t *testing.T) {
	w := served(t, 3, 4e6)
	bad := map[string]bool{}
	for i := range 3 {
		a := w.add(&actor{id: fmt.Sprint("bad ", i), addr: in(60+i, 1), rate: 1.2e7, rtt: 20 * ms})
		bad[a.id] = true
		for range 4 {
			w.from(a, 4e6)
		}
		a.answer = stalling(0.1)
	}
	w.now += time.Minute
	res := w.fetch(4e6)
	if !bad[res.plan.Primary.Peer] {
		t.Fatalf("chosen: %s", res.plan.Primary.Peer)
	}
	if !res.ok || bad[res.from] || res.hedges < 1 {
		t.Fatalf("%+v", res)
	}
	// At most a stall of a second or so for each of the three, and the rest from the last.
	if most := 3*2*stallLeast + 2*truth(w.order[0], 4e6); res.took > most {
		t.Errorf("it took %v after %d hedges, %v at most", res.took, res.hedges, most)
	}
}

// One that is prompt between two that are slow says that it is not us.
func TestAPromptOneSaysItIsNotUs(t *testing.T) {
	w := served(t, 4, 1e6)
	for range 20 {
		for _, a := range w.order {
			w.from(a, 1e6)
		}
	}
	w.now += 2 * time.Hour
	for i, a := range w.order[:2] {
		a.rate = 1e5
		w.from(a, 1e6)
		if i == 0 {
			w.from(w.order[2], 1e6)
		}
	}
	if cause, held := w.r.us.held(w.now); held {
		t.Errorf("held, %v", cause)
	}
}

// Two peers that have long been clear and are slow within a minute are evidence of our own trouble where
// few groups speak; where enough do it takes three in four of them.
func TestTwoOfACoalitionHoldNothing(t *testing.T) {
	for groups, want := range map[int]bool{4: true, 14: false} {
		w := served(t, groups, 1e6)
		for range 20 {
			for _, a := range w.order {
				w.from(a, 1e6)
			}
		}
		w.now += 2 * time.Hour
		for _, a := range w.order { // all speak
			w.from(a, 1e6)
		}
		for _, a := range w.order[:2] {
			a.rate = 1e5
			w.from(a, 1e6)
		}
		if cause, held := w.r.us.held(w.now); held != want || held && cause != slowProbe {
			t.Errorf("%d groups: held %v, %v", groups, held, cause)
		}
		w.from(w.order[2], 1e6)
		if cause, held := w.r.us.held(w.now); held {
			t.Errorf("%d groups: held though another is prompt, %v", groups, cause)
		}
	}
}
