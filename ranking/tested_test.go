package ranking

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/burst"
)

// bps is the slope of so many bytes per second.
func bps(rate float64) burst.SecondsPerByte { return burst.SecondsPerByte(1 / rate) }

func (w *world) tested(a *actor, rate float64) {
	w.t.Helper()
	if err := w.r.Tested(w.now, a.id, bps(rate)); err != nil {
		w.t.Fatal(err)
	}
}

// trialOf says whether a trial of the peer is due.
func (w *world) trialOf(a *actor) bool { return w.r.explorer.trial[a.id] != nil }

func TestTestedRefuses(t *testing.T) {
	w := newWorld(t)
	a := w.honestPeers([2]float64{80, 20})[0]
	for _, rate := range []burst.SecondsPerByte{0, -1, 1, burst.SecondsPerByte(math.NaN()), burst.SecondsPerByte(math.Inf(1))} {
		if err := w.r.Tested(0, a.id, rate); !errors.Is(err, ErrRate) {
			t.Errorf("%v: %v", rate, err)
		}
	}
	if err := w.r.Tested(0, "nobody", 1e-6); !errors.Is(err, ErrUnknownPeer) {
		t.Errorf("nobody: %v", err)
	}
	if s, _ := w.r.Standing(0, a.id, 1); s.Tested != 0 {
		t.Errorf("what was refused was kept: %v", s.Tested)
	}
}

// Exploit 34: to serve tests fast helps nobody. Whatever a peer has done, a result never makes it
// expected sooner, and one that is not slower than what it showed changes nothing.
func TestATestRaisesNoRank(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		rate := rapid.Float64Range(1, 800).Draw(rt, "Mbit/s")
		a := w.honestPeers([2]float64{rate, rapid.Float64Range(1, 300).Draw(rt, "ms")})[0]
		for range rapid.IntRange(0, 6).Draw(rt, "fetches") {
			w.fetch(rapid.Int64Range(1e3, 8e6).Draw(rt, "bytes"))
		}
		size := rapid.Int64Range(1, 1e8).Draw(rt, "size")
		before := w.expect(a, size)
		result := rapid.Float64Range(1e3, 1e9).Draw(rt, "B/s")
		w.tested(a, result)
		after := w.expect(a, size)
		if after < before {
			rt.Fatalf("tested at %.0f B/s it is expected in %v, %v before", result, after, before)
		}
		if float64(bps(result)) <= w.r.shrunk(w.r.peers[a.id], size, w.now) && after != before {
			rt.Fatalf("a faster result moved it from %v to %v", before, after)
		}
	})
}

// A claim that a test contradicts is believed no more: not for a day.
func TestATestCapsAClaim(t *testing.T) {
	w := newWorld(t)
	a := w.honestPeers([2]float64{80, 20})[0]
	const size, rate = 4e6, 1e5 // a hundredth of its line
	a.gauge.set(func(r *burst.Reading) {
		r.Estimation = burst.Estimation{Rate: bps(a.rate), Coverage: 1e9, Bursts: 100}
	})
	w.r.Poll(w.now)
	before := w.expect(a, size)
	w.tested(a, rate)
	if got := w.expect(a, size); got < 40*time.Second {
		t.Errorf("%v is expected of it, 40 s at the rate that was tested (%v before)", got, before)
	}
	if s, _ := w.r.Standing(w.now, a.id, size); s.Tested != bps(rate) || s.Claim > time.Second {
		t.Errorf("tested %v, and its claim, which is audited, is %v", s.Tested, s.Claim)
	}
	w.now += testedFor
	if got := w.expect(a, size); got != before {
		t.Errorf("a day later %v, before the test %v", got, before)
	}
}

// What was measured decides over what was tested.
func TestCompletionsOutweighATest(t *testing.T) {
	w := newWorld(t)
	a := w.honestPeers([2]float64{80, 20})[0]
	for range 30 {
		w.fetch(1e6)
	}
	before := w.expect(a, 1e6)
	w.tested(a, a.rate/3)
	if got := w.expect(a, 1e6); got > before*11/10 {
		t.Errorf("%v is expected, %v before a test three times slower than thirty completions", got, before)
	}
}

// A result far from what is expected wants an ordinary fetch, and one is enough.
func TestATestWantsATrial(t *testing.T) {
	for _, c := range []struct {
		times float64 // the result, of what the peer served
		want  bool
	}{{4, true}, {1.05, false}, {0.9, false}, {0.2, true}} {
		w := newWorld(t)
		a := w.honestPeers([2]float64{80, 20}, [2]float64{80, 20})[0]
		a.vetted = func(int64) int64 { return 1e9 }
		for range 12 {
			w.from(a, 1e6)
		}
		if w.trialOf(a) {
			t.Fatal("a known peer is to be tried")
		}
		w.tested(a, a.rate*c.times)
		w.r.Poll(w.now)
		if got := w.trialOf(a); got != c.want {
			t.Errorf("tested at %g of what it serves: to be tried is %v", c.times, got)
		}
		w.from(a, 1e6)
		w.r.Poll(w.now)
		if w.trialOf(a) {
			t.Errorf("%g: still to be tried after it has served", c.times)
		}
	}
}

// A restart forgets no test, nor when it was.
func TestATestOutlivesARestart(t *testing.T) {
	w := newWorld(t)
	a := w.honestPeers([2]float64{80, 20})[0]
	w.tested(a, 1e5)
	w.now += 20 * time.Hour
	r := fresh(t)
	const base = time.Minute
	if err := r.Load(base, w.save(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if s, _ := r.Standing(base, a.id, 1); s.Tested != bps(1e5) {
		t.Errorf("after 21 hours and a restart: %v", s.Tested)
	}
	if s, _ := r.Standing(base+3*time.Hour, a.id, 1); s.Tested != 0 {
		t.Errorf("after a day: %v", s.Tested)
	}
}
