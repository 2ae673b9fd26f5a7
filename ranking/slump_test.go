package ranking

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// uneven is a world of n peers of distinct groups, of which the second half are half as fast.
func uneven(t *testing.T, n int) *world {
	t.Helper()
	w := newWorld(t)
	for i := range n {
		rate := 1e7
		if 2*i >= n {
			rate = 5e6
		}
		w.add(&actor{id: fmt.Sprintf("peer %02d", i), addr: in(i, 1), rate: rate, rtt: 20 * ms})
	}
	for range 4 {
		w.serve(w.order, 1e6)
	}
	return w
}

// serve has each of them serve once.
func (w *world) serve(actors []*actor, size int64) {
	for _, a := range actors {
		w.now += 5 * time.Second
		w.from(a, size)
	}
}

// throttle limits them to a rate, or lifts that.
func throttle(actors []*actor, by float64) {
	for _, a := range actors {
		a.answer = slowed(by)
	}
}

// Where all have become slower together nobody is replaced for it, however long it lasts and however
// often they serve meanwhile; and afterwards the slowest is who was the slowest before, although only
// the faster ones were asked meanwhile.
func TestNobodyIsReplacedInASlump(t *testing.T) {
	w := uneven(t, 8)
	throttle(w.order, 10)
	w.serve(w.order[:3], 1e6)
	for range 30 {
		for _, a := range w.order[:4] {
			w.serve([]*actor{a}, 1e6)
			if got := w.r.Churn(w.now); len(got) > 0 {
				t.Fatalf("%v at %v", got, w.now)
			}
		}
	}
	throttle(w.order, 1)
	w.serve(w.order[:1], 1e6)
	if w.r.slump.on {
		t.Fatal("the slump goes on")
	}
	got := names(w.r.Churn(w.now))
	if len(got) != 1 || slices.Index([]string{"peer 04", "peer 05", "peer 06", "peer 07"}, got[0]) < 0 {
		t.Errorf("%v", got)
	}
}

// Those who are slow while others are not have nothing to hide behind, of however many groups they are.
func TestACoalitionMakesNoSlump(t *testing.T) {
	w := uneven(t, 12)
	bad, good := w.order[:4], w.order[4:6] // the best, until now
	throttle(bad, 10)
	for i, a := range bad {
		w.serve([]*actor{a}, 1e6)
		if i%2 == 1 {
			w.serve(good, 1e6)
		}
	}
	if got := names(w.r.Churn(w.now)); len(got) != 2 || got[0] >= "peer 04" || got[1] >= "peer 04" {
		t.Errorf("%v", got)
	}
}

// And where nobody was asked in between, they have made one that lasts until somebody is; who of them is
// slow after that is so by itself.
func TestACoalitionsSlumpEnds(t *testing.T) {
	w := uneven(t, 12)
	bad, good := w.order[:4], w.order[4:6]
	throttle(bad, 10)
	w.serve(bad, 1e6)
	if got := w.r.Churn(w.now); len(got) > 0 || !w.r.slump.on {
		t.Fatalf("%v", got)
	}
	w.serve(good, 1e6)
	w.serve(bad[:1], 1e6)
	w.serve(good, 1e6)
	if got := names(w.r.Churn(w.now)); len(got) != 2 || got[0] != bad[0].id {
		t.Errorf("%v", got)
	}
	// Of the others what they were counts for half an hour.
	w.now += slumpFor
	for _, a := range bad[1:] {
		if w.r.peers[a.id].former.holds(w.now) {
			t.Errorf("%s is still what it was", a.id)
		}
	}
}

// A slump excuses being slow and nothing else.
func TestLiarsLeaveInASlump(t *testing.T) {
	w := uneven(t, 8)
	w.order[7].lies = 5
	w.run(w.fetchPlan(1e6), 1e6)
	throttle(w.order, 10)
	w.serve(w.order[:4], 1e6)
	if got := names(w.r.Churn(w.now)); !w.r.slump.on || len(got) != 1 || got[0] != w.order[7].id {
		t.Errorf("%v, in a slump %v", got, w.r.slump.on)
	}
}

// Neither small fetches nor those who have just come, nor their own faults, say anything.
func TestWhoSpeaksOfASlump(t *testing.T) {
	w := uneven(t, 8)
	throttle(w.order, 10)
	w.serve(w.order[:4], 1e6)
	throttle(w.order, 1)
	w.serve(w.order[:4], 2000)
	newcomer := w.add(&actor{id: "newcomer", addr: in(90, 1), rate: 1e6, rtt: 20 * ms})
	for range 5 {
		w.serve([]*actor{newcomer}, 1e6)
	}
	if !w.r.slump.on {
		t.Error("it has ended")
	}

	for how, want := range map[Failure]bool{NotFound: false, Corrupt: false, TimedOut: true, Disconnected: true} {
		w = uneven(t, 8)
		for _, a := range w.order[:4] {
			f := w.started(a, Query{Size: 1e6})
			w.now += 5 * time.Second
			f.Fail(w.now, how)
		}
		if w.r.slump.on != want {
			t.Errorf("%v of four in a row: a slump %v", how, w.r.slump.on)
		}
	}
}

// What lasts for hours is how things are.
func TestALongSlumpIsHowThingsAre(t *testing.T) {
	w := uneven(t, 8)
	throttle(w.order, 10)
	w.serve(w.order, 1e6)
	w.now += w.r.cfg.HalfWait - time.Minute
	w.serve(w.order[:1], 1e6)
	if !w.r.slump.on || len(w.r.Churn(w.now)) > 0 {
		t.Error("it has ended")
	}
	w.now += 2 * time.Minute
	for range 12 {
		w.serve(w.order, 1e6)
	}
	if w.r.slump.on || len(w.r.Churn(w.now)) == 0 {
		t.Error("it goes on")
	}
}

// Records that are forgotten are not kept for it, and it goes with the last of them.
func TestASlumpForgetsWithTheRecords(t *testing.T) {
	w := uneven(t, 8)
	throttle(w.order, 10)
	w.serve(w.order[:4], 1e6)
	if !w.r.slump.on {
		t.Fatal("no slump")
	}
	for _, a := range w.order[:4] {
		w.leave(a)
		w.r.forget(w.r.peers[a.id])
	}
	if len(w.r.slump.low) > 0 || w.r.slump.on {
		t.Errorf("%d are kept", len(w.r.slump.low))
	}
	w.serve(w.order[4:], 1e6)
}

// One that nobody is left to end ends with what those who were in it were before.
func TestASlumpOfThoseWhoLeft(t *testing.T) {
	w := uneven(t, 6)
	throttle(w.order, 10)
	w.serve(w.order, 1e6)
	if !w.r.slump.on {
		t.Fatal("no slump")
	}
	for _, a := range w.order {
		w.leave(a)
	}
	old := len(w.order)
	for i := range 6 {
		w.add(&actor{id: fmt.Sprint("new ", i), addr: in(50+i, 1), rate: 1e7 / float64(1+i), rtt: 20 * ms})
	}
	w.serve(w.order[old:], 1e6)
	if got := w.r.Churn(w.now); len(got) > 0 {
		t.Errorf("at once: %v", got)
	}
	w.now += w.r.cfg.HalfWait
	w.serve(w.order[old:], 1e6)
	if got := names(w.r.Churn(w.now)); len(got) != 1 || got[0] != "new 5" {
		t.Errorf("in the end: %v", got)
	}
}
