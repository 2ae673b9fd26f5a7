package ranking

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

var someSizes = []int64{1, 5e3, 64e3, 1e6, 12e6, 300e6}

// sizeOf is a size to draw.
func sizeOf(t *rapid.T, what string) int64 {
	return rapid.SampledFrom([]int64{2e3, 16e3, 64e3, 512e3, 4e6, 12e6}).Draw(t, what)
}

// history gives an actor some past: fetches it served well or badly.
func history(t *rapid.T, w *world, a *actor) {
	for range rapid.IntRange(0, 12).Draw(t, "fetches") {
		a.answer = honest
		switch rapid.IntRange(0, 5).Draw(t, "how") {
		case 0:
			a.answer = slowed(float64(rapid.IntRange(2, 30).Draw(t, "slower")))
		case 1:
			a.answer = failing(Failure(rapid.IntRange(0, 4).Draw(t, "failure")))
		case 2:
			a.answer = stalling(0.5)
		}
		w.from(a, sizeOf(t, "size"))
		w.now += time.Duration(rapid.IntRange(0, 3*3600).Draw(t, "pause")) * time.Second
	}
	a.answer = honest
}

func expectations(w *world, a *actor) []time.Duration {
	out := make([]time.Duration, len(someSizes))
	for i, n := range someSizes {
		out[i] = w.expect(a, n)
	}
	return out
}

// notSooner fails if any expectation has become better by more than rounding.
func notSooner(t *rapid.T, what string, before, after []time.Duration) {
	for i, n := range someSizes {
		if after[i] < before[i]-before[i]/1000-1000 {
			t.Fatalf("%s: %d bytes are expected in %v, %v before", what, n, after[i], before[i])
		}
	}
}

// A peer never improves its rank by failing: by no kind of failure, at no size, after however long,
// whatever it did before.
func TestFailingNeverImprovesARank(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		a := w.add(&actor{id: "subject", addr: in(1, 1), rate: 4e6, rtt: 30 * ms})
		history(rt, w, a)
		for range rapid.IntRange(1, 20).Draw(rt, "failures") {
			plan, err := w.r.Choose(w.now, Query{Datum: "d", Size: sizeOf(rt, "asked")})
			if err != nil {
				rt.Fatal(err)
			}
			f, err := w.r.Begin(w.now, plan)
			if err != nil {
				rt.Fatal(err)
			}
			later := w.now + time.Duration(rapid.IntRange(0, 60_000).Draw(rt, "ms"))*ms
			if later-w.now >= a.rtt && rapid.Bool().Draw(rt, "some bytes") {
				f.Progress(later, rapid.IntRange(1, 1e6).Draw(rt, "bytes"))
			}
			w.now = later
			f.release(f.awaited) // what is awaited is gone either way
			before := expectations(w, a)
			how := Failure(rapid.IntRange(0, int(failures)-1).Draw(rt, "how"))
			f.Fail(w.now, how)
			notSooner(rt, how.String(), before, expectations(w, a))
		}
	})
}

// Nor by leaving and coming back, wherever it comes back from.
func TestReconnectingNeverImprovesARank(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		a := w.add(&actor{id: "subject", addr: in(1, 1), rate: 4e6, rtt: 30 * ms})
		history(rt, w, a)
		before := expectations(w, a)
		demoted := w.r.peers[a.id].demoted
		if err := w.r.Leave(w.now, a.conn); err != nil {
			rt.Fatal(err)
		}
		if rapid.Bool().Draw(rt, "moves") {
			a.addr = in(2, 2)
		}
		w.join(a)
		// The old connection was warm; a new one is not, so it may only be slower.
		notSooner(rt, "reconnecting", before, expectations(w, a))
		if w.r.peers[a.id].demoted != demoted {
			rt.Fatal("the verdict is gone")
		}
	})
}

// Holding echoes, from the first one on, never makes a peer look sooner than it would without, at any
// size: though its first byte must then be as late, for that bounds the base round trip.
func TestHoldingEchoesNeverImprovesARank(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		hold := time.Duration(rapid.IntRange(1, 1500).Draw(rt, "held")) * ms
		late := rapid.Bool().Draw(rt, "first byte too")
		served := rapid.SliceOfN(rapid.SampledFrom(someSizes[1:5]), 0, 6).Draw(rt, "served")
		rate := rapid.Float64Range(1e5, 1e8).Draw(rt, "rate")
		build := func(held time.Duration) (*world, *actor) {
			w := newWorld(t)
			w.rng = rand.New(rand.NewPCG(5, 6))
			a := w.add(&actor{id: "subject", addr: in(1, 1), rate: rate, rtt: 20 * ms, holds: held})
			a.answer = func(a *actor, n int64, rng *rand.Rand) reply {
				r := honest(a, n, rng)
				if late {
					r.first, r.last = r.first+a.holds, r.last+a.holds
				}
				return r
			}
			a.reads = rate
			for _, n := range served {
				w.from(a, n)
				w.now += time.Minute
			}
			return w, a
		}
		w, a := build(0)
		v, b := build(hold)
		for _, n := range someSizes {
			plain, held := w.expect(a, n), v.expect(b, n)
			if held < plain-plain/50-ms {
				rt.Fatalf("%d bytes: %v with echoes held by %v (first byte too: %v), %v without", n, held, hold, late, plain)
			}
		}
	})
}

