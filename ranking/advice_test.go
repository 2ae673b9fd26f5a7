package ranking

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
)

// started begins a fetch from one peer of a world.
func (w *world) started(a *actor, q Query) *Fetch {
	w.t.Helper()
	q.Exclude = w.allBut(a.id)
	if q.Size == 0 {
		q.Size = 4e6
	}
	p := w.choose(q)
	p.Shadow, p.exclude = nil, nil // others may be hedged to
	f, err := w.r.Begin(w.now, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// silent sets what the meter of an actor reads in a silence.
func silent(a *actor, silence time.Duration, echoes bool) {
	a.gauge.set(func(r *burst.Reading) {
		r.Silence, r.EchoAge = silence, 50*ms
		if !echoes {
			r.EchoAge = silence + 30*ms
		}
	})
}

// The best peer goes silent in mid-fetch: the fetch is hedged in time, for the missing range only, and
// ends on another peer.
func TestASilentPeerIsHedged(t *testing.T) {
	w := served(t, 3, 4e6)
	best := w.add(&actor{id: "best", addr: in(60, 1), rate: 3e7, rtt: 10 * ms})
	for range 4 {
		w.from(best, 4e6)
	}
	best.answer = stalling(0.6)
	w.now += time.Minute
	res := w.fetch(4e6)
	if res.plan.Primary.Peer != best.id {
		t.Fatalf("chosen: %s", res.plan.Primary.Peer)
	}
	if !res.ok || res.from == best.id || res.hedges != 1 {
		t.Fatalf("%+v", res)
	}
	var to Pick
	for _, a := range res.advices {
		if a.Kind == AddHedge {
			to = a.To
		}
	}
	if to.Role != Hedge || to.Offset < 2.3e6 || to.Offset > 2.5e6 {
		t.Errorf("the hedge is for %+v", to)
	}
	// Two predicted times, a stall of one second, and the rest from the other.
	if most := 2*res.plan.Predicted + stallLeast + truth(w.order[0], 2e6)*2; res.took > most {
		t.Errorf("it took %v, %v at most", res.took, most)
	}
	if a, b := w.expect(best, 4e6), w.expect(w.order[0], 4e6); a < 2*b {
		t.Errorf("one that stalled is expected in %v, others in %v", a, b)
	}
}

// Whatever part has come: no byte for max(1 s, 4 RTT) is a stall.
func TestStallsAreByProgress(t *testing.T) {
	for _, part := range []float64{0, 0.01, 0.5, 0.999} {
		for _, rtt := range []time.Duration{20 * ms, 400 * ms} {
			w := newWorld(t)
			a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e7, rtt: rtt})
			w.add(&actor{id: "b", addr: in(2, 1), rate: 1e7, rtt: 20 * ms})
			for range 3 {
				w.from(a, 4e6)
			}
			f := w.started(a, Query{})
			last := w.now + rtt
			if n := int(part * 4e6); n > 0 {
				f.Progress(last, n)
			} else {
				f.FirstByte(last)
			}
			after := max(time.Second, 4*rtt)
			silent(a, after, true)
			if got := f.Advice(last + after - 2*ms); got.Trouble == Stalled {
				t.Errorf("%v of it, %v: stalled already: %s", part, rtt, got)
			}
			if got := f.Advice(last + after + 2*ms); got.Trouble != Stalled && got.Trouble != Late {
				t.Errorf("%v of it, %v: %s", part, rtt, got)
			}
		}
	}
}

// Who gives a stalled peer up the moment that it is called so has met a failure of it, whatever came before.
func TestGivenUpAtTheStall(t *testing.T) {
	w := served(t, 3, 8e6)
	a := w.order[0]
	f := w.started(a, Query{Size: 8e6})
	last := w.now + 430*ms
	f.Progress(last, 4e6) // half of it: when it stalls it is not late yet
	silent(a, stallLeast, true)
	if got := f.Advice(last + stallLeast); got.Trouble != Stalled {
		t.Fatalf("%s", got)
	}
	before := w.expect(a, 8e6)
	f.Abort(last + stallLeast)
	if after := w.expect(a, 8e6); after < 2*before {
		t.Errorf("expected in %v before, in %v after", before, after)
	}
}

