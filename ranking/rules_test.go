package ranking

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// reads sets the estimate of an actor's meter, and lets the ranker take it in.
func (w *world) reads(a *actor, rate float64, coverage int64) {
	w.t.Helper()
	a.gauge.set(func(r *burst.Reading) {
		r.Estimation = burst.Estimation{Rate: burst.SecondsPerByte(1 / rate), Coverage: coverage, Bursts: 1}
	})
	w.r.Poll(w.now)
}

// A first byte that came sooner bounds the base round trip, whatever the echoes say.
func TestTheFirstByteBoundsTheBase(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e6, rtt: 20 * ms, holds: 480 * ms})
	if s, _ := w.r.Standing(w.now, "a", 1); s.BaseRTT != 500*ms {
		t.Fatalf("%v", s.BaseRTT)
	}
	w.from(a, 1e4)
	if s, _ := w.r.Standing(w.now, "a", 1); s.BaseRTT != 20*ms {
		t.Errorf("%v", s.BaseRTT)
	}
}

// The rate of short bursts says little of a long transfer: a pacer is hardly better than a stranger,
// and an honest peer that has shown less speed over a long one comes before it.
func TestFirstContact(t *testing.T) {
	w := newWorld(t)
	add := func(id string, rate float64, coverage int64) time.Duration {
		a := w.add(&actor{id: id, addr: in(len(w.order), 1), rate: rate, rtt: 20 * ms})
		if coverage > 0 {
			w.reads(a, rate, coverage)
		}
		return w.expect(a, 12e6)
	}
	stranger := add("stranger", 1e7, 0)
	pacer := add("pacer", 100e6/8, 50e3)
	honest := add("honest", 15e6/8, 12e6)
	fast := add("fast", 100e6/8, 12e6)
	if pacer < stranger*98/100 || pacer > stranger*101/100 {
		t.Errorf("a pacer of 50 kB bursts is expected in %v, a stranger in %v", pacer, stranger)
	}
	if honest > pacer*9/10 {
		t.Errorf("an honest 15 Mbit/s in %v, the pacer in %v", honest, pacer)
	}
	if fast > honest {
		t.Errorf("a fast one with as much to show in %v, the slower in %v", fast, honest)
	}
}

// Completions age into prediction; calibration then takes away what overclaiming would buy.
func TestCalibrationOutlivesCompletions(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "padder", addr: in(1, 1), rate: 1e7, rtt: 20 * ms, answer: slowed(8), reads: 1e7})
	for range 4 {
		w.from(a, 4e6)
	}
	w.now += 40 * time.Hour
	stranger := w.add(&actor{id: "stranger", addr: in(2, 1), rate: 1e7, rtt: 20 * ms})
	s, err := w.r.Standing(w.now, a.id, 4e6)
	if err != nil {
		t.Fatal(err)
	}
	if s.Measured > 0.1 {
		t.Errorf("%.2f measured two days on", s.Measured)
	}
	if other := w.expect(stranger, 4e6); s.Calibration < 7 || s.Expected < 2*other {
		t.Errorf("expected in %v, a stranger in %v; calibration %v", s.Expected, other, s.Calibration)
	}
}

// The long-run estimate stands in where a new connection has shown nothing yet.
func TestTheLongRunEstimate(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e7, rtt: 20 * ms})
	for range 3 {
		w.from(a, 12e6)
	}
	p := w.r.peers[a.id]
	again := func(after time.Duration) float64 {
		w.leave(a)
		w.now += after
		a.gauge.set(func(r *burst.Reading) { r.Estimation = burst.Estimation{} })
		w.join(a)
		return w.r.shrunk(p, 1e6, w.now)
	}
	if s := again(10 * time.Minute); p.estimation.Rate == 0 || s > 2e-7 {
		t.Errorf("ten minutes on: %v s/B, the estimate is %+v", s, p.estimation)
	}
	if s := again(20 * time.Hour); p.estimation.Coverage > 100 || s > 3e-7 {
		t.Errorf("twenty hours on: %v s/B, the estimate is %+v", s, p.estimation)
	}
	if s := again(60 * day); s < 0.8*w.r.population.prior {
		t.Errorf("sixty days on: %v s/B, the prior is %v", s, w.r.population.prior)
	}
}

