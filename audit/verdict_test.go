package audit

import (
	"strings"
	"testing"
	"time"
)

func TestReasons(t *testing.T) {
	good := plain("p", "g", 0.1)
	for _, tt := range []struct {
		name string
		feed func(*Auditor) Verdict
		want string
	}{
		{"nothing", func(a *Auditor) Verdict { return a.Verdict("p") }, "clear: nothing stands against it"},
		{
			"a little",
			func(a *Auditor) Verdict { return observeAll(a, 0, plain("p", "g", 1.1), 2) },
			"clear: nothing stands against it: 2 of the last 2 audited fetches took longer than they may, too few to say",
		},
		{
			"overclaims",
			func(a *Auditor) Verdict {
				observeAll(a, 0, plain("p", "g", 1.1), 8)
				observeAll(a, 0, good, 2)
				return observeAll(a, 0, plain("p", "g", 1.5), 1)
			},
			"overclaims: slower than its own rate says: 9 of the last 11 audited fetches took more than 1.95 times their claim; the last of them took 2.5 s where 1.0 s was claimed",
		},
		{
			"withholding",
			func(a *Auditor) Verdict { return observeAll(a, 0, plain("p", "g", 9), 8) },
			"withholding: alive but 8 of the last 8 audited fetches took more than 4.8 times their claim while its echoes kept coming; the last of them took 10.0 s where 1.0 s was claimed",
		},
		{
			"never alone",
			func(a *Auditor) Verdict { return observeAll(a, 0, with(9, critical), 3) },
			"never alone: missed 3 of the last 3 critical fetches; the last of them took 10.0 s where 1.0 s was claimed",
		},
		{
			"path",
			func(a *Auditor) Verdict {
				return observeAll(a, 0, with(3, func(r *Record) { r.Stalled, r.Echoes = 3*time.Second, EchoesStopped }), 3)
			},
			"path: a bad path: 3 of the last 3 audited fetches stalled together with our echoes, or lost packets; the last of them took 4.0 s where 1.0 s was claimed",
		},
		{
			"slow to start",
			func(a *Auditor) Verdict {
				return observeAll(a, 0, with(3, func(r *Record) { r.TTFB = 3 * time.Second }), 8)
			},
			"slow to start: the first byte of 8 of the last 8 audited fetches came late, the last by 3.0 s where the whole fetch was claimed to take 1.0 s",
		},
		{
			"size",
			func(a *Auditor) Verdict { return a.Lie(0, "p", "g", FalseSize, "said 1 MB for 64 kB") },
			"proven lie: gave a size that the datum proved false: said 1 MB for 64 kB",
		},
		{
			"forgeries",
			func(a *Auditor) Verdict {
				for range 3 {
					a.Lie(0, "p", "g", ForgedEcho, "")
				}
				return a.Verdict("p")
			},
			"proven lie: echoed 3 cookies that were never issued",
		},
		{
			"held echoes",
			func(a *Auditor) Verdict {
				return observeAll(a, 0, with(0.1, func(r *Record) { r.KernelRTT, r.AppRTT = 20*ms, time.Second }), 8)
			},
			"clear: nothing stands against it; it holds its echoes (1.0 s where the kernel sees 20 ms)",
		},
	} {
		if got := tt.feed(New(DefaultConfig())).String(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestKinds(t *testing.T) {
	var s Kinds
	if !s.Has(Clear) || s.Gravest() != Clear || s.String() != "clear" {
		t.Errorf("the empty set: %v", s)
	}
	s = s.with(Path).with(Withholding).with(Overclaims)
	if s.Has(Clear) || !s.Has(Path) || s.Has(ProvenLie) {
		t.Errorf("%v", s)
	}
	if s.Gravest() != Withholding || s.String() != "withholding, overclaims, path" {
		t.Errorf("gravest %v of %q", s.Gravest(), s)
	}
	for k := range kindCount {
		if got, want := k.Punitive(), k == Withholding || k == ProvenLie; got != want {
			t.Errorf("%v: punitive %t", k, got)
		}
		if k.String() == "unknown" || k.String() == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
	for _, s := range []string{Kind(99).String(), Outcome(99).String(), LieKind(99).String()} {
		if s != "unknown" {
			t.Errorf("out of range: %q", s)
		}
	}
	for o := range outcomeCount {
		if o.String() == "" {
			t.Errorf("outcome %d has no name", o)
		}
	}
}

// A chart gives one kind, and the evidence of the kind is that chart.
func TestEvidenceIsOfItsChart(t *testing.T) {
	for i := range chartHolding {
		if got := chartOf(kindOf[i]); got != i {
			t.Errorf("%v: chart %d, want %d", kindOf[i], got, i)
		}
	}
}

func TestShortTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 us", 900: "1 us", 250 * time.Microsecond: "250 us", 12345 * time.Microsecond: "12 ms",
		900 * ms: "900 ms", 4100 * ms: "4.1 s", 99 * time.Second: "99.0 s", 150 * time.Second: "150 s",
	} {
		if got := short(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestReasonIsOneSentence(t *testing.T) {
	a := New(DefaultConfig())
	for i := range 40 {
		s := a.Observe(0, plain("p", "g", float64(i))).Reason()
		if s == "" || strings.ContainsAny(s, "\n") || strings.HasSuffix(s, " ") || strings.Contains(s, "%!") {
			t.Errorf("%q", s)
		}
	}
}
