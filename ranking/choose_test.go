package ranking

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
)

// served is a world in which n equal peers of distinct groups have served three fetches each.
func served(t *testing.T, n int, size int64, change ...func(*Config)) *world {
	t.Helper()
	w := newWorld(t, change...)
	for i := range n {
		w.add(&actor{id: fmt.Sprintf("peer %02d", i), addr: in(i, 1), rate: 1e7, rtt: 20 * ms})
	}
	for range 3 {
		for _, a := range w.order {
			w.now += 10 * time.Second
			w.from(a, size)
		}
	}
	w.now += 10 * time.Second
	return w
}

func (w *world) choose(q Query) Plan {
	w.t.Helper()
	p, err := w.r.Choose(w.now, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func TestChooseRefuses(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		q    Query
		want error
	}{
		"nobody":          {Query{Size: 1}, ErrNoPeer},
		"no size":         {Query{Datum: "d"}, ErrNoSize},
		"a negative size": {Query{Size: -1}, ErrSize},
		"an absurd size":  {Query{Size: MaxSize + 1}, ErrSize},
	} {
		if _, err := w.r.Choose(0, c.q); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.add(&actor{id: "a", rate: 1e6, rtt: 10 * ms})
	if _, err := w.r.Choose(0, Query{Size: 1, Exclude: []string{"a"}}); !errors.Is(err, ErrNoPeer) {
		t.Errorf("all are excluded: %v", err)
	}
	if _, err := w.r.Choose(0, Query{Size: 1, RTT: RTTClass{From: time.Second}}); !errors.Is(err, ErrNoPeer) {
		t.Errorf("nobody is that far: %v", err)
	}
}

// Only those who offered a datum are asked for it, however good others are.
func TestChooseAmongHolders(t *testing.T) {
	w := served(t, 6, 1e6)
	slow := w.add(&actor{id: "slow", addr: in(50, 1), rate: 1e5, rtt: 90 * ms})
	if err := w.r.Offer(w.now, slow.id, "rare", Size{Bytes: 1e6}); err != nil {
		t.Fatal(err)
	}
	if p := w.choose(Query{Datum: "rare"}); p.Primary.Peer != "slow" || p.Size.Bytes != 1e6 {
		t.Errorf("%+v", p)
	}
	// Once it says that it has it not, anybody may be asked.
	f, err := w.r.Begin(w.now, w.choose(Query{Datum: "rare"}))
	if err != nil {
		t.Fatal(err)
	}
	f.Fail(w.now+100*ms, NotFound)
	if p := w.choose(Query{Datum: "rare"}); p.Primary.Peer == "slow" {
		t.Error("it was asked again")
	}
}

func TestChooseWithinAnRTTClass(t *testing.T) {
	w := newWorld(t)
	peers := w.honestPeers(mixed...)
	for range 3 {
		for _, a := range peers {
			w.from(a, 64e3)
		}
	}
	for range 50 {
		p := w.choose(Query{Size: 64e3, RTT: RTTClass{From: 100 * ms, To: 200 * ms}})
		if a := w.actors[p.Primary.Peer]; a.rtt != 150*ms {
			t.Fatalf("%s is at %v", a.id, a.rtt)
		}
	}
}

// Equals are chosen alike, and by group first.
func TestTheBandIsDrawnFrom(t *testing.T) {
	w := served(t, 3, 1e6)
	for i := range 3 {
		w.add(&actor{id: fmt.Sprint("neighbour ", i), addr: in(0, 10+i), rate: 1e7, rtt: 20 * ms})
	}
	for range 3 {
		for _, a := range w.order {
			w.now += 10 * time.Second
			w.from(a, 1e6)
		}
	}
	w.now += 10 * time.Second
	n := map[Group]int{}
	for range 3000 {
		p := w.choose(Query{Size: 1e6})
		if p.Why.Band != 6 || p.Why.Groups != 3 {
			t.Fatalf("%+v", p.Why)
		}
		n[p.Primary.Group]++
	}
	for g, k := range n {
		aboutShare(t, string(g), k, 3000, 1.0/3)
	}
}

// A critical fetch is asked of two peers of distinct groups.
func TestCriticalFetchesAreRedundant(t *testing.T) {
	w := served(t, 4, 1e6)
	for range 100 {
		p := w.choose(Query{Size: 1e6, Critical: true})
		if len(p.Redundant) != 1 || p.Redundant[0].Group == p.Primary.Group || p.Redundant[0].Role != Redundant {
			t.Fatalf("%+v", p.Redundant)
		}
		for _, s := range p.Shadow {
			if s.Role == Exploration {
				t.Fatal("a critical fetch was explored with")
			}
		}
	}
	three := served(t, 4, 1e6, func(c *Config) { c.Copies = 3 })
	if p := three.choose(Query{Size: 1e6, Critical: true}); len(p.Redundant) != 2 || p.Redundant[0].Group == p.Redundant[1].Group {
		t.Errorf("%+v", p.Redundant)
	}
	// Without the budget for it one must do.
	if p := w.choose(Query{Size: 1 << 30, Critical: true}); len(p.Redundant) != 0 {
		t.Errorf("a copy of 1 GiB, of a budget of 64 MiB: %+v", p.Redundant)
	}
	if p := w.choose(Query{Size: 1e6}); len(p.Redundant) != 0 {
		t.Errorf("an ordinary fetch is redundant: %+v", p.Redundant)
	}
}

// Farm a good rank, defect on the critical: then it is never alone on one, however good its average.
func TestDefectorsAreNeverAlone(t *testing.T) {
	w := served(t, 4, 1e6, func(c *Config) { c.Copies = 1 })
	d := w.add(&actor{id: "defector", addr: in(70, 1), rate: 1e8, rtt: 5 * ms})
	for range 20 {
		w.from(d, 1e6)
	}
	for range 4 {
		d.answer = stalling(0.9)
		w.fetch(1e6, func(q *Query) { q.Critical, q.Exclude = true, w.allBut(d.id) })
		d.answer = honest
		for range 4 {
			w.from(d, 1e6)
		}
	}
	p := w.r.peers[d.id]
	if !p.verdict.Kinds.Has(audit.NeverAlone) {
		t.Fatalf("%s", p.verdict)
	}
	for range 50 {
		plan := w.choose(Query{Size: 1e6, Critical: true})
		if plan.Primary.Peer == d.id && len(plan.Redundant) == 0 {
			t.Fatal("it is alone on a critical fetch")
		}
	}
}

// While a higher priority runs on the best peer, a lower one goes to another that would do.
func TestPriorities(t *testing.T) {
	w := newWorld(t)
	best := w.add(&actor{id: "best", addr: in(1, 1), rate: 1e7, rtt: 10 * ms})
	next := w.add(&actor{id: "next", addr: in(2, 1), rate: 0.8e7, rtt: 10 * ms})
	for range 3 {
		w.from(best, 1e5)
		w.from(next, 1e5)
	}
	f, err := w.r.Begin(w.now, w.choose(Query{Size: 1e5, Priority: 5, Exclude: []string{"next"}}))
	if err != nil {
		t.Fatal(err)
	}
	f.Progress(w.now+20*ms, 1e5-1000)
	if p := w.choose(Query{Size: 1e5}); p.Primary.Peer != "next" {
		t.Errorf("put beside a higher priority: %s", p.Why)
	}
	if p := w.choose(Query{Size: 1e5, Priority: 5}); p.Primary.Peer != "best" {
		t.Errorf("an equal priority: %s", p.Why)
	}
	f.Abort(w.now + 30*ms)
	if p := w.choose(Query{Size: 1e5}); p.Primary.Peer != "best" {
		t.Errorf("nothing runs any more: %s", p.Why)
	}
}

// What we still await from a peer comes first, so that it is not chosen for everything.
func TestOwnOutstandingBytesCount(t *testing.T) {
	w := served(t, 2, 4e6)
	var held []*Fetch
	n := map[string]int{}
	for range 10 {
		p := w.choose(Query{Size: 4e6})
		n[p.Primary.Peer]++
		f, err := w.r.Begin(w.now, p)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, f)
	}
	if n["peer 00"] != 5 || n["peer 01"] != 5 {
		t.Errorf("%v", n)
	}
	for _, f := range held {
		f.Abort(w.now)
	}
	before := w.expect(w.order[0], 4e6)
	if err := w.r.Busy("peer 00", 40e6); err != nil {
		t.Fatal(err)
	}
	if after := w.expect(w.order[0], 4e6); after < 5*before {
		t.Errorf("%v with ten times as much awaited, %v without", after, before)
	}
	if p := w.choose(Query{Size: 4e6}); p.Primary.Peer != "peer 01" {
		t.Errorf("%s", p.Why)
	}
	if err := w.r.Busy("peer 00", -40e6); err != nil {
		t.Fatal(err)
	}
	if after := w.expect(w.order[0], 4e6); after > before*11/10 {
		t.Errorf("%v when it is over, %v before", after, before)
	}
}

// A deadline that nobody keeps is told.
func TestDeadlines(t *testing.T) {
	w := served(t, 2, 4e6)
	if p := w.choose(Query{Size: 4e6, Deadline: w.now + time.Minute}); p.Late {
		t.Errorf("late: %v", p.Predicted)
	}
	if p := w.choose(Query{Size: 4e6, Deadline: w.now + 100*ms}); !p.Late {
		t.Errorf("not late: %v", p.Predicted)
	}
}

// A disputed size: the largest counts, nobody of the dispute is asked alone, and a proven lie demotes.
func TestDisputedSizes(t *testing.T) {
	w := served(t, 3, 1e6)
	liar := w.order[0]
	liar.lies = 1e5
	p := w.fetchPlan(1e6)
	if p.Size.Bytes != 1e6 || !p.Why.Disputed {
		t.Errorf("%+v", p)
	}
	if len(p.Redundant) != 1 {
		t.Errorf("alone in a dispute: %+v", p)
	}
	w.run(p, 1e6)
	if v := w.r.peers[liar.id].verdict; v.Kind != audit.ProvenLie {
		t.Errorf("the liar: %s", v)
	}
	for _, a := range w.order[1:] {
		if v := w.r.peers[a.id].verdict; v.Kind != audit.Clear {
			t.Errorf("%s: %s", a.id, v)
		}
	}
	for range 50 {
		if p := w.fetchPlan(1e6); p.Primary.Peer == liar.id {
			t.Fatal("the liar was chosen")
		}
	}
	if p := w.fetchPlan(1e6); p.Why.Disputed || len(p.Redundant) != 0 {
		t.Errorf("a proven liar's word still keeps a dispute open: %+v", p)
	}
	kinds := kindsOf(w.r.Events())
	if !slices.Contains(kinds, SizeLie) || !slices.Contains(kinds, Demoted) || slices.Contains(kinds, EclipseSuspected) {
		t.Errorf("%v", kinds)
	}
}

func kindsOf(events []Event) []EventKind {
	var out []EventKind
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// Everybody agrees, and everybody lied: that is for the peer selection. An attested size that is wrong
// is nobody's fault among the peers.
func TestEclipseAndAttesters(t *testing.T) {
	w := served(t, 3, 1e6)
	for _, a := range w.order {
		a.lies = 1e5
	}
	w.run(w.fetchPlan(1e6), 1e6)
	if k := kindsOf(w.r.Events()); !slices.Contains(k, EclipseSuspected) {
		t.Errorf("%v", k)
	}

	w = served(t, 3, 1e6)
	for _, a := range w.order {
		if err := w.r.Offer(w.now, a.id, "signed", Size{Bytes: 5e5, Provenance: Attested}); err != nil {
			t.Fatal(err)
		}
	}
	w.r.Events()
	w.run(w.choose(Query{Datum: "signed"}), 1e6)
	events := w.r.Events()
	if k := kindsOf(events); !slices.Contains(k, AttesterFault) || slices.Contains(k, Demoted) {
		t.Errorf("%v", events)
	}
}

// A size that is said while the fetch runs changes nothing until it is over.
func TestSizesSaidInMidFetchChangeNothing(t *testing.T) {
	w := served(t, 3, 1e6)
	p := w.fetchPlan(1e6)
	f, err := w.r.Begin(w.now, p)
	if err != nil {
		t.Fatal(err)
	}
	f.Progress(w.now+20*ms, 1e5)
	late := w.add(&actor{id: "late", addr: in(60, 1), rate: 1e9, rtt: 5 * ms})
	if err := w.r.Offer(w.now, late.id, p.Datum, Size{Bytes: 10}); err != nil {
		t.Fatal(err)
	}
	if a := f.Advice(w.now + 50*ms); a.Kind != Wait {
		t.Errorf("%s", a)
	}
	if q := w.choose(Query{Datum: p.Datum}); q.Size.Bytes != 1e6 {
		t.Errorf("the size is now %d", q.Size.Bytes)
	}
	f.Progress(w.now+100*ms, 9e5)
	f.Done(w.now+100*ms, 1e6)
	if v := w.r.peers["late"].verdict; v.Kind != audit.ProvenLie {
		t.Errorf("it lied all the same: %s", v)
	}
}

// Newcomers start behind those who proved themselves, and behind other newcomers if their group has
// convicts.
func TestNewcomers(t *testing.T) {
	w := served(t, 3, 1e6)
	bad := w.add(&actor{id: "bad", addr: in(80, 1), rate: 1e7, rtt: 20 * ms, lies: 5})
	w.run(w.fetchPlan(1e6), 1e6)
	if !w.r.peers[bad.id].demoted {
		t.Fatal("not convicted")
	}
	fresh := w.add(&actor{id: "fresh", addr: in(81, 1), rate: 1e7, rtt: 20 * ms})
	again := w.add(&actor{id: "again", addr: in(80, 2), rate: 1e7, rtt: 20 * ms})
	if a, b := w.expect(fresh, 1e6), w.expect(w.order[0], 1e6); a <= b {
		t.Errorf("a newcomer is expected in %v, one who served in %v", a, b)
	}
	if a, b := w.expect(again, 1e6), w.expect(fresh, 1e6); a < 2*b {
		t.Errorf("a newcomer of a convict's group is expected in %v, another in %v", a, b)
	}
	w.now += 10 * day
	if a, b := w.expect(again, 1e6), w.expect(fresh, 1e6); a > b*11/10 {
		t.Errorf("ten days on: %v, %v", a, b)
	}
}

// A demoted peer is asked only if nobody else is there, and redeemed by shadows.
func TestDemotionAndShadows(t *testing.T) {
	w := served(t, 4, 1e6)
	bad := w.order[0]
	bad.answer, bad.reads = slowed(10), 1e7
	for range 10 {
		w.from(bad, 1e6)
	}
	if !w.r.peers[bad.id].demoted {
		t.Fatalf("%s", w.r.peers[bad.id].verdict)
	}
	bad.answer = honest
	shadows := 0
	for range 60_000 {
		w.now += time.Minute
		p := w.fetchPlan(1e6)
		if p.Primary.Peer == bad.id {
			t.Fatal("chosen while demoted")
		}
		for _, s := range p.Shadow {
			if s.Peer != bad.id {
				continue
			}
			if s.Role != Shadow {
				t.Fatalf("%v", s.Role)
			}
			shadows++
		}
		if len(p.Shadow) == 0 {
			continue // most of the fetches need not be simulated
		}
		w.run(p, 1e6)
		if !w.r.peers[bad.id].demoted {
			break
		}
	}
	if shadows < 5 {
		t.Errorf("%d shadows", shadows)
	}
	if w.r.peers[bad.id].demoted {
		t.Errorf("not redeemed by %d shadows: %s", shadows, w.r.peers[bad.id].verdict)
	}
	only := w.choose(Query{Size: 1e6, Exclude: w.allBut(bad.id)})
	if only.Primary.Peer != bad.id {
		t.Errorf("%+v", only)
	}
}

func TestDryRun(t *testing.T) {
	for _, dry := range []bool{false, true} {
		w := served(t, 2, 1e6, func(c *Config) { c.Dry = dry })
		liar := w.order[0]
		liar.lies, liar.rate = 1e5, 1e9
		w.run(w.fetchPlan(1e6), 1e6)
		liar.lies = 0
		found := false
		for _, e := range w.r.Events() {
			if e.Kind == Demoted {
				found = true
				if e.Dry != dry || e.Peer != liar.id {
					t.Errorf("%+v", e)
				}
			}
		}
		if !found {
			t.Errorf("dry %v: the verdict was not told", dry)
		}
		chosen := 0
		for range 60 {
			if w.choose(Query{Size: 1e6}).Primary.Peer == liar.id {
				chosen++
			}
		}
		if (chosen > 0) != dry {
			t.Errorf("dry %v: the liar was chosen %d times of 60", dry, chosen)
		}
	}
}

func TestPardonAndPin(t *testing.T) {
	w := served(t, 2, 1e6)
	liar := w.order[0]
	liar.lies = 1e5
	w.run(w.fetchPlan(1e6), 1e6)
	p := w.r.peers[liar.id]
	if err := w.r.Pin(w.now, liar.id, true); err != nil {
		t.Fatal(err)
	}
	if p.demoted {
		t.Error("demoted although pinned")
	}
	if err := w.r.Pin(w.now, liar.id, false); err != nil {
		t.Fatal(err)
	}
	if !p.demoted {
		t.Error("not demoted though no longer pinned")
	}
	if err := w.r.Pardon(w.now, liar.id); err != nil {
		t.Fatal(err)
	}
	if p.demoted || p.verdict.Kind != audit.Clear {
		t.Errorf("pardoned: %s", p.verdict)
	}
	for _, err := range []error{
		w.r.Pin(0, "nobody", true), w.r.Pardon(0, "nobody"), w.r.Busy("nobody", 1), w.r.Leave(0, 99),
		w.r.Offer(0, "nobody", "d", Size{Bytes: 1}),
	} {
		if !errors.Is(err, ErrUnknownPeer) {
			t.Errorf("%v", err)
		}
	}
}

// Exploration finds a better peer than those in use, at little cost.
func TestExplorationFindsTheBest(t *testing.T) {
	w := served(t, 3, 1e6)
	best := w.add(&actor{id: "best", addr: in(90, 1), rate: 5e7, rtt: 10 * ms})
	for i := range 3000 {
		w.now += time.Second
		p := w.fetchPlan(1e6)
		if p.Primary.Peer == best.id {
			if total := int64(i) * 1e6; w.extra > total/20+32<<20 {
				t.Errorf("%d bytes extra of %d", w.extra, total)
			}
			return
		}
		if len(p.Shadow) > 0 {
			w.run(p, 1e6)
		}
	}
	t.Error("the best peer was never found")
}

func TestWhyReads(t *testing.T) {
	w := served(t, 3, 1e6)
	s := w.choose(Query{Size: 1e6}).Why.String()
	for _, want := range []string{"best of 3", "drawn from 3", "% measured"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q lacks %q", s, want)
		}
	}
	s = Why{Candidates: 2, Next: time.Second, Disputed: true, LastResort: true}.String()
	for _, want := range []string{"the next at 1s", "disputed", "nobody more reliable"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q lacks %q", s, want)
		}
	}
}

