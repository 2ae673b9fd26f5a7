package ranking

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const mb = int64(1_000_000)

// bare is limits without floors, in which shares show.
func bare() budgetLimits {
	l := defaultBudgetLimits()
	l.floor, l.redundancyFloor = 0, 0
	return l
}

func TestBudgetShares(t *testing.T) {
	b := newBudget(bare())
	for _, what := range []spending{ordinary, critical, redundant} {
		if got := b.left(0, what); got != 0 {
			t.Errorf("%s: %d before anything was fetched", what, got)
		}
	}
	b.fetched(time.Minute, 1000*mb)
	for what, want := range map[spending]int64{ordinary: 25 * mb, critical: 50 * mb, redundant: 250 * mb} {
		if got := b.left(time.Minute, what); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
}

func TestBudgetReserve(t *testing.T) {
	b := newBudget(bare())
	b.fetched(0, 1000*mb)
	steps := []struct {
		what  spending
		bytes int64
		ok    bool
	}{
		{ordinary, 26 * mb, false}, // the reserve is not for it
		{ordinary, 20 * mb, true},
		{ordinary, 6 * mb, false},
		{ordinary, 5 * mb, true},
		{ordinary, 1, false},
		{critical, 26 * mb, false},
		{critical, 25 * mb, true},
		{critical, 1, false},
		{redundant, 251 * mb, false}, // its own budget, whatever the others did
		{redundant, 250 * mb, true},
		{ordinary, -1, false},
		{redundant, 0, true},
	}
	for i, s := range steps {
		if _, ok := b.reserve(time.Minute, s.what, s.bytes); ok != s.ok {
			t.Errorf("step %d: %d bytes %s: %v", i, s.bytes, s.what, ok)
		}
	}
}

// Critical spending takes from the whole, so that together they stay within the share.
func TestCriticalFirst(t *testing.T) {
	b := newBudget(bare())
	b.fetched(0, 1000*mb)
	b.reserve(0, critical, 40*mb)
	if got := b.left(0, ordinary); got != 10*mb {
		t.Errorf("ordinary: %d left of ten", got)
	}
}

func TestSettleCountsWhatCame(t *testing.T) {
	b := newBudget(bare())
	b.fetched(0, 1000*mb)
	r, _ := b.reserve(0, ordinary, 20*mb)
	if got := b.left(0, ordinary); got != 5*mb {
		t.Errorf("reserved: %d left", got)
	}
	b.settle(time.Minute, r, 3*mb)
	if got := b.left(time.Minute, ordinary); got != 22*mb {
		t.Errorf("settled: %d left", got)
	}
	r, _ = b.reserve(time.Minute, ordinary, mb)
	b.settle(time.Minute, r, -5)
	if got := b.left(time.Minute, ordinary); got != 22*mb {
		t.Errorf("settled for nothing: %d left", got)
	}
	r, _ = b.reserve(time.Minute, ordinary, mb)
	b.settle(time.Minute, r, 60*mb) // more than was thought
	if got := b.left(time.Minute, ordinary); got != 0 {
		t.Errorf("overdrawn: %d left", got)
	}
	if got := b.left(time.Minute, redundant); got != 250*mb {
		t.Errorf("redundant: %d left", got)
	}
}

func TestBudgetForgetsInAnHour(t *testing.T) {
	b := newBudget(bare())
	b.fetched(0, 1000*mb)
	r, _ := b.reserve(0, ordinary, 25*mb)
	b.settle(0, r, 25*mb)
	b.fetched(30*time.Minute, 400*mb)
	for _, c := range []struct {
		at   time.Duration
		want int64
	}{
		{30 * time.Minute, 10 * mb},
		{59 * time.Minute, 10 * mb},
		{61 * time.Minute, 10 * mb}, // 2.5 % of 400 MB, nothing spent
		{91 * time.Minute, 0},
		{100 * time.Hour, 0},
	} {
		if got := b.left(c.at, ordinary); got != c.want {
			t.Errorf("after %v: %d left, want %d", c.at, got, c.want)
		}
	}
}

func TestBudgetFloors(t *testing.T) {
	b := newBudget(defaultBudgetLimits())
	if _, ok := b.reserve(0, ordinary, 12*mb); !ok {
		t.Error("a young node may not hedge one datum")
	}
	if _, ok := b.reserve(0, ordinary, 12*mb); ok {
		t.Error("it may hedge two")
	}
	if _, ok := b.reserve(0, critical, 12*mb); !ok {
		t.Error("it may not hedge a critical one beside")
	}
	if got := b.left(0, redundant); got != 64<<20 {
		t.Errorf("redundant: %d", got)
	}
}

// First trials come out of what is ordinary, and take no more than their part of it.
func TestDiscoveryIsAPart(t *testing.T) {
	b := newBudget(bare())
	b.fetched(0, 1000*mb)
	if got := b.left(0, discovery); got != 10*mb {
		t.Fatalf("%d left of one in a hundred", got)
	}
	r, ok := b.reserve(0, discovery, 8*mb)
	if _, more := b.reserve(0, discovery, 3*mb); !ok || more {
		t.Errorf("8 of ten: %v, 3 more: %v", ok, more)
	}
	if got := b.left(0, ordinary); got != 17*mb {
		t.Errorf("ordinary: %d left of 25", got)
	}
	b.settle(0, r, 0) // it never answered
	if got := b.left(0, discovery); got != 10*mb {
		t.Errorf("%d left after a trial that cost nothing", got)
	}
	b.reserve(0, ordinary, 20*mb)
	if got := b.left(0, discovery); got != 5*mb {
		t.Errorf("%d left where hedges have used the rest", got)
	}
	if got := newBudget(defaultBudgetLimits()).left(0, discovery); got != 8<<20 {
		t.Errorf("a young node has %d", got)
	}
}

func TestHourGoesBack(t *testing.T) {
	var h hour
	h.add(10*time.Minute, 5)
	h.add(5*time.Minute, 7)
	h.add(-time.Hour, 1)
	if got := h.sum(0); got != 13 {
		t.Errorf("an instant that goes back ages nothing: %d", got)
	}
}

// An hour against a list of all that was added.
func TestHourAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type added struct {
			slot int64
			n    int64
		}
		var h hour
		var all []added
		now := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += time.Duration(rapid.Int64Range(0, int64(40*time.Minute)).Draw(t, "later"))
			n := rapid.Int64Range(0, 1e9).Draw(t, "bytes")
			h.add(now, n)
			all = append(all, added{int64(now / time.Minute), n})
			want := int64(0)
			for _, a := range all {
				if a.slot > int64(now/time.Minute)-budgetSlots {
					want += a.n
				}
			}
			if got := h.sum(now); got != want {
				t.Fatalf("at %v: %d, want %d", now, got, want)
			}
		}
	})
}

