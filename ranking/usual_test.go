package ranking

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

func TestTheUsualPaceIsTheMedianOverBytes(t *testing.T) {
	clean := completed{bytes: 1e6, time: 1040 * ms, first: 40 * ms}
	stalled := completed{bytes: 1e6, time: 9040 * ms, first: 40 * ms}
	small := completed{bytes: 1e4, time: 41 * ms, first: 40 * ms}
	for name, c := range map[string]struct {
		of   []completed
		want float64
	}{
		"none":                  {nil, 0},
		"one":                   {[]completed{clean}, 1e-6},
		"a few stalls":          {[]completed{clean, stalled, clean, stalled, clean}, 1e-6},
		"mostly stalls":         {[]completed{clean, stalled, stalled, stalled}, 9e-6},
		"small ones say little": {[]completed{small, small, small, small, small, clean}, 1e-6},
		"old ones are forgotten": {
			[]completed{stalled, stalled, stalled, stalled, clean, clean, clean, clean, clean, clean, clean, clean}, 1e-6,
		},
		"nonsense": {[]completed{{bytes: 0, time: time.Second}, {bytes: 5, time: time.Second, first: 2 * time.Second}}, 0},
	} {
		var u usual
		for _, x := range c.of {
			u.add(x)
		}
		if got := u.median(); got < c.want*0.999 || got > c.want*1.001 {
			t.Errorf("%s: %v s/B, want %v", name, got, c.want)
		}
	}
}

func TestOnlyStallsAreHeldAgainstTheUsualPace(t *testing.T) {
	var u usual
	u.add(completed{bytes: 1e6, time: 1040 * ms, first: 40 * ms})
	path := Path{BaseRTT: 40 * ms, Rate: 5e-6}
	mean := Predict(1e6, path).Total
	record := func(change func(*audit.Record)) audit.Record {
		r := audit.Record{Size: 1e6, Claim: mean, Stalled: 8 * time.Second, Echoes: audit.EchoesFlowed}
		change(&r)
		u.hold(&r, path)
		return r
	}
	fast := record(func(*audit.Record) {})
	path.Rate = burst.SecondsPerByte(1e-6)
	if want := Predict(1e6, path).Total; fast.Claim != want {
		t.Errorf("a stall is held against %v, want %v", fast.Claim, want)
	}
	for name, r := range map[string]audit.Record{
		"no silence":   record(func(r *audit.Record) { r.Stalled = 0 }),
		"echoes ended": record(func(r *audit.Record) { r.Echoes = audit.EchoesStopped }),
		"unknown":      record(func(r *audit.Record) { r.Echoes = audit.EchoesUnknown }),
	} {
		if r.Claim != mean {
			t.Errorf("%s: held against %v, want the mean's %v", name, r.Claim, mean)
		}
	}
	if r := record(func(r *audit.Record) { r.Claim = 0 }); r.Claim != 0 {
		t.Error("a claim was made of none")
	}
	if r := record(func(r *audit.Record) { r.Claim = ms }); r.Claim != ms {
		t.Error("a claim became slower")
	}
}

// One that stalls in three fetches of ten has those stalls in its mean rate, by which none of them is
// gross. It is convicted all the same; one whose path becomes as slow is not.
func TestStallsDoNotTalkAClaimDown(t *testing.T) {
	run := func(stalls bool) audit.Verdict {
		w := newWorld(t)
		a := w.honestPeers([2]float64{40, 20})[0]
		path := Path{BaseRTT: 40 * ms}
		for i := range 60 {
			bad := i%10 > 6
			took, silence := 300*ms, 20*ms
			if bad {
				took = 8 * time.Second
			}
			if bad && stalls {
				silence = 7700 * ms
			}
			// Two stalls of 8 s in the mean of each ten fetches and more.
			w.reads(a, 500e3/(2600*ms).Seconds(), 500e3)
			p := mustPlan(t, w, a)
			f, err := w.r.Begin(w.now, p)
			if err != nil {
				t.Fatal(err)
			}
			f.Progress(w.now+path.BaseRTT, 250e3)
			a.gauge.set(func(r *burst.Reading) { r.Silence, r.EchoAge = silence, 10*ms })
			for at := path.BaseRTT; bad && !stalls && at < took-300*ms; at += 300 * ms {
				f.Progress(w.now+at, 1000)
			}
			if bad && stalls {
				f.Advice(w.now + took/2)
			}
			w.now += took
			f.Progress(w.now, int(500e3-f.got))
			f.Received(w.now)
			f.Done(w.now, 500e3)
			w.now += 2 * time.Second
		}
		v, _ := w.r.Standing(w.now, a.id, 500e3)
		return v.Verdict
	}
	if v := run(true); !v.Kinds.Has(audit.Withholding) {
		t.Errorf("one that stalls in three of ten: %v", v.Reason())
	}
	if v := run(false); v.Kinds.Has(audit.Withholding) {
		t.Errorf("a path that is slow at times: %v", v.Reason())
	}
}

func mustPlan(t *testing.T, w *world, a *actor) Plan {
	t.Helper()
	p, err := w.r.Choose(w.now, Query{Datum: "d" + w.now.String(), Size: 500e3, Exclude: w.allBut(a.id)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
