package cookie

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// exact is the quantile by sorting, with the digest's convention.
func exact(values []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	index := q * float64(len(sorted)-1)
	i := int(index)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + time.Duration((index-float64(i))*float64(sorted[i+1]-sorted[i]))
}

// seeded returns an RTT whose random choices can be repeated.
func seeded() *RTT {
	cfg := DefaultRTTConfig()
	cfg.Seed = 7
	return NewRTT(cfg)
}

// Up to a ringful, quantiles are exact.
func TestFewSamplesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "rtt"))
		}), 1, ringSize).Draw(t, "values")
		r := seeded()
		for i, v := range values {
			r.Observe(time.Duration(i)*time.Second, v, false)
		}
		got := r.Reading(time.Minute)
		if p := exact(values, 0.5); got.P50 < p-1 || got.P50 > p+1 {
			t.Fatalf("P50 %v, want %v", got.P50, p)
		}
		if p := exact(values, 0.95); got.P95 < p-1 || got.P95 > p+1 {
			t.Fatalf("P95 %v, want %v", got.P95, p)
		}
		if got.Base != slices.Min(values) {
			t.Fatalf("base %v, want %v", got.Base, slices.Min(values))
		}
	})
}

func TestDigestAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	shapes := map[string]func(i int) time.Duration{
		"even":     func(int) time.Duration { return 20*ms + time.Duration(rng.Int64N(int64(20*ms))) },
		"lognorm":  func(int) time.Duration { return time.Duration(40e6 * math.Exp(0.3*rng.NormFloat64())) },
		"tail":     func(int) time.Duration { return 40*ms + time.Duration(10e6*rng.ExpFloat64()) },
		"rising":   func(i int) time.Duration { return 20*ms + time.Duration(i)*10*time.Microsecond },
		"falling":  func(i int) time.Duration { return 120*ms - time.Duration(i)*10*time.Microsecond },
		"constant": func(int) time.Duration { return 33 * ms },
		"two paths": func(i int) time.Duration {
			if i%4 == 0 {
				return 80*ms + time.Duration(rng.Int64N(int64(ms)))
			}
			return 30*ms + time.Duration(rng.Int64N(int64(ms)))
		},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			r := seeded()
			var values []time.Duration
			var now time.Duration
			for i := range 8000 { // 32 a second, 250 s: all count
				now += time.Second / ringSize
				values = append(values, shape(i))
				r.Observe(now, values[i], false)
			}
			got := r.Reading(now)
			if got.Samples != 8000 {
				t.Errorf("%d samples", got.Samples)
			}
			if p := exact(values, 0.5); !near(got.P50, p, 0.03) {
				t.Errorf("P50 %v, exact %v", got.P50, p)
			}
			if p := exact(values, 0.95); !near(got.P95, p, 0.03) {
				t.Errorf("P95 %v, exact %v", got.P95, p)
			}
		})
	}
}

// sortedRing returns the unloaded samples that wait.
func sortedRing(r *RTT) []time.Duration {
	var values []time.Duration
	for _, s := range r.unloaded.ring {
		values = append(values, s.value)
	}
	slices.Sort(values)
	return values
}

// At 1000 samples a second only a choice of them counts, and it is a fair one.
func TestReservoirIsFair(t *testing.T) {
	r := seeded()
	var values []time.Duration
	var now time.Duration
	for range 200_000 {
		now += ms
		// Slow in the last fifth of each second: a choice that leans to the first
		// samples misses it, one that leans to the last sees nothing else.
		v := 20*ms + jitter(now)/100
		if now%time.Second >= time.Second*4/5 {
			v += 40 * ms
		}
		values = append(values, v)
		r.Observe(now, v, false)
	}
	got := r.Reading(now)
	if got.Samples > 201*ringSize || got.Samples < 190*ringSize {
		t.Errorf("%d samples, want about %d", got.Samples, 200*ringSize)
	}
	if p := exact(values, 0.95); !near(got.P95, p, 0.03) {
		t.Errorf("P95 %v, exact %v", got.P95, p)
	}
	if p := exact(values, 0.5); !near(got.P50, p, 0.03) {
		t.Errorf("P50 %v, exact %v", got.P50, p)
	}
}

// A reading counts the samples that still wait, from the first one on.
func TestReadingCountsPendingSamples(t *testing.T) {
	r := seeded()
	var now time.Duration
	for i := range 2000 {
		now += 40 * ms
		r.Observe(now, jitter(now), false)
		if got := r.Reading(now); got.Samples != uint64(i+1) || got.NewestAt != now {
			t.Fatalf("%d samples at %v after %d by %v", got.Samples, got.NewestAt, i+1, now)
		}
	}
	now += time.Second // the ring is taken in by the next sample
	for range ringSize {
		r.Observe(now, time.Second, false)
	}
	// 32 of 2032 are 1.6 %: the top of the distribution, below P95 still.
	if got := r.unloaded.older.rank(sortedRing(r), 0.99*2031); got != time.Second {
		t.Errorf("p99 is %v though 32 slow samples wait", got)
	}
	if got := r.Reading(now + time.Hour); got.Samples != 2000+ringSize {
		t.Errorf("%d samples after an hour", got.Samples)
	}
}

