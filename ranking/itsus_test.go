package ranking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func numbered(i int) Group { return Group(fmt.Sprint("group ", i)) }

// speak has so many groups speak at an instant, the first bad of them slow by excess.
func speak(u *itsUs, now time.Duration, groups, bad int, excess float64) {
	for i := range groups {
		e := 0.1
		if i < bad {
			e = excess
		}
		u.observe(now, numbered(i), e, true)
	}
}

func wantHeld(t *testing.T, u *itsUs, now time.Duration, want holdCause) {
	t.Helper()
	if got, ok := u.held(now); got != want || ok != (want != notHeld) {
		t.Errorf("at %v: %v, %v, want %v", now, got, ok, want)
	}
}

func TestManyGroups(t *testing.T) {
	for _, c := range []struct {
		groups, bad int
		excess      float64
		want        holdCause
	}{
		{12, 9, 1, manyGroups},
		{12, 8, 1, notHeld},
		{12, 12, 0.8, manyGroups},
		{12, 12, 0.79, notHeld},
		{11, 11, 5, notHeld}, // too few to say so
		{20, 15, 1, manyGroups},
		{20, 14, 1, notHeld},
		{0, 0, 1, notHeld},
	} {
		u := newItsUs()
		// The good ones first, or twelve bad ones of twenty had spoken before them.
		for i := c.groups - 1; i >= 0; i-- {
			e := 0.1
			if i < c.bad {
				e = c.excess
			}
			u.observe(time.Second, numbered(i), e, true)
		}
		if got, _ := u.held(time.Second); got != c.want {
			t.Errorf("%d of %d slow by %v: %v", c.bad, c.groups, c.excess, got)
		}
	}
}

func TestOnlyVotersSpeak(t *testing.T) {
	u := newItsUs()
	for i := range 20 {
		u.observe(0, numbered(i), 5, false)
	}
	wantHeld(t, u, 0, notHeld)
	for i := range 11 {
		u.observe(0, numbered(i), 5, true)
	}
	wantHeld(t, u, 0, notHeld)
	u.observe(0, numbered(0), 5, false) // no longer clear
	u.observe(0, numbered(11), 5, true)
	wantHeld(t, u, 0, notHeld)
	u.observe(0, numbered(12), math.NaN(), true)
	wantHeld(t, u, 0, notHeld)
	u.observe(0, numbered(12), 5, true)
	wantHeld(t, u, 0, manyGroups)
}

// A group has one voice, that of its last fetch, however many it makes.
func TestAGroupSpeaksOnce(t *testing.T) {
	u := newItsUs()
	for range 100 {
		u.observe(0, "one", 5, true)
	}
	speak(u, 0, 11, 0, 0)
	wantHeld(t, u, 0, notHeld)
	if u.order.Len() != 12 || u.degraded != 1 {
		t.Errorf("%d groups, %d degraded", u.order.Len(), u.degraded)
	}
	u.observe(0, "one", 0, true)
	if u.degraded != 0 {
		t.Error("its last fetch was fine")
	}
}

func TestWordsAreForgottenInAMinute(t *testing.T) {
	u := newItsUs()
	for i := range 8 {
		u.observe(time.Duration(i)*time.Second, numbered(i), 5, true)
	}
	for i := 8; i < 16; i++ {
		u.observe(66*time.Second, numbered(i), 5, true)
	}
	wantHeld(t, u, 66*time.Second, notHeld) // two of the first eight still count: ten
	if u.order.Len() != 10 {
		t.Errorf("%d groups", u.order.Len())
	}
}

func TestHoldEndsAndIsRationed(t *testing.T) {
	u := newItsUs()
	at := time.Hour
	speak(u, at, 12, 12, 5)
	for _, c := range []struct {
		later time.Duration
		want  holdCause
	}{
		{0, manyGroups},
		{4 * time.Minute, manyGroups},
		{5*time.Minute - 1, manyGroups},
		{5 * time.Minute, notHeld},
		{29 * time.Minute, notHeld},
		{30 * time.Minute, manyGroups},
		{34 * time.Minute, manyGroups},
		{35 * time.Minute, notHeld},
	} {
		speak(u, at+c.later, 12, 12, 5) // it goes on and on
		wantHeld(t, u, at+c.later, c.want)
	}
}

func TestHoldEndsWithItsCause(t *testing.T) {
	u := newItsUs()
	speak(u, 0, 12, 12, 5)
	speak(u, time.Minute, 12, 6, 5) // half of them are fine again: not yet
	wantHeld(t, u, time.Minute, manyGroups)
	speak(u, 2*time.Minute, 12, 5, 5)
	wantHeld(t, u, 2*time.Minute, notHeld)
	speak(u, 3*time.Minute, 12, 12, 5)
	wantHeld(t, u, 3*time.Minute, notHeld) // once in 30 minutes
}