// The smallest size advertised never changes who wins: a liar is not chosen where it would not be if
// it told the truth.
func TestTheSmallestSizeDecidesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const size = 4e6
		said := rapid.Int64Range(1, size-1).Draw(rt, "said")
		aged := rapid.Bool().Draw(rt, "aged")
		slower := rapid.Float64Range(1.3, 20).Draw(rt, "the liar is slower by")
		n := rapid.IntRange(1, 5).Draw(rt, "honest")
		w := newWorld(t)
		for i := range n {
			w.add(&actor{id: fmt.Sprint("honest ", i), addr: in(i, 1), rate: 1e7, rtt: 20 * ms})
		}
		liar := w.add(&actor{id: "liar", addr: in(99, 1), rate: 1e7 / slower, rtt: 20 * ms})
		for range 3 {
			for _, a := range w.order {
				w.from(a, size)
			}
		}
		if aged {
			w.now += 2 * time.Hour
		}
		liar.lies = said
		for range 5 {
			res := w.fetchPlan(size)
			if res.Primary.Peer == "liar" {
				rt.Fatalf("the liar was chosen: %s", res.Why)
			}
		}
	})
}

// fetchPlan only chooses.
func (w *world) fetchPlan(size int64) Plan {
	w.t.Helper()
	w.data++
	datum := fmt.Sprint("datum ", w.data)
	for _, a := range w.order {
		s := size
		if a.lies > 0 {
			s = a.lies
		}
		if err := w.r.Offer(w.now, a.id, datum, Size{Bytes: s}); err != nil {
			w.t.Fatal(err)
		}
	}
	plan, err := w.r.Choose(w.now, Query{Datum: datum})
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// A peer that trickles so that its records are void, the silence being of our own making, earns
// nothing by it.
func TestVoidRecordsEarnNothing(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "subject", addr: in(1, 1), rate: 1e5, rtt: 30 * ms})
	before := expectations(w, a)
	for i := range 20 {
		plan := w.fetchPlan(1e6)
		f, err := w.r.Begin(w.now, plan)
		if err != nil {
			t.Fatal(err)
		}
		f.Progress(w.now+30*ms, 5e5)
		f.Progress(w.now+30*time.Second, 5e5)
		a.gauge.set(func(r *burst.Reading) { r.Ours += 29 * time.Second })
		w.now += 30 * time.Second
		f.Done(w.now, 1e6)
		if p := w.r.peers["subject"]; p.completions != 0 {
			t.Fatalf("fetch %d was credited", i)
		}
	}
	for i, after := range expectations(w, a) {
		if after < before[i] {
			t.Errorf("%d bytes: %v, %v before", someSizes[i], after, before[i])
		}
	}
}

// A thousand newcomers of one group get one group's share, of trials and of first choices alike.
func TestAThousandNewcomersOfOneGroup(t *testing.T) {
	w := newWorld(t)
	for i := range 1000 {
		w.add(&actor{id: fmt.Sprint("sybil ", i), addr: in(1, i), rate: 1e7, rtt: 20 * ms})
	}
	for i := range 4 {
		w.add(&actor{id: fmt.Sprint("honest newcomer ", i), addr: in(50+i, 1), rate: 1e7, rtt: 20 * ms})
	}
	first, trials := map[Group]int{}, map[Group]int{}
	const n = 5000
	for range n {
		plan, err := w.r.Choose(w.now, Query{Size: 1e6})
		if err != nil {
			t.Fatal(err)
		}
		first[plan.Primary.Group]++
		for _, p := range plan.Shadow {
			trials[p.Group]++
		}
		w.now += time.Second
		w.r.expirePlans(w.now)
	}
	sybils := GroupOf("", in(1, 1), nil)
	aboutShare(t, "first choices of the group of a thousand", first[sybils], n, 0.2)
	all := 0
	for _, k := range trials {
		all += k
	}
	if all < 50 {
		t.Fatalf("%d trials of %d choices", all, n)
	}
	if trials[sybils] > all/2 {
		t.Errorf("%d of %d trials went to the group of a thousand", trials[sybils], all)
	}
}