// A warm connection is predicted warm, for as long as it is.
func TestWarmConnections(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e8, rtt: 100 * ms})
	w.from(a, 12e6)
	claim := func() time.Duration { s, _ := w.r.Standing(w.now, a.id, 1e6); return s.Claim }
	warm := claim()
	w.now += 20 * time.Second
	if cold := claim(); warm > cold/2 {
		t.Errorf("%v warm, %v cold", warm, cold)
	}
}

// The worst high quantile of several connections counts, so that one cannot hide what another shows.
func TestTheWorstQuantileCounts(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e6, rtt: 20 * ms, holds: 300 * ms})
	g := &gauge{reading: burst.Reading{BaseRTT: 20 * ms, P95RTT: 22 * ms}}
	if _, err := w.r.Join(w.now, Peer{ID: a.id, Addr: a.addr, Meter: g}); err != nil {
		t.Fatal(err)
	}
	if s, _ := w.r.Standing(w.now, a.id, 1); s.HighRTT < 300*ms || s.BaseRTT != 20*ms {
		t.Errorf("high %v, base %v", s.HighRTT, s.BaseRTT)
	}
}

// Many newcomers of one group that look a little better do not hide one of another.
func TestSybilsHideNobody(t *testing.T) {
	w := newWorld(t)
	for i := range 1500 {
		w.add(&actor{id: fmt.Sprint("sybil ", i), addr: in(1, i), rate: 1e7, rtt: 19 * ms})
	}
	w.add(&actor{id: "honest", addr: in(2, 1), rate: 1e7, rtt: 20 * ms})
	n := 0
	for range 1000 {
		if w.choose(Query{Size: 1e6}).Primary.Peer == "honest" {
			n++
		}
	}
	aboutShare(t, "choices of the honest newcomer", n, 1000, 0.5)
}

// Nor do proven ones: of one group only so many come to the last choice.
func TestAGroupCannotFillTheChoice(t *testing.T) {
	w := newWorld(t)
	for i := range 80 {
		w.add(&actor{id: fmt.Sprint("crowd ", i), addr: in(1, i), rate: 1e7, rtt: 20 * ms})
	}
	w.add(&actor{id: "other", addr: in(2, 1), rate: 0.97e7, rtt: 20 * ms})
	for range 3 {
		for _, a := range w.order {
			w.quick(a, 1e6, 1).Done(w.now, 0)
		}
	}
	w.now += time.Minute
	n := 0
	for range 400 {
		if w.choose(Query{Size: 1e6}).Primary.Peer == "other" {
			n++
		}
	}
	aboutShare(t, "choices of the other group", n, 400, 0.5)
}

// However many are demoted and would be faster: those that are not come first.
func TestTheDemotedHideNobody(t *testing.T) {
	w := newWorld(t)
	for i := range 100 {
		a := w.add(&actor{id: fmt.Sprint("liar ", i), addr: in(i, 1), rate: 1e8, rtt: 5 * ms})
		for range 3 {
			w.quick(a, 1e6, 1).Done(w.now, 0)
		}
		if err := w.r.Offer(w.now, a.id, "d", Size{Bytes: 5}); err != nil {
			t.Fatal(err)
		}
	}
	honest := w.add(&actor{id: "honest", addr: in(200, 1), rate: 1e6, rtt: 50 * ms})
	if err := w.r.Offer(w.now, honest.id, "d", Size{Bytes: 1e6}); err != nil {
		t.Fatal(err)
	}
	f := w.started(honest, Query{Datum: "d", Size: 1e6})
	f.Progress(w.now+time.Second, 1e6)
	f.Done(w.now+time.Second, 1e6)
	w.now += time.Minute
	for range 5 {
		if p := w.choose(Query{Size: 1e6}); p.Primary.Peer != "honest" {
			// Those whose claims fell out of the bounded book were never proven wrong.
			if w.r.peers[p.Primary.Peer].demoted {
				t.Fatalf("%s", p.Primary.Peer)
			}
		}
	}
	demoted := 0
	for _, p := range w.r.peers {
		if p.demoted {
			demoted++
		}
	}
	if demoted < finalists+5 {
		t.Fatalf("only %d are demoted", demoted)
	}
	var undemoted []string
	for _, p := range w.r.peers {
		if !p.demoted && p.id != "honest" {
			undemoted = append(undemoted, p.id)
		}
	}
	if p := w.choose(Query{Size: 1e6, Exclude: undemoted}); p.Primary.Peer != "honest" {
		t.Errorf("%s was chosen", p.Primary.Peer)
	}
}

