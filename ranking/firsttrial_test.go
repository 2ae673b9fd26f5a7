package ranking

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// firstTrials are those that plans asked for, of n fetches that go on to the end.
func (w *world) firstTrials(n int, size int64) (peers []string) {
	w.t.Helper()
	for range n {
		w.data++
		plan := w.choose(Query{Datum: fmt.Sprint("datum ", w.data), Size: size})
		w.run(plan, size)
		for _, p := range plan.Shadow {
			if p.first {
				peers = append(peers, p.Peer)
			}
		}
		w.now += time.Second
	}
	return peers
}

// A good newcomer is asked at the next fetch, whatever that is, and then chosen.
func TestANewcomerIsTriedAtOnce(t *testing.T) {
	w := alike(t, 1e6)
	a := w.add(&actor{id: "better", addr: in(90, 1), rate: 1e8, rtt: 5 * ms})
	if got := w.firstTrials(1, 1e6); !slices.Equal(got, []string{a.id}) {
		t.Fatalf("tried %q", got)
	}
	w.now += time.Second
	if p := w.choose(Query{Size: 1e6}); p.Primary.Peer != a.id || len(p.Shadow) > 0 && p.Shadow[0].first {
		t.Errorf("after its trial %s is chosen, with %+v beside it", p.Primary.Peer, p.Shadow)
	}
}

// Of large data a first range is asked for; one that never answers is tried once and then left to chance.
func TestAFirstTrialIsOne(t *testing.T) {
	w := alike(t, 4e6)
	w.add(&actor{id: "mute", addr: in(90, 1), rate: 1e8, rtt: 5 * ms, answer: stalling(0.001)})
	p := w.choose(Query{Datum: "large", Size: 4e6})
	if len(p.Shadow) != 1 || !p.Shadow[0].first || p.Shadow[0].Role != Exploration || p.Shadow[0].Bytes != 1<<20 {
		t.Fatalf("%+v", p.Shadow)
	}
	w.run(p, 4e6)
	for range 3 {
		w.now += firstEvery
		if got := w.firstTrials(5, 4e6); len(got) != 0 {
			t.Fatalf("and again %q", got)
		}
	}
}

// It waits for no fetch that is critical, nor for one that goes to a stranger, nor where the
// newcomer is busy, and is not for whom the query excludes.
func TestWhereNoFirstTrialIs(t *testing.T) {
	w := alike(t, 1e6)
	a := w.stranger(90, 1, 20*ms)
	first := func(q Query) bool {
		q.Size = 1e6
		p := w.choose(q)
		for _, f := range p.Shadow {
			if f.first {
				w.r.explorer.done(f.Peer, false)
				w.r.peers[a.id].group.firstEver = false
				return true
			}
		}
		return false
	}
	if !first(Query{}) {
		t.Fatal("none at all: the test shows nothing")
	}
	if first(Query{Critical: true}) {
		t.Error("beside a critical fetch")
	}
	if first(Query{Exclude: []string{a.id}}) {
		t.Error("of one that the query excludes")
	}
	w.stranger(91, 1, 20*ms)
	var known []string
	for _, x := range w.order[:8] {
		known = append(known, x.id)
	}
	if first(Query{Exclude: known}) {
		t.Error("beside a fetch from a stranger")
	}
	f := w.started(a, Query{Size: 1e6})
	if p := w.choose(Query{Size: 1e6}); len(p.Shadow) > 0 && p.Shadow[0].first && p.Shadow[0].Peer == a.id {
		t.Error("of one that is being fetched from")
	}
	f.Abort(w.now)
}

// A thousand identities of one place get one first trial an hour, and do not stand in the way of
// another's; those of a place that convicts are from get none.
func TestAFloodGetsOneFirstTrialAnHour(t *testing.T) {
	w := alike(t, 1e5)
	for i := range 1000 {
		w.add(&actor{id: fmt.Sprint("sybil ", i), addr: in(90, i%250), rate: 5e4, rtt: 20 * ms})
	}
	w.add(&actor{id: "honest newcomer", addr: in(91, 1), rate: 1e7, rtt: 20 * ms})
	got := w.firstTrials(60, 1e5)
	if len(got) != 2 || !slices.Contains(got, "honest newcomer") {
		t.Errorf("first trials in a minute: %q", got)
	}
	w.now += firstEvery
	if got = w.firstTrials(60, 1e5); len(got) != 1 || !strings.HasPrefix(got[0], "sybil") {
		t.Errorf("first trials an hour later: %q", got)
	}
	w.now += firstEvery
	w.r.peers["sybil 0"].group.convict(w.now, &w.r.cfg)
	if got = w.firstTrials(60, 1e5); len(got) != 0 {
		t.Errorf("first trials for a place of convicts: %q", got)
	}
}