// Who holds its echoes for seconds, and is known by its completions, buys no time before its first byte.
func TestHeldEchoesPutOffNoHedge(t *testing.T) {
	for _, held := range []time.Duration{22 * ms, 500 * ms, 5 * time.Second} {
		w := served(t, 3, 1e6)
		a := w.order[0]
		for range 8 {
			w.now += 10 * time.Second
			w.from(a, 1e6)
		}
		a.gauge.set(func(r *burst.Reading) { r.P95RTT = held })
		w.now += 2 * time.Second
		w.r.Poll(w.now)
		f := w.started(a, Query{Size: 1e6})
		d := time.Duration(0)
		for ; d < time.Minute; d += 100 * ms {
			silent(a, d, true)
			if f.Advice(w.now+d).Kind == AddHedge {
				break
			}
		}
		if d > 1100*ms {
			t.Errorf("echoes held for %v: the hedge came after %v", held, d)
		}
	}
}

// An honest slow path is not called stalled, late or collapsed: 20 MB at 0.8 MB/s.
func TestAnHonestSlowPathIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	slow := w.add(&actor{id: "slow", addr: in(1, 1), rate: 0.8e6, rtt: 80 * ms})
	w.add(&actor{id: "other", addr: in(2, 1), rate: 0.7e6, rtt: 80 * ms})
	for range 3 {
		w.from(slow, 20e6)
	}
	res := w.from(slow, 20e6)
	for _, a := range res.advices {
		if a.Trouble != NoTrouble {
			t.Errorf("%s", a)
		}
	}
	if d := res.took.Seconds() / res.plan.Predicted.Seconds(); d < 0.75 || d > 1.25 {
		t.Errorf("took %v, predicted %v", res.took, res.plan.Predicted)
	}
}

// A rate that collapses is a slow-loris, long before twice the time.
func TestASlowLorisIsSeenInFlight(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "loris", addr: in(1, 1), rate: 1e6, rtt: 20 * ms})
	w.add(&actor{id: "other", addr: in(2, 1), rate: 1e6, rtt: 20 * ms})
	for range 3 {
		w.from(a, 8e6)
	}
	f := w.started(a, Query{Size: 8e6})
	now := w.now + 20*ms
	var got Advice
	for range 50 { // a hundredth of its rate, every 100 ms
		f.Progress(now, 1000)
		now += 100 * ms
		if got = f.Advice(now); got.Trouble != NoTrouble {
			break
		}
	}
	if got.Trouble != Collapsed || got.Kind != AddHedge || got.To.Peer != "other" {
		t.Errorf("%s after %v", got, now-w.now)
	}
	if now-w.now > 5*time.Second {
		t.Errorf("only after %v", now-w.now)
	}
}

// A fetch that will miss its deadline is hedged before it does.
func TestDeadlinesInFlight(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e6, rtt: 20 * ms})
	w.add(&actor{id: "b", addr: in(2, 1), rate: 1e7, rtt: 20 * ms})
	for range 3 {
		w.from(a, 1e7)
		w.from(w.order[1], 1e7)
	}
	f := w.started(a, Query{Size: 1e7, Deadline: w.now + 8*time.Second})
	now := w.now
	var got Advice
	for got.Trouble == NoTrouble && now < w.now+20*time.Second {
		f.Progress(now+100*ms, 8e4)
		now += 100 * ms
		got = f.Advice(now)
	}
	if got.Trouble != AtRisk || got.Kind != AddHedge || now-w.now > 6*time.Second {
		t.Errorf("%s after %v", got, now-w.now)
	}
}

