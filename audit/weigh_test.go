package audit

import (
	"math"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestOutcomes(t *testing.T) {
	c := DefaultConfig()
	for _, tt := range []struct {
		name   string
		change func(*Record)
		want   Outcome
		credit bool
	}{
		{"plain", func(*Record) {}, Judged, true},
		{"failed", func(r *Record) { r.Failed = true }, Censored, false},
		{"no claim", func(r *Record) { r.Claim = 0 }, Unclaimed, true},
		{"negative claim", func(r *Record) { r.Claim = -time.Second }, Unclaimed, true},
		{"negative time", func(r *Record) { r.Actual = -1 }, Unclaimed, true},
		{"covered by a quarter", func(r *Record) { r.Coverage = r.Size / 4 }, Judged, true},
		{"covered by less", func(r *Record) { r.Coverage = r.Size/4 - 1 }, Unsupported, true},
		{"half ours", func(r *Record) { r.Ours = r.Actual / 2 }, Judged, true},
		{"more than half ours", func(r *Record) { r.Ours = r.Actual/2 + ms }, Void, false},
		{"void goes before failed", func(r *Record) { r.Ours, r.Failed = r.Actual, true }, Void, false},
		{"held goes before all", func(r *Record) { r.Held, r.Ours = true, r.Actual }, Held, false},
	} {
		r := with(0.2, tt.change)
		w := c.weigh(&r)
		if w.outcome != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, w.outcome, tt.want)
		}
		if got := (Finding{Outcome: w.outcome}).Credit(); got != tt.credit {
			t.Errorf("%s: credit %t, want %t", tt.name, got, tt.credit)
		}
	}
}

// What is taken out of the time before it is compared.
func TestResidual(t *testing.T) {
	c := DefaultConfig()
	for _, tt := range []struct {
		name           string
		residual       float64
		change         func(*Record)
		want, wantLate float64
	}{
		{"plain", 0.5, func(*Record) {}, 0.5, 0},
		{"faster than claimed", -0.3, func(*Record) {}, -0.3, 0},
		{"late first byte", 2, func(r *Record) { r.TTFB = testRTT + 1500*ms }, 0.5, 1.5},
		{"late first byte, as claimed", 2, func(r *Record) { r.TTFB, r.ExpectedTTFB = 1500*ms, 1500*ms }, 2, 0},
		{"late first byte, half claimed", 2, func(r *Record) { r.TTFB, r.ExpectedTTFB = 1500*ms, 500*ms }, 1, 1},
		{"first byte unknown", 2, func(r *Record) { r.TTFB = 0 }, 2, 0},
		{"first byte after the end", 2, func(r *Record) { r.TTFB = time.Hour }, -1, 3},
		{"failed without a byte", 2, func(r *Record) { r.TTFB, r.Failed = 0, true }, testRTT.Seconds() - 1, 3 - testRTT.Seconds()},
		{"a third ours", 2, func(r *Record) { r.Ours = 1000 * ms }, 1, 0},
		{"negative ours", 2, func(r *Record) { r.Ours = -time.Hour }, 2, 0},
		{"common mode", 2, func(r *Record) { r.CommonMode = 0.75 }, 1.25, 0},
		{"common mode unknown", 2, func(r *Record) { r.CommonMode = math.NaN() }, 2, 0},
		{"path stall", 2, func(r *Record) { r.Stalled, r.Echoes = 1200*ms, EchoesStopped }, 0.8, 0},
		{"peer's stall", 2, func(r *Record) { r.Stalled, r.Echoes = 1200*ms, EchoesFlowed }, 2, 0},
		{"somebody's stall", 2, func(r *Record) { r.Stalled, r.Echoes = 1200*ms, EchoesUnknown }, 2, 0},
		{"stalled longer than it took", 2, func(r *Record) { r.Stalled, r.Echoes = time.Hour, EchoesStopped }, -1, 0},
		{"a year and more", 2, func(r *Record) { r.Actual, r.Claim = math.MaxInt64, 1 }, residualMax, 0},
	} {
		r := with(tt.residual, tt.change)
		w := c.weigh(&r)
		near(t, tt.name, w.over(w.moved), tt.want, 1e-9)
		near(t, tt.name+", late", float64(w.late)/float64(w.claim), tt.wantLate, 1e-9)
	}
}