// A flood from as many places as it likes costs no more than the budget of first trials, and leaves
// hedges theirs.
func TestAFloodOfPlacesCostsLittle(t *testing.T) {
	w := alike(t, 1e6)
	for i := range 1000 {
		w.add(&actor{id: fmt.Sprint("bot ", i), addr: in(1000+i, 1), rate: 1e6, rtt: 20 * ms})
	}
	if n := len(w.firstTrials(200, 1e6)); n < 4 || n > 8 {
		t.Errorf("%d first trials of 1 MB, of 8 MiB and 1 %% of 200 MB", n)
	}
	if left := w.r.budget.left(w.now, ordinary); left < 4<<20 {
		t.Errorf("%d bytes are left for hedges", left)
	}
}

// A peer that is known of old is owed a trial too.
func TestAnOldRecordIsTriedAtOnce(t *testing.T) {
	w := alike(t, 1e6)
	old := w.order[3]
	w.now += 20 * time.Hour
	for range 3 {
		for _, a := range w.order {
			if a != old {
				w.from(a, 1e6)
				w.now += time.Second
			}
		}
	}
	w.r.consider(w.now, w.r.peers[old.id])
	if got := w.firstTrials(1, 1e6); !slices.Equal(got, []string{old.id}) {
		t.Errorf("tried %q", got)
	}
	if got := w.firstTrials(50, 1e6); len(got) != 0 {
		t.Errorf("and then %q", got)
	}
}

// Where few have the datum, one of these that is owed a trial gets it, however many others are.
func TestTheOneStrangerAmongTheHolders(t *testing.T) {
	w := alike(t, 1e5)
	for i := range 1000 {
		w.add(&actor{id: fmt.Sprint("bot ", i), addr: in(1000+i, 1), rate: 1e6, rtt: 20 * ms})
	}
	a := w.add(&actor{id: "holder", addr: in(90, 1), rate: 1e7, rtt: 20 * ms})
	for _, id := range []string{w.order[0].id, w.order[1].id, a.id} {
		if err := w.r.Offer(w.now, id, "rare", Size{Bytes: 1e5}); err != nil {
			t.Fatal(err)
		}
	}
	plan := w.choose(Query{Datum: "rare"})
	if len(plan.Shadow) != 1 || !plan.Shadow[0].first || plan.Shadow[0].Peer != a.id {
		t.Errorf("beside %s: %+v", plan.Primary.Peer, plan.Shadow)
	}
	w.run(plan, 1e5)
	w.now += time.Second
	if plan = w.choose(Query{Datum: "rare", Size: 1e5}); len(plan.Shadow) > 0 && plan.Shadow[0].first {
		t.Errorf("and again: %+v", plan.Shadow)
	}
}

// Identities of one place that move on to another leave no room for the next first trial from there.
func TestAPlaceThatWasLeftHasHadItsFirstTrial(t *testing.T) {
	w := alike(t, 1e5)
	n := 0
	for i := range 20 {
		a := w.add(&actor{id: fmt.Sprint("sybil ", i), addr: in(90, 1), rate: 1e6, rtt: 20 * ms})
		n += len(w.firstTrials(1, 1e5))
		w.leave(a)
		a.addr = in(91, 1)
		w.join(a)
		w.leave(a)
	}
	if n != 1 {
		t.Errorf("%d first trials of one place within %v", n, w.now)
	}
	w.now += firstEvery
	w.r.population.vote(w.r.peers[w.order[0].id], 2e-7)
	w.r.Poll(w.now)
	if g := w.r.population.groups["10.0.90.0/24"]; g != nil {
		t.Errorf("an hour later %+v is remembered", g)
	}
}

// A plan that is dropped has cost nobody the first trial that was in it.
func TestADroppedPlanIsNoFirstTrial(t *testing.T) {
	w := alike(t, 1e6)
	a := w.stranger(90, 1, 20*ms)
	if p := w.choose(Query{Size: 1e6}); len(p.Shadow) != 1 || !p.Shadow[0].first {
		t.Fatalf("%+v", p.Shadow)
	}
	if p := w.choose(Query{Size: 1e6}); len(p.Shadow) > 0 && p.Shadow[0].first {
		t.Errorf("and another at the same time: %+v", p.Shadow)
	}
	w.now += planMost + time.Second
	w.r.Poll(w.now)
	if got := w.firstTrials(1, 1e6); !slices.Equal(got, []string{a.id}) {
		t.Errorf("a minute later: %q", got)
	}
}

// Who is under trial is so still when it has left and come back.
func TestATrialOutlivesItsConnection(t *testing.T) {
	w := alike(t, 1e6)
	a := w.stranger(90, 1, 20*ms)
	p := w.choose(Query{Size: 1e6})
	f, x := w.both(p, p.Shadow[0])
	w.leave(a)
	w.join(a)
	if !w.r.explorer.trial[a.id].busy {
		t.Error("another trial may begin")
	}
	w.leave(a)
	x.Fail(w.now, Disconnected)
	f.Abort(w.now)
	if e := w.r.explorer; e.trial[a.id] != nil || len(e.busy) != 0 {
		t.Errorf("it has gone, and %+v is kept", e.trial[a.id])
	}
}