// When the prior moves, the order follows within a few choices.
func TestTheOrderFollowsThePrior(t *testing.T) {
	w := newWorld(t)
	for i := range 600 {
		w.add(&actor{id: fmt.Sprint("newcomer ", i), addr: in(i, 1), rate: 1e7, rtt: 20 * ms})
	}
	known := w.add(&actor{id: "known", addr: in(700, 1), rate: 0.5e6, rtt: 20 * ms})
	for range 3 {
		w.quick(known, 1e6, 1).Done(w.now, 0)
	}
	if got := w.r.Rank(w.now, 1e6, 1)[0].Peer; got == "known" {
		t.Fatal("it is slower than the first prior")
	}
	w.r.mu.Lock()
	w.r.population.prior, w.r.population.priorAt = 1e-5, w.now
	w.r.mu.Unlock()
	for range 4 {
		w.r.Rank(w.now, 1e6, 1)
	}
	if got := w.r.Rank(w.now, 1e6, 1)[0].Peer; got != "known" {
		t.Errorf("%s comes first although strangers are expected to be slow", got)
	}
}

// One that is to be dropped is not chosen, though it would be the best.
func TestTheDroppedAreNotChosen(t *testing.T) {
	w := served(t, 1, 1e6)
	w.add(&actor{id: "slow", addr: in(9, 1), rate: 1e5, rtt: 90 * ms})
	w.r.peers["peer 00"].dropped = true
	for range 20 {
		if w.choose(Query{Size: 1e6}).Primary.Peer != "slow" {
			t.Fatal("chosen")
		}
	}
	w.r.SetDry(true)
	if w.choose(Query{Size: 1e6}).Primary.Peer != "peer 00" {
		t.Error("not chosen in a dry run")
	}
}

// For what must not be late, one that has cost us its hedges of the day gives way to another within
// twice its time.
func TestHedgesSpentCountWhereItMatters(t *testing.T) {
	w := newWorld(t)
	best := w.add(&actor{id: "best", addr: in(1, 1), rate: 1e7, rtt: 10 * ms})
	w.add(&actor{id: "next", addr: in(2, 1), rate: 0.7e7, rtt: 10 * ms})
	for range 3 {
		for _, a := range w.order {
			w.quick(a, 1e6, 1).Done(w.now, 0)
		}
	}
	w.now += time.Minute
	for range costsPerDay {
		w.r.peers[best.id].costs.charge(w.now)
	}
	if p := w.choose(Query{Size: 1e6}); p.Primary.Peer != "best" {
		t.Errorf("an ordinary fetch: %s", p.Why)
	}
	for _, q := range []Query{{Size: 1e6, Critical: true}, {Size: 1e6, Deadline: w.now + time.Second}} {
		if p := w.choose(q); p.Primary.Peer != "next" {
			t.Errorf("%+v: %s", q, p.Why)
		}
	}
}

