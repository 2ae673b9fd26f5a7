package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-mux/assay/audit"
)

// A small study meets the bars that it is large enough for: all but the factors before the clamp,
// which want more groups in a stratum. The seed makes it the same every time.
func TestSmallStudyMeetsTheBars(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	all := scenarios()
	for i := range all {
		all[i].pop.Groups = 100
	}
	outcomes := runAll(all[:5], options{fetches: 60_000, attempts: 150, seeds: 1, first: 1000, progress: t.Output()})
	for i := range outcomes {
		o := &outcomes[i]
		for _, b := range o.bars() {
			if !strings.Contains(b.what, "before the clamp") && !b.met() {
				t.Error(b)
			}
		}
	}
}

// What the study shows beside its bars: a disguise as a path buys no fault and no good name, and the
// free rate is free.
func TestDisguisesMeetTheirVerdicts(t *testing.T) {
	s := scenarios()[0]
	s.pop.Groups = 60
	r := run(s, 7, 30_000, 40)
	for i, a := range attacks {
		d := sorted(r.delays[i])
		switch {
		case a.want == audit.Path || a.want == audit.SlowToStart:
			if got := quantile(d, 0.99); got > 10 {
				t.Errorf("%s: %s after %d", a.name, a.want, got)
			}
		case strings.HasSuffix(a.name, " 4 %"):
			if got := within(d, 100); got > 0.05 {
				t.Errorf("%s: %.0f %% convicted within 100", a.name, 100*got)
			}
		case strings.Contains(a.name, "short stall"):
			if got := quantile(d, 1); got >= never {
				t.Errorf("%s: never found out", a.name)
			}
		}
	}
}

func TestPerMillionAndEver(t *testing.T) {
	var o outcome
	o.counts[normal] = count{Peers: 100, Fetches: 1_500_000}
	o.counts[lossy] = count{Peers: 10, Fetches: 500_000}
	o.counts[hostile] = count{Peers: 1, Fetches: 9_000_000}
	o.counts[normal].By[audit.Withholding] = standing{1, 1}
	o.counts[lossy].By[audit.Withholding] = standing{5, 2}
	o.counts[hostile].By[audit.Withholding] = standing{99, 1}
	if got := o.perMillion(audit.Withholding); got != 3 {
		t.Errorf("%v per million, want 6 in two", got)
	}
	if got := o.ever(lossy, audit.Withholding); got != 0.2 {
		t.Errorf("ever %v", got)
	}
	if got := o.ever(slowDisk, audit.Withholding); got != 0 {
		t.Errorf("nobody, ever %v", got)
	}
}

func TestShiftsCompareLikeWithLike(t *testing.T) {
	stratum := func(size int64, merged, voters int, raw float64) audit.Stratum {
		return audit.Stratum{SizeFrom: size, Threshold: audit.Threshold{Raw: raw, Merged: merged, Voters: voters}}
	}
	o := outcome{seeds: []result{{
		without: []audit.Stratum{stratum(1, 0, 20, 0.5), stratum(2, 1, 20, 0.5), stratum(4, 0, 20, 0), stratum(5, 0, 20, 0.5)},
		strata: []audit.Stratum{
			stratum(1, 0, 25, 0.6), // the same: a factor of 1.2 by a fifth of the votes
			stratum(2, 0, 25, 9),   // merged differently
			stratum(3, 0, 25, 9),   // not there without
			stratum(4, 0, 25, 9),   // no vote without
			stratum(5, 0, 40, 1),   // a factor of 2 by half of the votes
		},
	}}}
	got := o.shifts()
	if len(got) != 2 || math.Abs(got[0].factor-1.2) > 1e-9 || math.Abs(got[0].share-0.2) > 1e-9 || got[1].share != 0.5 {
		t.Errorf("%v", got)
	}
}

func TestFairStrata(t *testing.T) {
	all, fair := factors([]shift{{1.1, 0.3, 100}, {1.2, 0.34, 500}, {1.3, 0.2, 99}, {1.4, 0, 1000}})
	if !slices.Equal(all, []float64{1.1, 1.2, 1.3, 1.4}) || !slices.Equal(fair, []float64{1.1, 1.4}) {
		t.Errorf("%v, fair %v", all, fair)
	}
	o := outcome{scenario: scenarios()[2]}
	for _, b := range o.thresholdBars("") {
		if strings.Contains(b.what, "before the clamp") {
			t.Errorf("a bar without a fair stratum: %v", b)
		}
	}
}