// The same seed and history make the same choices.
func TestChoicesRepeat(t *testing.T) {
	run := func(seed uint64) string {
		w := served(t, 5, 1e6, func(c *Config) { c.Seed = seed })
		var b strings.Builder
		for range 40 {
			b.WriteString(w.choose(Query{Size: 1e6}).Primary.Peer)
		}
		return b.String()
	}
	if first, second := run(1), run(1); first != second {
		t.Error("two runs of one seed differ")
	}
	if run(1) == run(2) {
		t.Error("two seeds make the same choices")
	}
}

// What was pardoned is not charged when its datum comes.
func TestPardonIsForDebtsToo(t *testing.T) {
	w := served(t, 3, 1e6)
	a := w.order[0]
	f := w.started(a, Query{Datum: "late", Size: 1e6})
	w.now += time.Second
	f.Fail(w.now, Reset)
	if err := w.r.Pardon(w.now, a.id); err != nil {
		t.Fatal(err)
	}
	w.now += time.Minute
	g := w.started(w.order[1], Query{Datum: "late", Size: 1e6})
	w.now += 200 * ms
	g.Progress(w.now, 1e6)
	g.Done(w.now, 1e6)
	if s, _ := w.r.Standing(w.now, a.id, 1e6); s.Penalty != 1 {
		t.Errorf("it is held for %v times the time", s.Penalty)
	}
}