// Old samples count for at least one HalfSpan and are gone after two.
func TestQuantilesAge(t *testing.T) {
	half := DefaultRTTConfig().HalfSpan
	for _, gap := range []time.Duration{100 * ms, 5 * time.Second, 40 * time.Second} {
		r := seeded()
		var now time.Duration
		for ; now < half; now += gap {
			r.Observe(now, 200*ms, false)
		}
		last := now - gap
		for ; now < last+half; now += gap {
			r.Observe(now, 10*ms, false)
		}
		if got := r.Reading(now); got.P95 != 200*ms {
			t.Errorf("gap %v: P95 is %v before a HalfSpan is over", gap, got.P95)
		}
		for ; now < last+2*half+gap; now += gap {
			r.Observe(now, 10*ms, false)
		}
		if got := r.Reading(now); got.P95 != 10*ms || got.P50 != 10*ms || got.Samples == 0 {
			t.Errorf("gap %v: old samples still there after two HalfSpans: %+v", gap, got)
		}
	}
}

// Censored samples age with the others, also when a t-digest is used again.
func TestCensoredSamplesAge(t *testing.T) {
	half := DefaultRTTConfig().HalfSpan
	r := seeded()
	var now time.Duration
	for ; now < half; now += time.Second {
		r.Observe(now, 10*ms, false)
		r.Censor(now, time.Second, false)
	}
	if got := r.Reading(now); got.Censored != uint64(half/time.Second) || got.Samples != got.Censored {
		t.Fatalf("reading %+v", got)
	}
	for ; now < 6*half; now += time.Second {
		r.Observe(now, 10*ms, false)
		if got := r.Reading(now); now > 3*half+time.Second && (got.Censored != 0 || got.P95 != 10*ms) {
			t.Fatalf("still there at %v: %+v", now, got)
		}
	}
}

// After a long silence the old values stay known until there is a new one, and
// then that one counts alone.
func TestQuantilesAfterSilence(t *testing.T) {
	half := DefaultRTTConfig().HalfSpan
	for _, n := range []int{5, 3000} {
		for _, silence := range []time.Duration{2 * half, 3 * half, 10 * half} {
			r := seeded()
			var now time.Duration
			for range n {
				now += 50 * ms
				r.Observe(now, 200*ms, false)
			}
			now += silence
			if got := r.Reading(now); got.P50 != 200*ms {
				t.Errorf("n=%d: forgot in %v: %+v", n, silence, got)
			}
			r.Observe(now, 10*ms, false)
			now += DefaultRTTConfig().Flush
			r.Observe(now, 10*ms, false)
			if got := r.Reading(now); got.P95 != 10*ms {
				t.Errorf("n=%d: P95 is %v after a silence of %v", n, got.P95, silence)
			}
		}
	}
}

// Whatever comes at whatever time, a reading is in order and within what was
// seen.
func TestReadingStaysWithinWhatWasSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := seeded()
		var now time.Duration
		lowest, highest := time.Duration(math.MaxInt64), time.Duration(0)
		n := rapid.IntRange(1, 400).Draw(t, "n")
		scale := rapid.SampledFrom([]time.Duration{ms, time.Second, time.Minute}).Draw(t, "scale")
		for range n {
			now += time.Duration(rapid.IntRange(0, 20).Draw(t, "gap")) * scale
			v := time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "rtt"))
			lowest, highest = min(lowest, v), max(highest, v)
			r.Observe(now, v, rapid.Bool().Draw(t, "loaded"))
		}
		got := r.Reading(now)
		for _, v := range []time.Duration{got.P50, got.P95} {
			if v < lowest || v > highest {
				t.Fatalf("%v is outside [%v, %v]", v, lowest, highest)
			}
		}
		if got.P50 > got.P95 || got.LoadedP50 > got.LoadedP95 {
			t.Fatalf("out of order: %+v", got)
		}
		if got.Samples+got.LoadedSamples == 0 {
			t.Fatalf("no samples: %+v", got)
		}
	})
}

func TestSeedRepeats(t *testing.T) {
	run := func() Reading {
		r := seeded()
		var now time.Duration
		for range 50_000 {
			now += ms
			r.Observe(now, jitter(now), false)
		}
		return r.Reading(now)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("the same seed gave %+v and %+v", a, b)
	}
}

func TestWalk(t *testing.T) {
	// 10, then three samples around 20, then 40: ranks 0, 1 to 3, 4.
	tests := []struct {
		rank float64
		want time.Duration
	}{{0, 10}, {1, 15}, {2, 20}, {3, 30}, {3.5, 35}, {4, 40}}
	for _, tt := range tests {
		w := walk{rank: tt.rank, value: 10}
		w.visit(10, 1)
		w.visit(20, 3)
		w.visit(40, 1)
		if got := w.end(40); got != tt.want {
			t.Errorf("rank %v is %d, want %d", tt.rank, got, tt.want)
		}
	}
	// Heavy points at the ends reach out to what was seen, not beyond.
	for rank, want := range map[float64]time.Duration{0: 1, 1: 10, 4: 20, 5: 29} {
		w := walk{rank: rank, value: 1}
		w.visit(10, 3)
		w.visit(20, 3)
		if got := w.end(29); got != want {
			t.Errorf("rank %v is %d, want %d", rank, got, want)
		}
	}
}
