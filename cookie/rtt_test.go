package cookie

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// near reports whether got is within a fraction of want.
func near(got, want time.Duration, fraction float64) bool {
	diff := float64(got - want)
	return max(diff, -diff) <= fraction*float64(want)
}

func TestReadingOfFewSamples(t *testing.T) {
	tests := []struct {
		name           string
		samples        []time.Duration
		base, p50, p95 time.Duration
	}{
		{name: "none"},
		{name: "one", samples: []time.Duration{40 * ms}, base: 40 * ms, p50: 40 * ms, p95: 40 * ms},
		{name: "two", samples: []time.Duration{60 * ms, 40 * ms}, base: 40 * ms, p50: 50 * ms, p95: 59 * ms},
		{name: "three", samples: []time.Duration{60 * ms, 40 * ms, 41 * ms}, base: 40 * ms, p50: 41 * ms, p95: 58100 * time.Microsecond},
		{name: "alike", samples: []time.Duration{ms, ms, ms, ms}, base: ms, p50: ms, p95: ms},
		{name: "negative", samples: []time.Duration{-5 * ms}},
		{name: "absurd", samples: []time.Duration{100 * time.Hour}, base: time.Minute, p50: time.Minute, p95: time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewRTT(DefaultRTTConfig())
			for _, s := range tt.samples {
				r.Observe(time.Second, s, false)
			}
			got := r.Reading(time.Second)
			if got.Samples != uint64(len(tt.samples)) {
				t.Errorf("%d samples", got.Samples)
			}
			for _, pair := range [][2]time.Duration{{got.Base, tt.base}, {got.P50, tt.p50}, {got.P95, tt.p95}} {
				if !near(pair[0], pair[1], 1e-6) {
					t.Errorf("got %v, want %v in %+v", pair[0], pair[1], got)
				}
			}
		})
	}
}

