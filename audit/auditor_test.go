package audit

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// Each verdict falls after so many fetches in a row, alone, and with the reason that names it.
func TestVerdictsFall(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    Record
		n    int
		kind Kind
		all  Kinds
	}{
		{"half rate", plain("p", "g", 1.1), 8, Overclaims, 1 << Overclaims},
		{"fifth of the rate", plain("p", "g", 4.2), 8, Withholding, 1<<Withholding | 1<<Overclaims},
		{"fifth of the rate, cookies off", with(4.2, func(r *Record) { r.Echoes = EchoesUnknown }), 8, Overclaims, 1 << Overclaims},
		{"path stalls", with(4.2, func(r *Record) { r.Stalled, r.Echoes = 4*time.Second, EchoesStopped }), 3, Path, 1 << Path},
		{"late first byte", with(4.2, func(r *Record) { r.TTFB = 5 * time.Second }), 8, SlowToStart, 1 << SlowToStart},
		{"critical fetches missed", with(4.2, critical), 3, NeverAlone, 1 << NeverAlone},
		{"critical fetches refused", with(-0.9, func(r *Record) { r.Critical, r.Failed = true, true }), 3, NeverAlone, 1 << NeverAlone},
		{"timeouts with echoes", with(9, failed), 8, Withholding, 1<<Withholding | 1<<Overclaims},
	} {
		a := New(DefaultConfig())
		if v := observeAll(a, 0, tt.r, tt.n-1); v.Kinds != 0 {
			t.Errorf("%s: %v already after %d", tt.name, v.Kinds, tt.n-1)
		}
		v := a.Observe(0, tt.r)
		if v.Kind != tt.kind || v.Kinds != tt.all {
			t.Errorf("%s: %v of {%v}, want %v of {%v}", tt.name, v.Kind, v.Kinds, tt.kind, tt.all)
		}
		if again := a.Verdict("p"); again.Kind != v.Kind || again.Kinds != v.Kinds || again.Evidence != v.Evidence {
			t.Errorf("%s: asked again, %+v for %+v", tt.name, again, v)
		}
	}
}

// What never convicts, though it goes on for ever.
func TestVerdictsThatNeverFall(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    Record
	}{
		{"just within the threshold", plain("p", "g", 0.94)},
		{"LAN peer, three times its claim", with(0, lan(30*ms))},
		{"ours", with(9, func(r *Record) { r.Ours = 6 * time.Second })},
		{"held", with(9, func(r *Record) { r.Held = true })},
		{"common mode", with(2, func(r *Record) { r.CommonMode = 1.5 })},
		{"no claim", with(9, func(r *Record) { r.Claim = 0 })},
		{"unsupported claim", with(9, func(r *Record) { r.Coverage = 1000 })},
		{"failing fast", with(-0.99, failed)},
		{"error bar", with(0.99, func(r *Record) { r.ClaimError = time.Second })},
		{"critical, as claimed", with(0.3, critical)},
	} {
		a := New(DefaultConfig())
		if v := observeAll(a, 0, tt.r, 1000); v.Kinds != 0 || v.EchoHolding {
			t.Errorf("%s: %v", tt.name, v)
		}
	}
}

// Void, held, failed and unclaimed records are no part of the baseline, and those that are void or
// held give no credit on any chart.
func TestUnjudgedRecordsMoveNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Record)
	}{
		{"void", func(r *Record) { r.Ours = r.Actual }},
		{"held", func(r *Record) { r.Held = true }},
		{"no claim", func(r *Record) { r.Claim = 0 }},
		{"unsupported", func(r *Record) { r.Coverage = 0 }},
		{"failed fast", func(r *Record) { r.Failed = true }},
	} {
		a := New(DefaultConfig())
		observeAll(a, 0, plain("p", "g", 4.2), 5)
		before, _ := a.Export(0, "p")
		samples := a.Strata()
		r := with(0.1, tt.change)
		observeAll(a, 0, r, 500)
		after, _ := a.Export(0, "p")
		if before != after {
			t.Errorf("%s: %+v became %+v", tt.name, before, after)
		}
		if got := a.Strata(); got[0].Residuals.Count != samples[0].Residuals.Count {
			t.Errorf("%s: %d samples became %d", tt.name, samples[0].Residuals.Count, got[0].Residuals.Count)
		}
	}
}

// A peer that trickles so that every record is more than half ours gains no credit.
func TestTricklerGainsNoCredit(t *testing.T) {
	a := New(DefaultConfig())
	observeAll(a, 0, plain("p", "g", 4.2), 8)
	for range 1000 {
		v := a.Observe(0, with(0, func(r *Record) { r.Ours = r.Actual*6/10 + 1 }))
		if v.Latest.Credit() || v.Kind != Withholding {
			t.Fatalf("credit %t, %v", v.Latest.Credit(), v)
		}
	}
}

