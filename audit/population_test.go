package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// normal returns the value of a standard normal at a probability, so that tests have populations
// without luck.
func normal(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// neighbourhood makes honest groups vote whose factors are spread as in the study's population (a
// standard deviation of 0.45 in the logarithm of a group's vote), and returns the instant.
func neighbourhood(a *Auditor, groups int) time.Duration {
	const now, samples = 2 * time.Hour, 40
	for g := range groups {
		mu := 0.45 * normal((float64(g)+0.5)/float64(groups))
		for p := range 2 {
			name, group := fmt.Sprintf("honest %d.%d", g, p), fmt.Sprintf("honest %d", g)
			a.Observe(0, plain(name, group, 0.1))
			for i := range samples {
				a.Observe(now, plain(name, group, 0.1*math.Exp(mu+0.6*normal((float64(i)+0.5)/samples))))
			}
		}
	}
	return now
}

// Hostile groups, up to a third of all, whatever they show and however often, never move the
// threshold out of its clamp, nor before the clamp by more than 1.5 up or 0.65 down.
func TestHostileGroupsMoveTheThresholdLittle(t *testing.T) {
	bare := map[int]float64{}
	rapid.Check(t, func(t *rapid.T) {
		honest := rapid.IntRange(12, 30).Draw(t, "honest groups")
		hostile := rapid.IntRange(0, honest/2).Draw(t, "hostile groups")
		a := New(DefaultConfig())
		now := neighbourhood(a, honest)
		k := keyOf(testSize, testRTT, LossClear)
		if bare[honest] == 0 {
			bare[honest] = a.threshold(k, nil).Raw
		}
		residual := rapid.OneOf(rapid.Float64Range(-1, 0.1), rapid.Float64Range(1, 3.1), rapid.Float64Range(3.9, 1e5))
		for g := range hostile {
			r := residual.Draw(t, "residual")
			for p := range rapid.IntRange(1, 3).Draw(t, "peers") {
				name, group := fmt.Sprintf("hostile %d.%d", g, p), fmt.Sprintf("hostile %d", g)
				a.Observe(0, plain(name, group, r))
				observeAll(a, now, plain(name, group, r), rapid.IntRange(0, 300).Draw(t, "samples"))
			}
		}
		for _, p := range []*peer{nil, a.peers["honest 0.0"], a.peers["honest 11.1"]} {
			got := a.threshold(k, p)
			if got.Thin && got.Value != 0.95 || got.Value < 0.8 || got.Value > 0.95 {
				t.Fatalf("threshold %+v", got)
			}
			if f := got.Raw / bare[honest]; !got.Thin && (f > 1.5 || f < 0.65) {
				t.Fatalf("%d hostile of %d: before the clamp %.3f became %.3f, a factor of %.2f", hostile, honest+hostile, bare[honest], got.Raw, f)
			}
		}
	})
}

// Hostile groups which merely serve well convict no honest peer.
func TestServingWellConvictsNobody(t *testing.T) {
	a := New(DefaultConfig())
	now := neighbourhood(a, 24)
	for g := range 12 {
		for p := range 5 {
			name, group := fmt.Sprintf("hostile %d.%d", g, p), fmt.Sprintf("hostile %d", g)
			a.Observe(0, plain(name, group, 0))
			observeAll(a, now, plain(name, group, 0), 1000)
		}
	}
	rng := rand.New(rand.NewPCG(3, 1))
	for range 2000 {
		if v := a.Observe(now, plain("suspect", "suspect", honest(rng, 0.5))); v.Kinds != 0 {
			t.Fatal(v)
		}
	}
}

// A rate that is read a tenth too fast for everybody changes no verdict.
func TestRateReadFastForAll(t *testing.T) {
	verdicts := func(factor float64) map[string]Kinds {
		a := New(DefaultConfig())
		rng := rand.New(rand.NewPCG(11, 7))
		now := time.Duration(0)
		for range 120 {
			for g := range 15 {
				for p := range 4 {
					now += time.Minute
					h := honest(rng, 0.4*normal((float64(g)+0.5)/15))
					switch p {
					case 1:
						if g%5 == 0 {
							h = 2*(1+h) - 1
						}
					case 2:
						if g%5 == 1 {
							h = 5*(1+h) - 1
						}
					}
					r := plain(fmt.Sprintf("%d.%d", g, p), fmt.Sprint(g), h)
					r.Claim = time.Duration(factor * float64(r.Claim))
					a.Observe(now, r)
				}
			}
		}
		kinds := map[string]Kinds{}
		for _, p := range a.list {
			kinds[p.name] = p.kinds()
		}
		return kinds
	}
	right, fast := verdicts(1), verdicts(0.9)
	convicted := 0
	for name, want := range right {
		if fast[name] != want {
			t.Errorf("%s: {%v}, read fast {%v}", name, want, fast[name])
		}
		if want != 0 {
			convicted++
		}
	}
	if convicted != 6 {
		t.Errorf("%d convicted, want the 6 padders", convicted)
	}
}

// The baseline does not depend on the order in which peers' fetches came.
func TestBaselineIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var records []Record
		for g := range 13 {
			for i := range 2 * 41 {
				r := rapid.Float64Range(0, 2).Draw(t, "r")
				records = append(records, plain(fmt.Sprintf("%d.%d", g, i%2), fmt.Sprint(g), r))
			}
		}
		build := func(records []Record) *Auditor {
			a := New(DefaultConfig())
			for g := range 13 {
				for p := range 2 {
					a.Observe(0, plain(fmt.Sprintf("%d.%d", g, p), fmt.Sprint(g), 0.1))
				}
			}
			for i, r := range records {
				a.Observe(2*time.Hour+time.Duration(i)*time.Second, r)
			}
			return a
		}
		seed := rapid.Uint64().Draw(t, "shuffle")
		shuffled := append([]Record(nil), records...)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		a, b := build(records).Strata(), build(shuffled).Strata()
		if len(a) != 1 || len(b) != 1 || a[0].Threshold != b[0].Threshold || a[0].Residuals.buckets != b[0].Residuals.buckets {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

// Own residuals never loosen what a peer is held to beyond the ceiling, however bad they are.
func TestSuspectCannotWidenItsBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := New(DefaultConfig())
		now := neighbourhood(a, 13)
		rs := rapid.SliceOfN(rapid.Float64Range(-1, 100), 1, 200).Draw(t, "residuals")
		want := a.threshold(keyOf(testSize, testRTT, LossClear), nil)
		for _, r := range rs {
			f := a.Observe(now, plain("suspect", "suspects", r)).Latest
			if f.Threshold.Value != want.Value || f.Gross > 4*a.cfg.ThresholdMax+1e-9 {
				t.Fatalf("threshold %v, gross %v; want %v, at most %v", f.Threshold.Value, f.Gross, want.Value, 4*a.cfg.ThresholdMax)
			}
		}
	})
}

// A padder is found within ten fetches though a third of the groups inflate.
func TestPadderAmongInflators(t *testing.T) {
	a := New(DefaultConfig())
	now := neighbourhood(a, 24)
	for g := range 12 {
		name, group := fmt.Sprintf("hostile %d", g), fmt.Sprintf("hostile %d", g)
		a.Observe(0, plain(name, group, 3))
		observeAll(a, now, plain(name, group, 3), 200)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 100 {
		name := fmt.Sprint("padder", i)
		var v Verdict
		for range 10 {
			v = a.Observe(now, plain(name, "padders", 2*(1+honest(rng, 0))-1))
		}
		if v.Kind != Overclaims {
			t.Errorf("padder %d: %v", i, v)
		}
	}
}