// Copies are of distinct groups though a neighbour would be faster, and one that missed critical
// fetches gets one whatever the config says.
func TestCopiesAreOfDistinctGroups(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Copies = 1 })
	for i := range 4 {
		w.add(&actor{id: fmt.Sprint("fast ", i), addr: in(1, i), rate: 1e7, rtt: 10 * ms})
	}
	w.add(&actor{id: "slow", addr: in(2, 1), rate: 1e6, rtt: 50 * ms})
	for range 3 {
		for _, a := range w.order {
			w.quick(a, 1e6, 1).Done(w.now, 0)
		}
	}
	w.now += time.Minute
	if p := w.choose(Query{Size: 1e6, Critical: true}); len(p.Redundant) != 0 {
		t.Errorf("%+v", p.Redundant)
	}
	for i := range 4 { // as the audit would have them
		w.r.peers[fmt.Sprint("fast ", i)].verdict.Kinds = 1 << (audit.NeverAlone - 1)
		if !w.r.peers[fmt.Sprint("fast ", i)].verdict.Kinds.Has(audit.NeverAlone) {
			w.r.peers[fmt.Sprint("fast ", i)].verdict.Kinds = 1 << audit.NeverAlone
		}
	}
	p := w.choose(Query{Size: 1e6, Critical: true})
	if len(p.Redundant) != 1 || p.Redundant[0].Peer != "slow" {
		t.Errorf("%s and %+v", p.Primary.Peer, p.Redundant)
	}
}

// What we had from a peer meanwhile is in the claim, whenever we asked for it; and waiting for credit
// that our window makes unavoidable is not ours in it.
func TestClaimsHoldOurOwnDoing(t *testing.T) {
	w := served(t, 1, 4e6)
	a := w.order[0]
	f := w.started(a, Query{Datum: "one", Size: 1e6})
	g := w.started(a, Query{Datum: "two", Size: 8e6})
	g.Progress(w.now+time.Second, 8e6)
	f.Progress(w.now+time.Second, 1e6)
	f.Received(w.now + time.Second)
	if claim, all := f.claimOf(); all != 9e6 || claim.Total < 900*ms {
		t.Errorf("the claim is %v for %d bytes", claim.Total, all)
	}

	limited := newWorld(t, func(c *Config) { c.StreamWindow = 256 << 10 })
	b := limited.add(&actor{id: "b", addr: in(1, 1), rate: 1e8, rtt: 100 * ms})
	limited.reads(b, 1e8, 12e6)
	f = limited.started(b, Query{Size: 12e6})
	f.Progress(limited.now+100*ms, 6e6)
	f.Progress(limited.now+5*time.Second, 6e6)
	f.Received(limited.now + 5*time.Second)
	claim, _ := f.claimOf()
	if !claim.CreditLimited {
		t.Fatalf("%+v", claim)
	}
	for _, c := range []struct{ read, want time.Duration }{
		{claim.Ramp / 2, 0}, {claim.Ramp + time.Second, time.Second}, {0, 0},
	} {
		_, ours := f.elapsed(&burst.Reading{Ours: f.startOurs + c.read, Credit: f.startCredit + c.read})
		if want := min(c.want, max(5*time.Second-claim.Ramp, 0)); ours != want {
			t.Errorf("%v of waiting, %v of it unavoidable: %v are ours", c.read, claim.Ramp, ours)
		}
	}
}

// While we suspect ourselves a failure costs nothing; more than half of a second lost by ourselves is
// reason enough.
func TestFailuresInAHoldCostNothing(t *testing.T) {
	w := served(t, 2, 1e6)
	a := w.order[0]
	f := w.started(a, Query{Size: 1e6})
	f.Progress(w.now+20*ms, 5e5)
	a.gauge.set(func(r *burst.Reading) { r.Ours += 2 * time.Second })
	f.Progress(w.now+2100*ms, 5e5)
	w.now += 2100 * ms
	f.Done(w.now, 1e6)
	if s := w.r.Stats(w.now); s.Held != "own_gaps" {
		t.Fatalf("held: %s", s.Held)
	}
	before := w.expect(w.order[1], 1e6)
	g := w.started(w.order[1], Query{Size: 1e6})
	g.Fail(w.now+15*time.Second, TimedOut)
	if slices.Contains(kindsOf(w.r.Events()), DropNow) {
		t.Error("told to drop it")
	}
	if p := w.r.peers[w.order[1].id]; p.penalty.failures != 0 || w.expect(w.order[1], 1e6) > before*3/2 {
		t.Errorf("%d failures, expected in %v, %v before", p.penalty.failures, w.expect(w.order[1], 1e6), before)
	}
}