func TestSilenceDoesNotEndAHold(t *testing.T) {
	u := newItsUs()
	speak(u, 0, 12, 12, 5)
	u.observe(4*time.Minute, numbered(0), 0, true)
	wantHeld(t, u, 4*time.Minute, manyGroups)
}

func TestOwnEvidence(t *testing.T) {
	u := newItsUs()
	u.evidence(0, ownGaps)
	wantHeld(t, u, 59*time.Second, ownGaps)
	wantHeld(t, u, time.Minute, notHeld)
	u.evidence(0, notHeld)
	u.evidence(0, manyGroups)
	wantHeld(t, u, time.Minute, notHeld)
}

// A peer that keeps us busy holds verdicts for five minutes in thirty at most.
func TestOwnGapsAreRationed(t *testing.T) {
	u := newItsUs()
	held := 0
	for s := range 7200 {
		now := time.Duration(s) * time.Second
		u.evidence(now, ownGaps)
		if _, ok := u.held(now); ok {
			held++
		}
	}
	if held != 4*300 {
		t.Errorf("held for %d s of 2 h", held)
	}
}

// Our own link at its limit holds them for as long as it lasts.
func TestOwnLinkIsNot(t *testing.T) {
	u := newItsUs()
	for now := time.Duration(0); now < 2*time.Hour; now += 30 * time.Second {
		u.evidence(now, ownLink)
		wantHeld(t, u, now+29*time.Second, ownLink)
	}
	wantHeld(t, u, 2*time.Hour+time.Minute, notHeld)
}

func TestSlowProbeSharesTheRation(t *testing.T) {
	u := newItsUs()
	u.evidence(0, slowProbe)
	wantHeld(t, u, 5*time.Minute-1, slowProbe)
	speak(u, 6*time.Minute, 12, 12, 5)
	wantHeld(t, u, 6*time.Minute, notHeld)
	u.evidence(30*time.Minute, slowProbe)
	u.evidence(34*time.Minute, slowProbe)
	wantHeld(t, u, 34*time.Minute, slowProbe)
	wantHeld(t, u, 35*time.Minute, notHeld)
	u = newItsUs()
	u.evidence(0, slowProbe)
	speak(u, time.Minute, 2, 2, 5) // others that are slow too do not end it
	wantHeld(t, u, time.Minute, slowProbe)
	u.observe(2*time.Minute, "g0", 0, true) // one that is prompt does: else two that stall have five minutes
	wantHeld(t, u, 2*time.Minute, notHeld)
}

func TestCommonMode(t *testing.T) {
	u := newItsUs()
	if got := u.commonMode(0); got != 0 {
		t.Errorf("nothing known: %v", got)
	}
	for i := range 13 {
		u.observe(0, numbered(i), float64(i), true) // eleven of twelve degraded, then twelve of thirteen
	}
	if got := u.commonMode(0); got != 6 {
		t.Errorf("of 0 to 12: %v", got)
	}
	u.observe(0, numbered(13), 100, true)
	if got := u.commonMode(time.Second / 2); got != 6 {
		t.Errorf("within a second: %v", got)
	}
	if got := u.commonMode(time.Second); got != 6.5 {
		t.Errorf("of 0 to 12 and 100: %v", got)
	}
	if got := u.commonMode(2 * time.Minute); got != 0 {
		t.Errorf("when all words are old: %v", got)
	}
	speak(u, 10*time.Minute, 20, 20, 5)
	if got := u.commonMode(10 * time.Minute); got != 0 {
		t.Errorf("not held: %v", got)
	}
	u = newItsUs()
	u.evidence(0, ownLink)
	speak(u, 0, 12, 0, 0)
	u.observe(0, numbered(0), -0.5, true)
	if got := u.commonMode(0); got != 0.1 {
		t.Errorf("all are fine: %v", got)
	}
	for i := range 12 {
		u.observe(time.Second, numbered(i), -0.5, true)
	}
	if got := u.commonMode(2 * time.Second); got != 0 {
		t.Errorf("faster than predicted is no excuse to lose: %v", got)
	}
}

// windowsHeld counts the windows of a minute in which a coalition brings about a hold: of the groups
// that fetch in it so many are hostile and always slow, and the others are slow by chance at times.
// Each window stands alone, as if a hold were always due.
func windowsHeld(rng *rand.Rand, n, groups int, hostile func() int) int {
	names := make([]Group, groups)
	for i := range names {
		names[i] = numbered(i)
	}
	fired := 0
	for range n {
		u := newItsUs()
		bad := hostile()
		for f := range 3 * groups {
			i := rng.IntN(groups)
			excess := 0.1
			if i < bad || rng.Float64() < 0.03 {
				excess = 3
			}
			u.observe(time.Duration(f)*time.Minute/time.Duration(3*groups), names[i], excess, true)
		}
		if _, ok := u.held(time.Minute); ok {
			fired++
		}
	}
	return fired
}

