package ranking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func anyone(string) bool { return true }

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// always is limits by which every fetch is a trial and every one has a shadow.
func always() exploreLimits {
	l := defaultExploreLimits()
	l.share, l.shadows = 1, 1
	return l
}

// aboutShare fails unless got of n is within five standard deviations of a chance of p, which with these
// seeds it is or never is.
func aboutShare(t *testing.T, what string, got, n int, p float64) {
	t.Helper()
	want := p * float64(n)
	if d := math.Abs(float64(got) - want); d > 5*math.Sqrt(want*(1-p))+1 {
		t.Errorf("%s: %d of %d, want about %.0f", what, got, n, want)
	}
}

func TestExplorationShare(t *testing.T) {
	e := newExplorer(defaultExploreLimits(), seeded())
	e.want("p", "G", false, false)
	const n = 50_000
	got := 0
	for range n {
		if x, ok := e.explore(anyone); ok {
			got++
			e.done(x.peer, false)
		}
	}
	aboutShare(t, "trials", got, n, 0.02)
}

// A thousand newcomers of one group get what one of another gets.
func TestThousandNewcomersShareOneGroup(t *testing.T) {
	e := newExplorer(always(), seeded())
	for i := range 1000 {
		e.want(fmt.Sprint("sybil ", i), "bad", false, false)
	}
	for i := range 4 {
		e.want(fmt.Sprint("honest ", i), Group(fmt.Sprint("good ", i)), false, false)
	}
	const n = 20_000
	got := map[string]int{}
	bad := 0
	for range n {
		x, ok := e.explore(anyone)
		if !ok {
			t.Fatal("nobody to try")
		}
		if x.group == "bad" {
			bad++
		}
		got[x.peer]++
		e.done(x.peer, false)
	}
	aboutShare(t, "the thousand", bad, n, 0.2)
	for i := range 4 {
		aboutShare(t, "an honest one", got[fmt.Sprint("honest ", i)], n, 0.2)
	}
	for i := range 1000 {
		aboutShare(t, "one of the thousand", got[fmt.Sprint("sybil ", i)], n, 0.2/1000)
	}
}

func TestOneNewcomerPerGroupAtATime(t *testing.T) {
	e := newExplorer(always(), seeded())
	for i := range 20 {
		e.want(fmt.Sprint("A", i), "A", false, false)
		e.want(fmt.Sprint("B", i), "B", false, false)
	}
	first, _ := e.explore(anyone)
	second, ok := e.explore(anyone)
	if !ok || first.group == second.group {
		t.Fatalf("%+v, then %+v", first, second)
	}
	if x, ok := e.explore(anyone); ok {
		t.Errorf("both groups have one under trial, and %+v is tried", x)
	}
	e.want("A stale", "A", true, false)
	x, ok := e.explore(anyone)
	if !ok || x.peer != "A stale" {
		t.Errorf("a stale peer is no newcomer: %+v", x)
	}
	e.done(first.peer, true)
	if x, ok := e.explore(anyone); !ok || x.group != first.group {
		t.Errorf("%s is free again: %+v", first.group, x)
	}
}

func TestFirstARangeThenTheWhole(t *testing.T) {
	e := newExplorer(always(), seeded())
	e.want("p", "G", false, false)
	for i, c := range []struct {
		delivered bool
		bytes     int64
	}{{false, 1 << 20}, {false, 1 << 20}, {true, 1 << 20}, {false, 0}, {true, 0}} {
		x, ok := e.explore(anyone)
		if !ok || x.bytes != c.bytes {
			t.Errorf("trial %d: %+v", i, x)
		}
		e.done("p", c.delivered)
	}
	e.enough("p")
	e.want("p", "G", true, false)
	if x, _ := e.explore(anyone); x.bytes != 1<<20 {
		t.Errorf("stale: %+v", x)
	}
}