// Withholding behind the back of a redundant copy is seen: far behind when the other came is a miss.
func TestDefectionBehindACopy(t *testing.T) {
	race := func(got int) int {
		w := served(t, 2, 4e6)
		p := w.choose(Query{Datum: "d", Size: 4e6, Critical: true})
		f, g := w.both(p, p.Redundant[0])
		at := w.now + 420*ms
		f.Progress(w.now+20*ms, 1)
		f.Progress(at-ms, got)
		g.Progress(at, 4e6)
		g.Done(at, 4e6)
		f.Abort(at + ms)
		return w.r.peers[p.Primary.Peer].penalty.failures
	}
	if n := race(3e6); n != 0 {
		t.Errorf("nearly there: %d failures", n)
	}
	if n := race(1e5); n != 1 {
		t.Errorf("hardly begun: %d failures", n)
	}
}

// Packets out of order are a hint of loss, if more than a few.
func TestTheLossHint(t *testing.T) {
	w := served(t, 1, 4e6)
	f := w.started(w.order[0], Query{Size: 4e6})
	f.Progress(w.now+400*ms, 4e6)
	f.Received(w.now + 400*ms)
	for _, c := range []struct {
		r    burst.Reading
		want audit.Loss
	}{
		{burst.Reading{}, audit.LossUnknown},
		{burst.Reading{KernelRTT: ms}, audit.LossClear},
		{burst.Reading{KernelRTT: ms, OutOfOrder: 1}, audit.LossClear},
		{burst.Reading{KernelRTT: ms, OutOfOrder: 20}, audit.LossSeen},
	} {
		if got := lossOf(f, &c.r); got != c.want {
			t.Errorf("%+v: %v", c.r, got)
		}
	}
}

// The trial of a peer ends with its transfer, or with the fetch it was not begun in.
func TestTrialsEnd(t *testing.T) {
	w := served(t, 2, 1e6)
	w.add(&actor{id: "newcomer", addr: in(9, 1), rate: 1e7, rtt: 20 * ms})
	plan := func() (Plan, Pick) {
		for range 3000 {
			p := w.fetchPlan(1e6)
			if i := slices.IndexFunc(p.Shadow, func(k Pick) bool { return k.Role == Exploration }); i >= 0 {
				return p, p.Shadow[i]
			}
		}
		t.Fatal("no trial")
		return Plan{}, Pick{}
	}
	busy := func() bool { return w.r.explorer.trial["newcomer"].busy }
	for name, add := range map[string]bool{"begun": true, "not begun": false} {
		p, k := plan()
		if !busy() {
			t.Fatal("not held")
		}
		f, err := w.r.Begin(w.now, p)
		if err != nil {
			t.Fatal(err)
		}
		w.now += 20 * ms
		var g *Fetch
		if add {
			if g, err = f.Add(w.now, k); err != nil {
				t.Fatal(err)
			}
		}
		w.now += 200 * ms
		f.Progress(w.now, 1e6)
		f.Done(w.now, 1e6)
		if add {
			// It goes on when the datum is there, is not hedged, and not called a loser.
			silent(w.actors["newcomer"], 3*time.Second, true)
			if a := g.Advice(w.now + 3*time.Second); a.Kind != Wait || a.Trouble != Stalled || a.To.Peer != "" {
				t.Errorf("%s", a)
			}
			if !busy() {
				t.Error("ended too soon")
			}
			w.now += 3 * time.Second
			g.Progress(w.now, 1e6)
			g.Done(w.now, 0)
		}
		if busy() {
			t.Errorf("%s: the trial goes on", name)
		}
	}
}