func TestACoalitionOfAThird(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 3_000
	for _, groups := range []int{12, 15, 20} {
		if got := windowsHeld(rng, n, groups, func() int { return groups / 3 }); got > n/1000 {
			t.Errorf("%d groups: %d of %d windows", groups, got, n)
		}
	}
}

// A third of all groups is hostile, and chance decides how many of the twelve that fetch are.
func TestACoalitionByChance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 3_000
	population := make([]bool, 36)
	for i := range 12 {
		population[i] = true
	}
	got := windowsHeld(rng, n, 12, func() int {
		rng.Shuffle(len(population), func(i, j int) { population[i], population[j] = population[j], population[i] })
		bad := 0
		for _, hostile := range population[:12] {
			if hostile {
				bad++
			}
		}
		return bad
	})
	t.Logf("%d of %d windows", got, n)
	if got > n/500 {
		t.Errorf("%d of %d windows", got, n)
	}
}

// Trouble of our own is seen at once: that is what the rule is for.
func TestTroubleOfOurOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, groups := range []int{12, 20, 100} {
		u := newItsUs()
		for i := range groups {
			excess := 3.0
			if rng.Float64() < 0.1 {
				excess = 0.2
			}
			u.observe(time.Duration(i)*100*ms, numbered(i), excess, true)
		}
		if c, _ := u.held(time.Duration(groups) * 100 * ms); c != manyGroups {
			t.Errorf("%d groups: %v", groups, c)
		}
	}
}

func TestGroupsAreBounded(t *testing.T) {
	u := newItsUs()
	for i := range usMaxGroups + 100 {
		u.observe(0, numbered(i), 5, true)
	}
	if len(u.last) != usMaxGroups || u.order.Len() != usMaxGroups || u.degraded != usMaxGroups {
		t.Errorf("%d, %d, %d groups", len(u.last), u.order.Len(), u.degraded)
	}
	if u.last[numbered(0)] != nil || u.last[numbered(usMaxGroups+99)] == nil {
		t.Error("not the longest silent were dropped")
	}
}

// Against a plain map of last words.
func TestItsUsAgainstModel(t *testing.T) {
	type word struct {
		at     time.Duration
		excess float64
	}
	rapid.Check(t, func(t *rapid.T) {
		u, model, now := newItsUs(), map[Group]word{}, time.Duration(0)
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			now += time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "later"))
			g := numbered(rapid.IntRange(0, 20).Draw(t, "group"))
			excess := rapid.SampledFrom([]float64{-0.5, 0, 0.79, 0.8, 3}).Draw(t, "excess")
			votes := rapid.IntRange(0, 9).Draw(t, "votes") > 0
			_, wasHeld := u.held(now)
			u.observe(now, g, excess, votes)
			delete(model, g)
			if votes {
				model[g] = word{now, excess}
			}
			var all []float64
			degraded := 0
			for g, w := range model {
				if now-w.at > usWindow {
					delete(model, g)
					continue
				}
				all = append(all, w.excess)
				if w.excess >= usDegraded {
					degraded++
				}
			}
			if u.order.Len() != len(model) || len(u.last) != len(model) || u.degraded != degraded {
				t.Fatalf("%d groups of %d, %d degraded of %d", u.order.Len(), len(model), u.degraded, degraded)
			}
			_, isHeld := u.held(now)
			if isHeld && !wasHeld && (4*degraded < 3*len(all) || len(all) < usGroups) {
				t.Fatalf("a hold began with %d of %d", degraded, len(all))
			}
			slices.Sort(all)
			if got := u.commonMode(now); got < 0 || isHeld && len(all) > 0 && got > max(0, all[len(all)-1]) && now-u.medAt == 0 {
				t.Fatalf("common mode %v of %v", got, all)
			}
		}
	})
}

func TestHoldCauseLabels(t *testing.T) {
	seen := map[string]bool{}
	for c := notHeld; c <= slowProbe; c++ {
		seen[c.String()] = true
	}
	if len(seen) != 5 || seen["unknown"] || (slowProbe+1).String() != "unknown" {
		t.Errorf("labels %v", seen)
	}
}

func BenchmarkItsUs(b *testing.B) {
	u := newItsUs()
	groups := make([]Group, 2000)
	for i := range groups {
		groups[i] = numbered(i)
	}
	now, i := time.Duration(0), 0
	b.ReportAllocs()
	for b.Loop() {
		now += ms
		u.observe(now, groups[i%len(groups)], float64(i%10)/10, true)
		i++
	}
}