// A fetch that blows its hard timeout gives its peer up for dropping, at once and apart from churn.
func TestDropNow(t *testing.T) {
	w := served(t, 2, 4e6)
	a := w.order[0]
	f := w.started(a, Query{})
	silent(a, 11*time.Second, true)
	got := f.Advice(w.now + 11*time.Second)
	if got.Trouble != Hopeless || got.Kind != Cancel {
		t.Errorf("%s", got)
	}
	f.Advice(w.now + 12*time.Second)
	f.Abort(w.now + 12*time.Second)
	n := 0
	for _, e := range w.r.Events() {
		if e.Kind == DropNow && e.Peer == a.id {
			n++
		}
	}
	if n != 1 {
		t.Errorf("told %d times", n)
	}
	w.now += 12 * time.Second
	for range 40 {
		if w.choose(Query{Size: 4e6}).Primary.Peer == a.id {
			t.Fatal("chosen although it is to be dropped")
		}
	}
	w.leave(a)
	w.join(a)
	if s, _ := w.r.Standing(w.now, a.id, 1); s.Dropped {
		t.Error("still to be dropped after it came back")
	}
}

// Resetting a connection is advised only if it is dead by all signs, at most once in ten minutes, and
// never where few groups are left.
func TestResetIsRare(t *testing.T) {
	kind := func(groups int, echoes bool) (*world, AdviceKind) {
		w := served(t, groups, 4e6)
		a := w.order[0]
		f := w.started(a, Query{})
		silent(a, 15*time.Second, echoes)
		return w, f.Advice(w.now + 15*time.Second).Kind
	}
	if _, k := kind(8, true); k == ResetConn {
		t.Error("reset although its echoes come")
	}
	if _, k := kind(4, false); k == ResetConn {
		t.Error("reset at the least number of groups")
	}
	w, k := kind(8, false)
	if k != ResetConn {
		t.Errorf("a dead connection: %v", k)
	}
	b := w.order[1]
	f := w.started(b, Query{})
	silent(b, 15*time.Second, false)
	if k := f.Advice(w.now + 15*time.Second).Kind; k == ResetConn {
		t.Error("another one within ten minutes")
	}
}

// A peer may cost us two hedges a day; after that its stalls are cut off instead, which costs nothing.
func TestHedgesArePaidByTheirCause(t *testing.T) {
	w := served(t, 3, 1e6)
	a := w.order[0]
	var kinds []AdviceKind
	for range 4 {
		f := w.started(a, Query{Size: 1e6})
		f.Progress(w.now+20*ms, 5e5)
		silent(a, 2*time.Second, true)
		got := f.Advice(w.now + 2*time.Second)
		kinds = append(kinds, got.Kind)
		if got.To.Peer == "" {
			t.Fatalf("nobody is named: %s", got)
		}
		g, err := f.Add(w.now+2*time.Second, got.To)
		if err != nil {
			t.Fatal(err)
		}
		g.Progress(w.now+3*time.Second, 5e5)
		g.Done(w.now+3*time.Second, 1e6)
		f.Abort(w.now + 3*time.Second)
		w.now += time.Minute
	}
	if want := []AdviceKind{AddHedge, AddHedge, Cancel, Cancel}; !slices.Equal(kinds, want) {
		t.Errorf("%v", kinds)
	}
}

// Extra bytes stay within their budget, and ordinary hedges leave half of it to critical ones.
func TestHedgesStayWithinTheBudget(t *testing.T) {
	w := served(t, 30, 1e6)
	before := w.r.Stats(w.now)
	ordinary, crit := 0, 0
	for i, a := range w.order {
		f := w.started(a, Query{Size: 4e6, Critical: i >= 20})
		f.Progress(w.now+20*ms, 1000)
		silent(a, 2*time.Second, true)
		if got := f.Advice(w.now + 2*time.Second); got.Kind == AddHedge {
			if _, err := f.Add(w.now+2*time.Second, got.To); err != nil {
				t.Fatal(err)
			}
			if i < 20 {
				ordinary++
			} else {
				crit++
			}
		}
	}
	if int64(ordinary)*3_999_000 > before.OrdinaryLeft || ordinary < 2 {
		t.Errorf("%d hedges of 4 MB, %d bytes were left", ordinary, before.OrdinaryLeft)
	}
	if crit < 3 {
		t.Errorf("%d critical hedges after the ordinary budget was gone", crit)
	}
}