func TestBaseTakesLoadedSamplesToo(t *testing.T) {
	r := NewRTT(DefaultRTTConfig())
	r.Observe(0, 50*ms, false)
	r.Observe(ms, 30*ms, true)
	got := r.Reading(ms)
	want := Reading{
		Base: 30 * ms, P50: 50 * ms, P95: 50 * ms, UnloadedP50: 50 * ms, UnloadedP95: 50 * ms, LoadedP50: 30 * ms, LoadedP95: 30 * ms,
		Samples: 1, LoadedSamples: 1, NewestAt: ms,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestVouchMovesOnlyTheBase(t *testing.T) {
	r := NewRTT(DefaultRTTConfig())
	if r.Base() != 0 {
		t.Errorf("base %v before the first sample", r.Base())
	}
	r.Observe(0, 50*ms, false)
	want := r.Reading(0)
	for _, step := range []struct{ rtt, base time.Duration }{{80 * ms, 50 * ms}, {20 * ms, 20 * ms}, {-ms, 0}} {
		r.Vouch(ms, step.rtt)
		want.Base = step.base
		if got := r.Reading(ms); got != want || r.Base() != step.base {
			t.Errorf("after vouching for %v: %+v and base %v, want %+v", step.rtt, got, r.Base(), want)
		}
	}
}

func TestLoadedStandsInWhereNothingElseIs(t *testing.T) {
	r := NewRTT(DefaultRTTConfig())
	r.Observe(0, 80*ms, true)
	if got := r.Reading(0); got.P50 != 80*ms || got.P95 != 80*ms || got.Samples != 0 || got.UnloadedP50 != 0 || got.UnloadedP95 != 0 {
		t.Errorf("got %+v", got)
	}
	// A dropped echo must show even so.
	r.Censor(ms, 5*time.Second, false)
	if got := r.Reading(ms); got.P50 != 80*ms || got.P95 != 5*time.Second || got.UnloadedP95 != 5*time.Second {
		t.Errorf("got %+v", got)
	}
	r.Observe(2*ms, 20*ms, false)
	if got := r.Reading(2 * ms); got.P50 != 20*ms {
		t.Errorf("got %+v", got)
	}
}

// With few samples (the ring) and with many (the t-digest), a skip raises P95 and
// leaves the base and the median alone.
func TestCensoredSamplesRaiseOnlyTheHighQuantile(t *testing.T) {
	for _, n := range []int{1, 20, 5000} {
		r := NewRTT(DefaultRTTConfig())
		var now time.Duration
		for range n {
			now += 40 * ms
			r.Observe(now, jitter(now), false)
		}
		before := r.Reading(now)
		for range n/9 + 1 { // a tenth of all and a little
			now += 40 * ms
			r.Censor(now, 5*time.Second, false)
		}
		after := r.Reading(now)
		if after.Base != before.Base || after.Samples != before.Samples || after.NewestAt != before.NewestAt {
			t.Errorf("n=%d: base or samples moved from %+v to %+v", n, before, after)
		}
		if !near(after.P50, before.P50, 0.03) {
			t.Errorf("n=%d: P50 moved from %v to %v", n, before.P50, after.P50)
		}
		if after.P95 < 4*time.Second {
			t.Errorf("n=%d: P95 is %v after a tenth was dropped", n, after.P95)
		}
		if after.Censored == 0 {
			t.Errorf("n=%d: no censored samples in %+v", n, after)
		}
	}
}

func TestNothingButSkips(t *testing.T) {
	r := NewRTT(DefaultRTTConfig())
	r.Censor(0, 5*time.Second, false)
	want := Reading{P95: 5 * time.Second, UnloadedP95: 5 * time.Second, Censored: 1}
	if got := r.Reading(0); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A peer that drops one echo in five shows it through the queue.
func TestDroppedEchoesShowInP95(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	for i := range 5000 {
		h.now += 40 * ms
		v, ok := h.q.Issue(h.now, 0)
		if ok && i%5 != 0 {
			h.q.Echo(v, h.now+30*ms, 0)
		}
	}
	got := h.rtt.Reading(h.now)
	if got.Base != 30*ms || !near(got.P50, 30*ms, 0.01) {
		t.Errorf("base or median moved: %+v", got)
	}
	// A skip comes after 16 echoes at 50 ms on average.
	if got.P95 < 500*ms || got.P95 > 5*time.Second {
		t.Errorf("P95 is %v", got.P95)
	}
}

// A cookie whose echo is stuck behind payload says nothing of the unloaded path,
// whether it is given up by age or for newer echoes; our own queue counts alike.
func TestGivenUpUnderLoad(t *testing.T) {
	const much = 1 << 20
	for _, tt := range []struct {
		name   string
		giveUp func(h *harness, v Value)
		loaded bool
	}{
		{"idle", func(h *harness, v Value) { h.q.Expire(h.now, 0) }, false},
		{"a trickle", func(h *harness, v Value) { h.q.Expire(h.now, uint64(h.q.cfg.LoadedAfter)-1) }, false},
		{"payload", func(h *harness, v Value) { h.q.Expire(h.now, much) }, true},
		{"payload, at the next issue", func(h *harness, v Value) { h.q.Issue(h.now, much) }, true},
		{"payload, for newer echoes", func(h *harness, v Value) {
			h.now -= time.Second // not by age
			h.answer(h.q.cfg.SkipAfter - 1)
			h.q.Echo(h.issue(), h.now, much)
		}, true},
		{"our own queue", func(h *harness, v Value) {
			h.q.MarkLoaded(v)
			h.q.Expire(h.now, 0)
		}, true},
	} {
		h := newHarness(t, DefaultConfig())
		h.answer(1)
		v := h.issue()
		h.now += h.q.cfg.MaxAge
		tt.giveUp(h, v)
		got := h.rtt.Reading(h.now)
		if h.q.Counts().Skipped != 1 || got.Censored != 1 {
			t.Fatalf("%s: not given up: %+v", tt.name, got)
		}
		if late := got.P95 > time.Second; late == tt.loaded {
			t.Errorf("%s: P95 %v", tt.name, got.P95)
		}
		if late := got.LoadedP95 > time.Second; late != tt.loaded {
			t.Errorf("%s: loaded P95 %v", tt.name, got.LoadedP95)
		}
	}
}

func TestBaseAges(t *testing.T) {
	cfg := DefaultRTTConfig()
	r := NewRTT(cfg)
	r.Observe(0, 10*ms, false)
	at := func(now, sample, want time.Duration) {
		t.Helper()
		r.Observe(now, sample, false)
		if got := r.Reading(now).Base; got != want {
			t.Errorf("base at %v is %v, want %v", now, got, want)
		}
	}
	half := cfg.BaseSpan / 2
	at(half-1, 50*ms, 10*ms)
	at(half, 40*ms, 10*ms)
	at(2*half-1, 60*ms, 10*ms)
	at(2*half, 70*ms, 40*ms)
	at(3*half, 80*ms, 70*ms)
	// Idle for long: the last one known, until there is a new one.
	if got := r.Reading(100 * half).Base; got != 70*ms {
		t.Errorf("base after idling is %v, want 70ms", got)
	}
	at(100*half, 90*ms, 90*ms)
}

// The windowed minimum lies between the minima of the last half window and of the
// last whole one.
func TestWindowedMinProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const half = 50
		w := windowedMin{half: half}
		var times, values []time.Duration
		now := time.Duration(rapid.IntRange(0, 1000).Draw(t, "start"))
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			now += time.Duration(rapid.IntRange(0, 40).Draw(t, "gap"))
			v := time.Duration(rapid.IntRange(1, 1000).Draw(t, "value"))
			times, values = append(times, now), append(values, v)
			w.observe(now, v)
			short, long := v, v
			for i := range times {
				if now-times[i] < half {
					short = min(short, values[i])
				}
				if now-times[i] <= 2*half {
					long = min(long, values[i])
				}
			}
			if got := w.value(); got > short || got < long {
				t.Fatalf("minimum %d, want %d to %d", got, long, short)
			}
		}
	})
}