func TestEnough(t *testing.T) {
	e := newExplorer(always(), seeded())
	e.want("p", "G", false, false)
	e.want("q", "G", false, false)
	x, _ := e.explore(anyone)
	e.enough(x.peer) // gone in mid-trial
	e.done(x.peer, true)
	y, ok := e.explore(anyone)
	if !ok || y.peer == x.peer {
		t.Errorf("%+v, then %+v", x, y)
	}
	e.enough("p")
	e.enough("q")
	e.enough("never heard of")
	if x, ok := e.explore(anyone); ok {
		t.Errorf("nobody is wanted: %+v", x)
	}
	if len(e.trial) != 0 || len(e.busy) != 0 || len(e.trials.lots) != 0 {
		t.Error("something is left of them")
	}
}

// A newcomer that moves to another group, as with a new address, must not leave its old one taken.
func TestTrialThatMoves(t *testing.T) {
	e := newExplorer(always(), seeded())
	e.want("p", "A", false, false)
	e.explore(anyone)
	e.want("p", "B", false, false)
	e.done("p", false)
	e.want("q", "A", false, false)
	for range 2 {
		x, ok := e.explore(anyone)
		if !ok {
			t.Fatalf("busy: %v", e.busy)
		}
		if want := map[string]Group{"p": "B", "q": "A"}[x.peer]; x.group != want {
			t.Errorf("%+v", x)
		}
	}
}

func TestOnlyWhoMay(t *testing.T) {
	e := newExplorer(always(), seeded())
	for i := range 10 {
		e.want(fmt.Sprint(i), Group(fmt.Sprint(i)), false, false)
	}
	for range 100 {
		x, ok := e.explore(func(p string) bool { return p == "7" })
		if !ok || x.peer != "7" {
			t.Fatalf("%+v", x)
		}
		e.done(x.peer, true)
	}
	if x, ok := e.explore(func(string) bool { return false }); ok {
		t.Errorf("nobody may: %+v", x)
	}
}

// For want of candidates one trial is put off, and no more than one.
func TestOneTrialIsOwed(t *testing.T) {
	l := defaultExploreLimits()
	l.share = 1
	e := newExplorer(l, seeded())
	for range 100 {
		e.explore(anyone)
	}
	e.limits.share = 0
	e.want("p", "G", false, false)
	for i, want := range []bool{true, false, false} {
		if _, ok := e.explore(anyone); ok != want {
			t.Errorf("fetch %d: %v", i, ok)
		}
		e.done("p", false)
	}
}

// A trial that comes up while one is owed is owed in its turn.
func TestOwedAndDue(t *testing.T) {
	e := newExplorer(always(), seeded())
	e.explore(anyone)
	e.want("p", "G", false, false)
	for i, want := range []bool{true, true, false} {
		if i > 0 {
			e.limits.share = 0
		}
		if _, ok := e.explore(anyone); ok != want {
			t.Errorf("fetch %d: %v", i, ok)
		}
		e.done("p", false)
	}
}

func TestShadowShare(t *testing.T) {
	e := newExplorer(defaultExploreLimits(), seeded())
	for i := range 1000 {
		e.demote(fmt.Sprint(i), Group(fmt.Sprint(i%100)), 0, false)
	}
	const n = 50_000
	got := 0
	for range n {
		if _, _, ok := e.cast(0, anyone); ok {
			got++
		}
	}
	aboutShare(t, "shadows", got, n, 0.01)
}

func TestShadowEveryHalfHour(t *testing.T) {
	e := newExplorer(always(), seeded())
	e.demote("p", "G", -time.Minute, true)
	for _, c := range []struct {
		at time.Duration
		ok bool
	}{
		{0, false},
		{29 * time.Minute, true},
		{29 * time.Minute, false},
		{58 * time.Minute, false},
		{59 * time.Minute, true},
	} {
		if _, _, ok := e.cast(c.at, anyone); ok != c.ok {
			t.Errorf("at %v: %v", c.at, ok)
		}
	}
	if _, _, ok := e.cast(10*time.Hour, func(string) bool { return false }); ok {
		t.Error("nobody may")
	}
}