// No hedge to a peer that would not be sooner, none for a copy nobody waits for, and the loser of a
// race is told to stop.
func TestHedgesThatWouldNotHelp(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e7, rtt: 20 * ms})
	w.add(&actor{id: "b", addr: in(2, 1), rate: 1e4, rtt: 20 * ms})
	for range 3 {
		w.from(a, 4e6)
		w.from(w.order[1], 1e4)
	}
	f := w.started(a, Query{})
	now := w.now
	for range 20 { // late, but going: 1 MB/s where 10 were expected
		f.Progress(now+100*ms, 1e5)
		now += 100 * ms
	}
	if got := f.Advice(now); got.Kind != Wait || got.To.Peer != "" {
		t.Errorf("%s", got)
	}
	f.Received(now)
	f.Done(now, 4e6)

	w = served(t, 2, 4e6)
	p := w.choose(Query{Datum: "x", Size: 4e6, Critical: true})
	f, g := w.both(p, p.Redundant[0])
	g.Progress(w.now+400*ms, 4e6)
	g.Done(w.now+400*ms, 4e6)
	f.Progress(w.now+400*ms, 1e6)
	if got := f.Advice(w.now + 401*ms); got.Kind != Cancel || got.Trouble != Delivered {
		t.Errorf("%s", got)
	}
	f.Abort(w.now + 402*ms)
	if n := w.r.peers[f.Peer()].penalty.failures; n != 0 {
		t.Error("the loser of a fair race is punished")
	}
}

func TestAdviceAfterTheEnd(t *testing.T) {
	w := served(t, 1, 1e6)
	f := w.started(w.order[0], Query{Size: 1e6})
	f.Progress(w.now+time.Second, 1e6)
	f.Done(w.now+time.Second, 1e6)
	if a := f.Advice(w.now + time.Hour); a.Kind != Wait || a.Trouble != NoTrouble {
		t.Errorf("%s", a)
	}
}

func TestAdviceReads(t *testing.T) {
	a := Advice{Kind: AddHedge, Trouble: Stalled, To: Pick{Peer: "b", Offset: 5, bytes: 7}}
	if s := a.String(); !strings.Contains(s, "add_hedge (stalled): ask b for 7 bytes from 5") {
		t.Error(s)
	}
	seen := map[string]bool{}
	for k := range ResetConn + 2 {
		seen[k.String()] = true
	}
	for k := range Hopeless + 2 {
		seen[k.String()] = true
	}
	if len(seen) != 12 || !seen["unknown"] {
		t.Errorf("%v", seen)
	}
}

// Whom the query excludes is not hedged to either.
func TestHedgesKeepToTheQuery(t *testing.T) {
	w := served(t, 3, 1e6)
	p := w.choose(Query{Size: 1e6, Exclude: []string{"peer 00", "peer 01"}})
	f, err := w.r.Begin(w.now, p)
	if err != nil {
		t.Fatal(err)
	}
	f.Progress(w.now+20*ms, 1e5)
	silent(w.order[2], 2*time.Second, true)
	if a := f.Advice(w.now + 2*time.Second); a.Kind != Wait || a.Trouble != Stalled {
		t.Errorf("%s", a)
	}
}

// An honest stranger that is ten times slower than strangers are taken for, and keeps going, is not
// given up at its hard timeout; one that dribbles is.
func TestASlowStrangerIsNotHopeless(t *testing.T) {
	for _, c := range []struct {
		rate     int // B per 100 ms
		hopeless bool
	}{{10_000, false}, {400, true}} {
		w := newWorld(t)
		a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e5, rtt: 20 * ms})
		f := w.started(a, Query{Size: 1e6})
		now, got := w.now, 0
		for range 98 {
			now += 100 * ms
			got += c.rate
			f.Progress(now, c.rate)
		}
		for range 15 {
			now += 50 * ms
			f.Progress(now, c.rate/20)
		}
		if a := f.Advice(now); (a.Trouble == Hopeless) != c.hopeless {
			t.Errorf("%d bytes in %v: %s", got, now, a)
		}
	}
}