// What excuses an excess over a threshold of 0.8.
func TestExcuses(t *testing.T) {
	c := DefaultConfig()
	for _, tt := range []struct {
		name     string
		residual float64
		change   func(*Record)
		want     excuse
	}{
		{"at the threshold", 0.8, func(*Record) {}, noExcess},
		{"above it", 0.81, func(*Record) {}, noExcuse},
		{"path stall explains it", 2, func(r *Record) { r.Stalled, r.Echoes = 1300*ms, EchoesStopped }, pathStall},
		{"path stall explains half of it", 2, func(r *Record) { r.Stalled, r.Echoes = 1000*ms, EchoesStopped }, noExcuse},
		{"error bar explains it", 0.9, func(r *Record) { r.ClaimError = 950 * ms }, withinError},
		{"error bar explains half of it", 0.9, func(r *Record) { r.ClaimError = 450 * ms }, noExcuse},
		{"no error bar explains more than a claim", 1.1, func(r *Record) { r.ClaimError = time.Hour }, noExcuse},
		{"LAN: 30 ms for 10", 2, lan(30 * ms), trifle},
		{"LAN: 62 ms for 10", 2, lan(62 * ms), trifle},
		{"LAN: 63 ms for 10", 2, lan(63 * ms), noExcuse},
		{"far: within two round trips", 2, func(r *Record) { r.BaseRTT, r.Claim, r.Actual = 600*ms, 700*ms, 1900*ms }, trifle},
	} {
		r := with(tt.residual, tt.change)
		w := c.weigh(&r)
		if got := w.exceeds(0.8); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// lan makes a record of a near peer, with a claim of 10 ms: the slack is 50 ms and two round trips of
// 1 ms.
func lan(actual time.Duration) func(*Record) {
	return func(r *Record) { r.BaseRTT, r.TTFB, r.Claim, r.Actual = ms, ms, 10*ms, actual }
}

// What each chart makes of a record, at a threshold of 0.8 and a gross limit of 3.2.
func TestSigns(t *testing.T) {
	type signs struct{ over, withhold, path, slow, critical sign }
	c := DefaultConfig()
	for _, tt := range []struct {
		name     string
		residual float64
		change   func(*Record)
		want     signs
	}{
		{"as claimed", 0.1, func(*Record) {}, signs{miss, miss, miss, miss, silent}},
		{"slow", 1.5, func(*Record) {}, signs{hit, miss, miss, miss, silent}},
		{"gross", 4, func(*Record) {}, signs{hit, hit, miss, miss, silent}},
		{"gross, echoes unknown", 4, func(r *Record) { r.Echoes = EchoesUnknown }, signs{hit, silent, miss, miss, silent}},
		{"gross, loss seen", 4, func(r *Record) { r.Loss = LossSeen }, signs{hit, silent, hit, miss, silent}},
		{"slow, loss seen", 1.5, func(r *Record) { r.Loss = LossSeen }, signs{hit, miss, miss, miss, silent}},
		{"gross by the path", 4, func(r *Record) { r.Stalled, r.Echoes = 3500*ms, EchoesStopped }, signs{silent, silent, hit, miss, silent}},
		{"gross by the path, slow without", 4, func(r *Record) { r.Stalled, r.Echoes = 2500*ms, EchoesStopped }, signs{hit, silent, hit, miss, silent}},
		{"gross in spite of a short stall of the path", 4, func(r *Record) { r.Stalled, r.Echoes = 300*ms, EchoesStopped }, signs{hit, hit, miss, miss, silent}},
		{"slow by the path", 1.5, func(r *Record) { r.Stalled, r.Echoes = 1400*ms, EchoesStopped }, signs{silent, miss, hit, miss, silent}},
		{"late first byte", 4, func(r *Record) { r.TTFB = 3900 * ms }, signs{miss, miss, miss, hit, silent}},
		{"late first byte, a trifle", 0, func(r *Record) {
			r.BaseRTT, r.Claim, r.TTFB, r.Actual = ms, 5*ms, 40*ms, 45*ms
		}, signs{miss, miss, miss, silent, silent}},
		{"critical, as claimed", 0.1, critical, signs{miss, miss, miss, miss, miss}},
		{"critical, slow", 1.5, critical, signs{hit, miss, miss, miss, miss}},
		{"critical, gross", 4, critical, signs{hit, hit, miss, miss, hit}},
		{"critical, gross by its first byte", 4, func(r *Record) { critical(r); r.TTFB = 3900 * ms }, signs{miss, miss, miss, hit, hit}},
		{"critical, gross by the path", 4, func(r *Record) {
			critical(r)
			r.Stalled, r.Echoes = 3900*ms, EchoesStopped
		}, signs{silent, silent, hit, miss, hit}},
		{"critical, failed at once", -0.99, func(r *Record) { critical(r); r.Failed = true }, signs{silent, silent, silent, silent, hit}},
		{"failed at once", -0.99, failed, signs{silent, silent, silent, silent, silent}},
		{"failed after long", 4, failed, signs{hit, hit, silent, silent, silent}},
		{"failed after long without a byte", 4, func(r *Record) { failed(r); r.TTFB = 0 }, signs{silent, silent, silent, hit, silent}},
	} {
		r := with(tt.residual, tt.change)
		w := c.weigh(&r)
		got := signs{w.overclaims(0.8), w.withholds(3.2, &r), w.stallsOnPath(0.8, 3.2, &r), w.startsSlowly(0.8), w.misses(3.2, &r)}
		if got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func critical(r *Record) { r.Critical = true }
func failed(r *Record)   { r.Failed = true }

func TestEchoHolding(t *testing.T) {
	c := DefaultConfig()
	for _, tt := range []struct {
		kernel, app time.Duration
		want        sign
	}{
		{0, time.Second, silent},
		{20 * ms, 0, silent},
		{20 * ms, 25 * ms, miss},
		{20 * ms, 90 * ms, miss},
		{20 * ms, 91 * ms, hit},
		{300 * ms, 600 * ms, miss},
		{300 * ms, 700 * ms, hit},
	} {
		if got := c.holdsEchoes(&Record{KernelRTT: tt.kernel, AppRTT: tt.app}); got != tt.want {
			t.Errorf("kernel %v, echoes %v: %v, want %v", tt.kernel, tt.app, got, tt.want)
		}
	}
}

func TestContradiction(t *testing.T) {
	for _, tt := range []struct {
		base, ttfb time.Duration
		want       bool
	}{
		{200 * ms, 40 * ms, true},
		{200 * ms, 195 * ms, false},
		{200 * ms, 300 * ms, false},
		{200 * ms, 0, false},
		{ms, ms / 10, false},
	} {
		if got := (&Record{BaseRTT: tt.base, TTFB: tt.ttfb}).contradicts(); got != tt.want {
			t.Errorf("first byte after %v over %v: %t, want %t", tt.ttfb, tt.base, got, tt.want)
		}
	}
}