// A hedge that wins costs no extra bytes, one that loses what it brought.
func TestWhatHedgesCost(t *testing.T) {
	spent := func(wins bool) int64 {
		w := served(t, 3, 1e6)
		f := w.started(w.order[0], Query{Datum: "d", Size: 1e6})
		f.Progress(w.now+20*ms, 4e5)
		silent(w.order[0], 2*time.Second, true)
		w.now += 2 * time.Second
		g, err := f.Add(w.now, f.Advice(w.now).To)
		if err != nil {
			t.Fatal(err)
		}
		w.now += 100 * ms
		g.Progress(w.now, 3e5)
		if live := f.Advice(w.now); live.Kind == AddHedge || live.To.Peer != "" {
			t.Errorf("another hedge beside one: %s", live)
		}
		if wins {
			g.Progress(w.now, 3e5)
			g.Done(w.now, 1e6)
			f.Abort(w.now)
		} else {
			f.Progress(w.now, 6e5)
			f.Done(w.now, 1e6)
			g.Abort(w.now)
		}
		return w.r.Stats(w.now).Spent
	}
	if n := spent(true); n != 0 {
		t.Errorf("a hedge that won: %d bytes", n)
	}
	if n := spent(false); n != 3e5 {
		t.Errorf("one that lost after 300 kB: %d bytes", n)
	}
}

// A hedge for a deadline of ours is not charged to a peer that goes as it should.
func TestHedgesForOurDeadlinesAreOurs(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e6, rtt: 20 * ms})
	w.add(&actor{id: "b", addr: in(2, 1), rate: 1e7, rtt: 20 * ms})
	for range 3 {
		for _, x := range w.order {
			w.quick(x, 4e6, 1).Done(w.now, 0)
		}
	}
	f := w.started(a, Query{Size: 4e6, Deadline: w.now + 3*time.Second})
	for i := range 20 {
		f.Progress(w.now+time.Duration(i+1)*100*ms, 1e5)
	}
	got := f.Advice(w.now + 2*time.Second)
	if got.Trouble != AtRisk || got.Kind != AddHedge {
		t.Fatalf("%s", got)
	}
	if _, err := f.Add(w.now+2*time.Second, got.To); err != nil {
		t.Fatal(err)
	}
	if n := w.r.peers[a.id].costs.left(w.now + 2*time.Second); n != costsPerDay {
		t.Errorf("%d hedges left", n)
	}
}

// The end of a fetch without its datum frees the view of its size.
func TestAFailedFetchFreesTheSize(t *testing.T) {
	w := served(t, 2, 1e6)
	p := w.fetchPlan(1e6)
	f, err := w.r.Begin(w.now, p)
	if err != nil {
		t.Fatal(err)
	}
	w.add(&actor{id: "third", addr: in(9, 1), rate: 1e7, rtt: 20 * ms})
	if err := w.r.Offer(w.now, "third", p.Datum, Size{Bytes: 2e6}); err != nil {
		t.Fatal(err)
	}
	f.Fail(w.now+20*ms, Reset)
	if q := w.choose(Query{Datum: p.Datum}); !q.Why.Disputed || q.Size.Bytes != 2e6 {
		t.Errorf("%+v", q)
	}
}

// A request waits as long as the high quantile says before it is called stalled.
func TestFirstBytesMayTakeAsLongAsTheyDo(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e7, rtt: 100 * ms})
	a.gauge.set(func(r *burst.Reading) { r.P95RTT = 2 * time.Second })
	w.reads(a, 1e7, 4e6)
	f := w.started(a, Query{Size: 4e6})
	if got := f.Advice(w.now + 3900*ms); got.Trouble == Stalled {
		t.Errorf("%s", got)
	}
	if got := f.Advice(w.now + 4100*ms); got.Trouble != Stalled {
		t.Errorf("%s", got)
	}
}