// A rate that reads 10 % fast for every peer changes no choice and no verdict.
func TestACommonBiasOfRatesChangesNothing(t *testing.T) {
	run := func(bias float64) (map[string]int, map[string]audit.Kind) {
		w := newWorld(t)
		for i, s := range mixed {
			a := &actor{id: fmt.Sprint("peer ", i), addr: in(i, 1), rate: s[0] * 1e6 / 8, rtt: time.Duration(s[1]) * ms}
			a.reads = a.rate * bias
			w.add(a)
		}
		half := &actor{id: "padder", addr: in(90, 1), rate: 1e7, rtt: 10 * ms, answer: slowed(12), reads: 1e7 * bias}
		w.add(half)
		for range 14 {
			for _, a := range w.order {
				w.from(a, 4e6)
				w.now += time.Minute
			}
		}
		kinds := map[string]audit.Kind{}
		for _, a := range w.order {
			kinds[a.id] = w.r.peers[a.id].verdict.Kind
		}
		return w.ranks(4e6), kinds
	}
	ranks, kinds := run(1)
	biased, biasedKinds := run(1.1)
	for id, k := range kinds {
		if biasedKinds[id] != k {
			t.Errorf("%s is %v, and %v with rates that read fast", id, k, biasedKinds[id])
		}
		if d := ranks[id] - biased[id]; d < -1 || d > 1 { // neighbours may be equal
			t.Errorf("%s ranks %d, and %d with rates that read fast", id, ranks[id], biased[id])
		}
	}
	if !kinds["padder"].Punitive() {
		t.Errorf("the padder is %v", kinds["padder"])
	}
}

// While verdicts are held because most groups degrade at once, nothing counts; and a third of the
// groups cannot bring it about.
func TestItIsUs(t *testing.T) {
	build := func() *world {
		w := newWorld(t)
		for i := range 16 {
			w.add(&actor{id: fmt.Sprintf("peer %02d", i), addr: in(i, 1), rate: 1e7, rtt: 20 * ms})
		}
		for range 4 {
			for _, a := range w.order {
				w.from(a, 1e6)
			}
		}
		w.now += 2 * time.Hour
		return w
	}
	w := build()
	ranks := w.ranks(1e6)
	for _, a := range w.order { // our own line is throttled, say
		a.answer = slowed(30)
		a.reads = a.rate
	}
	for range 12 {
		for _, a := range w.order {
			at := w.now // all at once
			w.from(a, 1e6)
			w.now = at + 500*ms
		}
	}
	held := false
	for _, e := range w.r.Events() {
		held = held || e.Kind == HoldBegan
		if e.Kind == Demoted || e.Kind == DropNow {
			t.Errorf("%v %s", e.At, e)
		}
	}
	if !held {
		t.Error("no hold")
	}
	if d := w.r.Churn(w.now); d != nil {
		t.Errorf("proposed for churn meanwhile: %v", d)
	}
	after := w.ranks(1e6)
	moved := 0
	for id, k := range ranks {
		if d := after[id] - k; d > 4 || d < -4 {
			moved++
		}
	}
	_ = moved // all are alike; what counts is above

	w = build()
	for _, a := range w.order[:5] {
		a.answer, a.reads = slowed(30), 1e7
	}
	for range 12 {
		for _, a := range w.order {
			w.from(a, 1e6)
		}
	}
	for _, e := range w.r.Events() {
		if e.Kind == HoldBegan {
			t.Errorf("a third of the groups brought a hold about: %s", e)
		}
	}
	for _, a := range w.order[:5] {
		if !w.r.peers[a.id].demoted {
			t.Errorf("%s withheld twelve times: %s", a.id, w.r.peers[a.id].verdict)
		}
	}
}

// A gross withholder is convicted within ten of its own gross misses, one that stops its echoes too is
// not, and no honest peer ever is.
func TestConviction(t *testing.T) {
	for name, c := range map[string]struct {
		a    actor
		want audit.Kind
	}{
		"withholds":       {actor{answer: slowed(8), reads: 1e7}, audit.Withholding},
		"withholds most":  {actor{answer: slowed(30), reads: 1e7}, audit.Withholding},
		"half rate":       {actor{answer: slowed(2), reads: 1e7}, audit.Overclaims},
		"honest":          {actor{}, audit.Clear},
		"honestly slower": {actor{answer: slowed(2)}, audit.Clear},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := c.a
			a.id, a.addr, a.rate, a.rtt = "subject", in(1, 1), 1e7, 20*ms
			w.add(&a)
			good := w.honestPeers([2]float64{40, 20}, [2]float64{70, 30})
			for range 3 { // until it has a claim that covers such a fetch
				w.from(&a, 4e6)
			}
			for range 10 {
				w.now += time.Minute
				w.from(&a, 4e6)
				for _, g := range good {
					w.from(g, 4e6)
				}
			}
			if v := w.r.peers["subject"].verdict; v.Kind != c.want {
				t.Errorf("it is %s", v)
			}
			for _, g := range good {
				if v := w.r.peers[g.id].verdict; v.Kind != audit.Clear {
					t.Errorf("%s is %s", g.id, v)
				}
			}
		})
	}
}