// Overclaiming is forgiven by a dozen good fetches, withholding by some two hundred.
func TestRedemption(t *testing.T) {
	a := New(DefaultConfig())
	observeAll(a, 0, plain("p", "g", 4.2), 8)
	good := plain("p", "g", 0.1)
	if v := observeAll(a, 0, good, 11); v.Kinds != 1<<Withholding {
		t.Errorf("after 11 good fetches {%v}", v.Kinds)
	}
	if v := observeAll(a, 0, good, 170); v.Kind != Withholding {
		t.Errorf("after 181 good fetches {%v}", v.Kinds)
	}
	if v := observeAll(a, 0, good, 20); v.Kind != Clear {
		t.Errorf("after 201 good fetches {%v}", v.Kinds)
	}
}

// A slow disk's usual is not held to be withholding; withholding always does not make itself usual.
func TestOwnMedianRaisesTheGrossLimit(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 12, all(0.2))
	disk := plain("disk", "suspect", 1.2)
	observeAll(a, now, disk, 60)
	spike := plain("disk", "suspect", 3.5)
	f := a.Observe(now, spike).Latest
	near(t, "gross limit of a slow disk", f.Gross, 3.8, 1e-9)
	near(t, "gross limit of a clean peer", a.Observe(now, plain("clean", "suspect", 3.5)).Latest.Gross, 3.2, 1e-9)
	if v := observeAll(a, now, plain("hoarder", "suspect", 9), 60); v.Kind != Withholding {
		t.Errorf("always withholding: %v", v)
	}
}

func TestEchoHoldingIsAnAttribution(t *testing.T) {
	a := New(DefaultConfig())
	r := with(0.1, func(r *Record) { r.KernelRTT, r.AppRTT = 20*ms, time.Second })
	if v := observeAll(a, 0, r, 7); v.EchoHolding {
		t.Error("attributed after 7")
	}
	v := a.Observe(0, r)
	if !v.EchoHolding || v.Kind != Clear {
		t.Errorf("after 8: holding %t, %v", v.EchoHolding, v.Kind)
	}
	r.AppRTT = 22 * ms
	if v := observeAll(a, 0, r, 11); v.EchoHolding {
		t.Error("not lifted by prompt echoes")
	}
}

func TestContradictionIsReported(t *testing.T) {
	a := New(DefaultConfig())
	v := a.Observe(0, with(0.1, func(r *Record) { r.BaseRTT, r.TTFB = 200*ms, 30*ms }))
	if !v.Latest.Contradicts || v.Kind != Clear {
		t.Errorf("%+v", v)
	}
}

func TestLies(t *testing.T) {
	a := New(DefaultConfig())
	if v := a.Lie(0, "p", "g", ForgedEcho, "one"); v.Kind != Clear || v.Forged != 1 {
		t.Errorf("one forged echo: %v, %d", v.Kind, v.Forged)
	}
	a.Lie(0, "p", "g", ForgedEcho, "two")
	if v := a.Lie(0, "p", "g", ForgedEcho, "three"); v.Kind != ProvenLie || v.Lie != ForgedEcho || v.Detail != "three" {
		t.Errorf("three forged echoes: %+v", v)
	}
	if v := a.Lie(0, "p", "g", FalseSize, "later"); v.Lie != ForgedEcho || v.Detail != "three" {
		t.Errorf("a later lie took the first one's place: %+v", v)
	}
	if v := a.Lie(0, "q", "g", FalseSize, "said 1 MB for 64 kB"); v.Kind != ProvenLie {
		t.Errorf("one false size: %v", v.Kind)
	}
	if v := a.Lie(0, "r", "g", NoLie, "x"); v.Kind != Clear {
		t.Errorf("no lie: %v", v.Kind)
	}
	if v := observeAll(a, 0, plain("q", "g", 0), 10_000); v.Kind != ProvenLie {
		t.Errorf("good service lifted a proof: %v", v.Kind)
	}
	if !a.Pardon(0, "q") || a.Verdict("q").Kind != Clear {
		t.Error("a pardon did not lift it")
	}
}

func TestDetailIsCut(t *testing.T) {
	a := New(DefaultConfig())
	long := ""
	for len(long) < 3*detailMax {
		long += "größe"
	}
	v := a.Lie(0, "p", "g", FalseSize, long)
	if len(v.Detail) > detailMax || len(v.Detail) < detailMax-4 || long[:len(v.Detail)] != v.Detail {
		t.Errorf("%d bytes: %q", len(v.Detail), v.Detail)
	}
	for _, r := range v.Detail {
		if r == '\uFFFD' {
			t.Error("a character was cut in two")
		}
	}
}

func TestStrangers(t *testing.T) {
	a := New(DefaultConfig())
	if v := a.Verdict("nobody"); v.Kind != Clear || v.Peer != "nobody" {
		t.Errorf("%+v", v)
	}
	if a.Pardon(0, "nobody") {
		t.Error("pardoned a stranger")
	}
	a.Forget(0, "nobody")
	if _, known := a.Export(0, "nobody"); known || a.Len() != 0 {
		t.Error("asking made a record")
	}
}

