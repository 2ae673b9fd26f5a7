package ranking

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
)

// frozen is a fetch of the subject's during which we stood still for most of the time.
func frozen(w *world, a *actor, took, ours time.Duration, end func(f *Fetch)) {
	w.t.Helper()
	f, err := w.r.Begin(w.now, w.fetchPlan(256_000))
	if err != nil {
		w.t.Fatal(err)
	}
	f.FirstByte(w.now + 30*ms)
	w.now += took
	a.gauge.set(func(r *burst.Reading) { r.Ours += ours })
	end(f)
}

func prompt(w *world, n int) {
	w.t.Helper()
	for range n {
		f, err := w.r.Begin(w.now, w.fetchPlan(256_000))
		if err != nil {
			w.t.Fatal(err)
		}
		f.FirstByte(w.now + 30*ms)
		w.now += 100 * ms
		f.Progress(w.now, 256_000)
		f.Done(w.now, 256_000)
		w.now += 100 * ms
	}
}

func expected(t *testing.T, w *world, n int64) time.Duration {
	t.Helper()
	for _, s := range w.r.Rank(w.now, n, 1) {
		if s.Peer == "subject" {
			return s.Expected
		}
	}
	t.Fatal("the subject is not ranked")
	return 0
}

// While verdicts are held for trouble of our own, prompt completions go on being taken in: else one
// fetch that our own freeze spoilt would be the last word for as long.
func TestPromptCompletionsCountWhileVerdictsAreHeld(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "subject", addr: in(1, 1), rate: 5e6, rtt: 30 * ms})
	prompt(w, 3)
	frozen(w, a, 1200*ms, 700*ms, func(f *Fetch) {
		f.Progress(w.now, 256_000)
		f.Done(w.now, 256_000)
	})
	prompt(w, 20)
	if got := expected(t, w, 256_000); got > 200*ms {
		t.Errorf("expected in %v after 20 completions in 100 ms", got)
	}
}

// Wrong bytes are wrong however much of the time was ours; lateness is not.
func TestOurTimeExcusesLatenessOnly(t *testing.T) {
	for _, tt := range []struct {
		how     Failure
		excused bool
	}{{TimedOut, true}, {Corrupt, false}, {NotFound, false}, {Reset, false}} {
		w := newWorld(t)
		a := w.add(&actor{id: "subject", addr: in(1, 1), rate: 5e6, rtt: 30 * ms})
		prompt(w, 5)
		before := expected(t, w, 256_000)
		frozen(w, a, 900*ms, 800*ms, func(f *Fetch) { f.Fail(w.now, tt.how) })
		if worse := expected(t, w, 256_000) > before*11/10; worse == tt.excused {
			t.Errorf("%v: worse %v", tt.how, worse)
		}
	}
}

// A fetch given up that only our own standing still made late is no failure.
func TestOurTimeMakesNothingLate(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "subject", addr: in(1, 1), rate: 5e6, rtt: 30 * ms})
	prompt(w, 5)
	before := expected(t, w, 256_000)
	frozen(w, a, 3*time.Second, 2950*ms, func(f *Fetch) { f.Abort(w.now) })
	if got := expected(t, w, 256_000); got > before*11/10 {
		t.Errorf("expected in %v, %v before", got, before)
	}
}

// A peer that serves large data fast and small data slowly is expected slow for small data.
func TestOtherSizesFillInOnly(t *testing.T) {
	now, p := time.Duration(0), Path{BaseRTT: 30 * ms}
	var ws waits
	for range 10 {
		for _, c := range []completed{{bytes: 1e6, time: 220 * ms}, {bytes: 1e6, time: 220 * ms}, {bytes: 256_000, time: 1280 * ms}} {
			now += time.Second
			c.first = 30 * ms
			ws.add(now, c, p, 4*time.Hour)
		}
	}
	if got, _ := ws.of(now, 256_000, p, 4*time.Hour); got < 1.2 || got > 1.35 {
		t.Errorf("256 kB in %.2f s, always took 1.28", got)
	}
	if got, _ := ws.of(now, 1e6, p, 4*time.Hour); got > 0.3 {
		t.Errorf("1 MB in %.2f s, always took 0.22", got)
	}
}

// Our own time before the first byte leaves no slope below zero, which no state file could hold.
func TestOurTimeBeforeTheFirstByte(t *testing.T) {
	w := newWorld(t)
	a := w.add(&actor{id: "subject", addr: in(1, 1), rate: 5e6, rtt: 30 * ms})
	f, err := w.r.Begin(w.now, w.fetchPlan(300_000))
	if err != nil {
		t.Fatal(err)
	}
	a.gauge.set(func(r *burst.Reading) { r.Ours += 20 * ms })
	f.FirstByte(w.now + 50*ms)
	f.Progress(w.now+50*ms, 300_000)
	w.now += 50*ms + time.Microsecond
	f.Done(w.now, 300_000)
	small, large := expected(t, w, 300_000), expected(t, w, 12e6)
	if large <= small {
		t.Errorf("12 MB expected in %v, 300 kB in %v", large, small)
	}
	state, err := w.r.Save(w.now)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := New(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Load(0, state, time.Minute); err != nil {
		t.Error(err)
	}
}

// Of one that served 4 MB well 12 MB are expected to take so long, and when they have taken that long
// they are not expected to take longer. A population of slow strangers must not come in by that.
func TestMoreCompletionsAreMoreEvidence(t *testing.T) {
	w := newWorld(t)
	peers := w.honestPeers([2]float64{40, 20}, [2]float64{0.08, 40}, [2]float64{0.08, 40}, [2]float64{0.08, 40})
	for _, a := range peers[1:] {
		w.from(a, 20e3)
	}
	a := peers[0]
	for range 5 {
		w.from(a, 4e6)
	}
	before := w.expect(a, 12e6)
	w.from(a, 12e6)
	if after := w.expect(a, 12e6); after > before {
		t.Errorf("12 MB were expected to take %v, came, and are expected to take %v", before, after)
	}
}