// Whatever is asked for in whatever order, ordinary and critical extras stay within the share of what
// was useful, ordinary ones within half, redundancy within its own.
func TestBudgetHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := bare()
		b := newBudget(l)
		var useful int64
		var spent [spendings]int64
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "useful") {
				n := rapid.Int64Range(0, 100*mb).Draw(t, "bytes")
				b.fetched(0, n)
				useful += n
				continue
			}
			what := spending(rapid.IntRange(0, int(spendings)-1).Draw(t, "what"))
			n := rapid.Int64Range(0, 10*mb).Draw(t, "extra")
			r, ok := b.reserve(0, what, n)
			if !ok {
				continue
			}
			spent[what] += n
			if rapid.Bool().Draw(t, "settled") {
				b.settle(0, r, n)
			}
		}
		all := float64(useful) * l.share
		if got := float64(spent[ordinary] + spent[critical]); got > all {
			t.Errorf("spent %.0f of %.0f", got, all)
		}
		if got := float64(spent[ordinary]); got > all/2 {
			t.Errorf("ordinary spent %.0f of half of %.0f", got, all)
		}
		if got := float64(spent[redundant]); got > float64(useful)*l.redundancy {
			t.Errorf("redundant spent %.0f", got)
		}
	})
}

func TestAllowance(t *testing.T) {
	var a allowance
	for i, s := range []struct {
		at   time.Duration
		ok   bool
		left int
	}{
		{0, true, 1},
		{time.Hour, true, 0},
		{2 * time.Hour, false, 0},
		{23 * time.Hour, false, 0},
		{26 * time.Hour, true, 0}, // the one of 2 h, which was not allowed, is a day old
		{26 * time.Hour, false, 0},
		{50 * time.Hour, true, 1},
		{50 * time.Hour, true, 0},
	} {
		if ok := a.charge(s.at); ok != s.ok || a.left(s.at) != s.left {
			t.Errorf("step %d: %v, %d left, want %v, %d", i, ok, a.left(s.at), s.ok, s.left)
		}
	}
}

func TestAllowanceRestored(t *testing.T) {
	var a allowance
	if got := a.ages(time.Hour); len(got) != 0 {
		t.Errorf("fresh: %v", got)
	}
	a.charge(time.Hour)
	a.charge(2 * time.Hour)
	ages := a.ages(3 * time.Hour)
	if !slices.Equal(ages, []time.Duration{2 * time.Hour, time.Hour}) {
		t.Fatalf("ages %v", ages)
	}
	b := restored(0, ages) // a session later, whose base is new
	if b.left(0) != 0 || b.left(22*time.Hour) != 1 || b.left(23*time.Hour) != 2 {
		t.Errorf("%d, %d, %d left", b.left(0), b.left(22*time.Hour), b.left(23*time.Hour))
	}
	if c := restored(0, []time.Duration{90 * time.Hour, 3 * time.Hour, time.Hour}); c.left(0) != 0 {
		t.Error("of too many ages the youngest count")
	}
}

func TestSpendingLabels(t *testing.T) {
	seen := map[string]bool{}
	for s := range spendings {
		seen[s.String()] = true
	}
	if len(seen) != int(spendings) || seen["unknown"] || spendings.String() != "unknown" {
		t.Errorf("labels %v", seen)
	}
}

// Of two copies that come whole one was wanted.
func TestACopyIsNoReasonForMore(t *testing.T) {
	w := served(t, 3, 1e6)
	before := w.r.budget.useful.sum(w.now)
	p := w.choose(Query{Datum: "critical", Size: 1e6, Critical: true})
	f, g := w.both(p, p.Redundant[0])
	w.now += 200 * ms
	for _, x := range []*Fetch{f, g} {
		x.Progress(w.now, 1e6)
		x.Done(w.now, 1e6)
	}
	if got := w.r.budget.useful.sum(w.now) - before; got != 1e6 {
		t.Errorf("%d bytes of 1,000,000 were wanted", got)
	}
}