func TestForget(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 12, all(0.2))
	observeAll(a, now, plain("p", "g3", 4.2), 50)
	for _, name := range []string{"p", "g3.0", "g3.1", "g7.0"} {
		a.Forget(now, name)
		checkInvariants(t, a)
	}
	if got := a.Observe(now, plain("q", "suspect", 0)).Latest.Threshold.Voters; got != 10 {
		t.Errorf("%d voters, want 10", got)
	}
	if v := a.Verdict("p"); v.Kind != Clear {
		t.Errorf("forgotten, yet %v", v.Kind)
	}
	for _, p := range a.ExportAll(now) {
		a.Forget(now, p.Peer)
	}
	checkInvariants(t, a)
	for _, s := range a.strata {
		if s != nil && (len(s.panels) != 0 || len(s.votes) != 0) {
			t.Errorf("stratum %+v keeps %d panels, %d votes", s.key, len(s.panels), len(s.votes))
		}
	}
	if len(a.groups) != 0 || a.Len() != 0 {
		t.Errorf("%d groups and %d peers are left", len(a.groups), a.Len())
	}
}

func TestStrata(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 12, all(0.2))
	a.Observe(now, with(0.1, func(r *Record) { r.Size, r.Coverage = 100<<20, 100<<20 }))
	a.Observe(now, with(0.1, func(r *Record) { r.Loss = LossSeen }))
	got := a.Strata()
	if len(got) != 3 {
		t.Fatalf("%d strata", len(got))
	}
	s := got[0]
	if s.SizeFrom != 1<<20 || s.SizeTo != 4<<20 || s.RTTFrom != 16*ms || s.RTTTo != 32*ms || s.Lossy {
		t.Errorf("bounds %+v", s)
	}
	if s.Voters != 12 || s.Threshold.Value != 0.8 || s.Threshold.Merged != 0 {
		t.Errorf("votes %+v", s)
	}
	if got[1].SizeTo != 0 || got[1].SizeFrom != 64<<20 || got[1].Voters != 0 || got[1].Threshold.Merged != 2 {
		t.Errorf("largest sizes %+v", got[1])
	}
	if !got[2].Lossy || !got[2].Threshold.Thin {
		t.Errorf("lossy %+v", got[2])
	}
}

func TestTally(t *testing.T) {
	var tally Tally
	for _, r := range []float64{-3, 0, 0.05, 0.06, 0.8, 0.81, 3.2, 64, 1000, 1e6} {
		tally.add(r)
	}
	want := map[float64]uint64{0: 2, 0.05: 3, 0.1: 4, 0.6: 4, 0.8: 5, 0.95: 6, 2: 6, 3.2: 7, 16: 7, 64: 8}
	last := uint64(0)
	for bound, count := range tally.Buckets {
		if n, named := want[bound]; named && n != count {
			t.Errorf("at or below %v: %d, want %d", bound, count, n)
		}
		if count < last {
			t.Errorf("at or below %v: %d, less than before", bound, count)
		}
		last = count
	}
	if tally.Count != 10 {
		t.Errorf("count %d", tally.Count)
	}
	near(t, "sum", tally.Sum, -1+0+0.05+0.06+0.8+0.81+3.2+3*64, 1e-9)
}

func TestFreeRatesAreListedByGravity(t *testing.T) {
	rates := New(DefaultConfig()).FreeRates()
	want := []Kind{Withholding, NeverAlone, Overclaims, Path, SlowToStart}
	if len(rates) != len(want) {
		t.Fatalf("%d rates", len(rates))
	}
	for i, k := range want {
		if rates[i].Kind != k || !(rates[i].Rate > 0 && rates[i].Rate < 1) || rates[i].InARow < 1 {
			t.Errorf("%d: %+v, want %v", i, rates[i], k)
		}
	}
}

// Nothing that a record can hold makes it panic or leave a value that is no number.
func TestNonsenseRecords(t *testing.T) {
	times := []time.Duration{math.MinInt64, -1, 0, 1, time.Second, math.MaxInt64}
	a := New(DefaultConfig())
	n := 0
	for _, actual := range times {
		for _, claim := range times {
			for _, other := range times {
				for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 0} {
					v := a.Observe(other, Record{
						Peer: fmt.Sprint(n % 5), Size: int64(other), BaseRTT: other, Claim: claim, ClaimError: other,
						Coverage: math.MaxInt64, Actual: actual, TTFB: other, ExpectedTTFB: claim, Ours: -other, Stalled: other,
						Echoes: EchoesStopped, KernelRTT: other, AppRTT: actual, CommonMode: number, Critical: true, Failed: n%3 == 0,
					})
					if f := v.Latest; math.IsNaN(f.Residual) || math.IsNaN(f.Late) || math.IsNaN(f.Gross) || v.String() == "" {
						t.Fatalf("%+v", v)
					}
					n++
				}
			}
		}
	}
	checkInvariants(t, a)
	if err := New(DefaultConfig()).Import(0, a.ExportAll(math.MaxInt64/2)); err != nil {
		t.Error(err)
	}
}