// Coming and going does not renew the allowance.
func TestShadowAfterRedemption(t *testing.T) {
	e := newExplorer(always(), seeded())
	e.demote("p", "G", 0, false)
	if p, g, ok := e.cast(time.Hour, anyone); !ok || p != "p" || g != "G" {
		t.Fatalf("%s of %s: %v", p, g, ok)
	}
	e.demote("p", "G", 0, false) // again, without a change
	last, ever := e.redeem("p")
	if last != time.Hour || !ever {
		t.Fatalf("last %v, %v", last, ever)
	}
	if _, _, ok := e.cast(10*time.Hour, anyone); ok {
		t.Error("a shadow for one redeemed")
	}
	e.demote("p", "G", last, ever)
	if _, _, ok := e.cast(time.Hour+29*time.Minute, anyone); ok {
		t.Error("demoted again, and at once a shadow")
	}
	if last, ever := e.redeem("never heard of"); last != 0 || ever {
		t.Errorf("%v, %v", last, ever)
	}
}

func TestShadowsByGroupFirst(t *testing.T) {
	e := newExplorer(always(), seeded())
	e.limits.shadowEvery = 0
	for i := range 100 {
		e.demote(fmt.Sprint("many ", i), "many", 0, false)
	}
	e.demote("one", "one", 0, false)
	const n = 10_000
	one := 0
	for range n {
		if p, _, _ := e.cast(0, anyone); p == "one" {
			one++
		}
	}
	aboutShare(t, "the only one of its group", one, n, 0.5)
}

// The same seed makes the same choices.
func TestExplorationIsSeeded(t *testing.T) {
	run := func(seed uint64) string {
		e := newExplorer(defaultExploreLimits(), rand.New(rand.NewPCG(seed, 0)))
		for i := range 50 {
			e.want(fmt.Sprint(i), Group(fmt.Sprint(i%7)), i%3 == 0, false)
		}
		out := ""
		for range 2000 {
			if x, ok := e.explore(anyone); ok {
				out += x.peer + " "
				e.done(x.peer, true)
			}
		}
		return out
	}
	once, again := run(1), run(1)
	if once != again || once == "" {
		t.Error("two runs of one seed differ")
	}
	if once == run(2) {
		t.Error("two seeds make the same choices")
	}
}

// An urn against a plain map, through any coming and going.
func TestUrnAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, model, rng := newUrn(), map[string]Group{}, seeded()
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			peer := rapid.StringMatching(`[a-h]`).Draw(t, "peer")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				g := Group(rapid.StringMatching(`[A-D]`).Draw(t, "group"))
				u.add(peer, g)
				model[peer] = g
			case 2:
				u.remove(peer)
				delete(model, peer)
			case 3:
				p, g, ok := u.draw(rng, func(p string) bool { return p != peer })
				if ok && (p == peer || model[p] != g) {
					t.Fatalf("drew %s of %s, model %v", p, g, model)
				}
				others := len(model)
				if _, in := model[peer]; in {
					others--
				}
				if ok != (others > 0) {
					t.Fatalf("drew %v of %d", ok, others)
				}
			}
			consistent(t, u, model)
		}
	})
}

func consistent(t *rapid.T, u *urn, model map[string]Group) {
	if len(u.lots) != len(model) || len(u.byName) != len(u.groups) {
		t.Fatalf("%d lots of %d, %d groups of %d", len(u.lots), len(model), len(u.groups), len(u.byName))
	}
	seen := 0
	for i, g := range u.groups {
		if g.place != i || u.byName[g.group] != g || len(g.lots) == 0 {
			t.Fatalf("group %s at %d says %d, %d lots", g.group, i, g.place, len(g.lots))
		}
		for j, l := range g.lots {
			seen++
			if l.place != j || l.in != g || model[l.peer] != g.group || !u.has(l.peer) {
				t.Fatalf("lot %+v at %d of %s", l, j, g.group)
			}
		}
	}
	if seen != len(model) {
		t.Fatalf("%d lots in groups, %d in the model", seen, len(model))
	}
}

func BenchmarkExplore(b *testing.B) {
	for _, c := range []struct {
		name string
		l    exploreLimits
		may  func(string) bool
	}{
		{"rarely", defaultExploreLimits(), anyone},
		{"always", always(), anyone},
		{"nobody may", always(), func(string) bool { return false }},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := newExplorer(c.l, seeded())
			for i := range 10_000 {
				e.want(fmt.Sprint(i), Group(fmt.Sprint(i%500)), false, false)
			}
			b.ReportAllocs()
			for b.Loop() {
				if x, ok := e.explore(c.may); ok {
					e.done(x.peer, true)
				}
			}
		})
	}
}