// However many forged echoes a meter counts, they are proof once.
func TestForgedEchoesAreBounded(t *testing.T) {
	w := served(t, 1, 1e6)
	a := w.order[0]
	a.gauge.set(func(r *burst.Reading) { r.Forged = 1 << 50; r.Issued, r.Skipped = 200, 50 })
	for range 3 {
		w.r.Poll(w.now)
	}
	kinds := kindsOf(w.r.Events())
	missing := 0
	for _, k := range kinds {
		if k == EchoesMissing {
			missing++
		}
	}
	if missing != 1 || !slices.Contains(kinds, Demoted) {
		t.Errorf("%v", kinds)
	}
}

// Who has served enough is not tried any more, and again once that is stale.
func TestWhoIsTried(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e7, rtt: 20 * ms})
	if x := w.r.explorer.trial["a"]; x == nil || x.stale {
		t.Fatalf("a newcomer: %+v", x)
	}
	for range 3 {
		w.quick(a, 1e6, 1).Done(w.now, 0)
	}
	if x := w.r.explorer.trial["a"]; x != nil {
		t.Errorf("one who served three times: %+v", x)
	}
	w.now += 3 * day
	w.r.Poll(w.now)
	if x := w.r.explorer.trial["a"]; x == nil || !x.stale {
		t.Errorf("three days on: %+v", x)
	}
}

// Poll comes round to every meter.
func TestPollComesRound(t *testing.T) {
	w := newWorld(t)
	for i := range 3 * pollMost {
		w.add(&actor{id: fmt.Sprint("peer ", i), addr: in(i, 1), rate: 1e7, rtt: 20 * ms})
	}
	for _, a := range w.order {
		a.gauge.set(func(r *burst.Reading) { r.BaseRTT, r.P95RTT = 7*ms, 7*ms })
	}
	for range 4 {
		w.r.Poll(w.now)
	}
	for _, a := range w.order {
		if got := w.r.peers[a.id].base; got != 7*ms {
			t.Fatalf("%s was not read: %v", a.id, got)
		}
	}
}

// A convict that comes back can redeem itself, and takes its conviction to where it moved.
func TestConvictsComeBack(t *testing.T) {
	w := served(t, 2, 1e6)
	liar := w.order[0]
	liar.lies = 5
	w.run(w.fetchPlan(1e6), 1e6)
	w.leave(liar)
	if w.r.explorer.demoted.has(liar.id) {
		t.Error("shadows for one who is gone")
	}
	for range 5 { // to and fro
		for _, net := range []int{77, 0} {
			liar.addr = in(net, 1)
			w.join(liar)
			if !w.r.explorer.demoted.has(liar.id) {
				t.Error("no shadows for one who is back")
			}
			w.leave(liar)
		}
	}
	liar.addr = in(77, 1)
	w.join(liar)
	for name, want := range map[Group]float64{"10.0.77.0/24": 1, "10.0.0.0/24": 1} {
		if g := w.r.population.groups[name]; g == nil || g.convictions < 0.99*want || g.convictions > 1.01*want {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// A fetch that goes on after another has settled its datum ends nothing of the next one.
func TestASettledSizeEndsOnce(t *testing.T) {
	w := served(t, 3, 1e6)
	f, g := w.started(w.order[0], Query{Datum: "d"}), w.started(w.order[1], Query{Datum: "d"})
	w.now += time.Second
	f.Progress(w.now, 4e6)
	f.Done(w.now, 4e6)
	h := w.started(w.order[2], Query{Datum: "d"})
	g.Abort(w.now)
	if e := w.r.book.data["d"]; e == nil || e.fetches != 1 {
		t.Errorf("of the fetch under way: %+v", e)
	}
	h.Abort(w.now)
	if e := w.r.book.data["d"]; e.fetches != 0 {
		t.Errorf("after its end: %+v", e)
	}
}
