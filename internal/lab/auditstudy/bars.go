package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-mux/assay/audit"
)

// outcome is all seeds of a scenario together, and apart.
type outcome struct {
	scenario scenario
	seeds    []result
	counts   [kinds]count
	delays   [][]int // by attack, sorted
}

func gather(s scenario, seeds []result) outcome {
	o := outcome{scenario: s, seeds: seeds, delays: make([][]int, len(attacks))}
	for _, r := range seeds {
		for k := range kinds {
			o.counts[k].add(r.counts[k])
		}
		for i, d := range r.delays {
			o.delays[i] = append(o.delays[i], d...)
		}
	}
	for i := range o.delays {
		slices.Sort(o.delays[i])
	}
	return o
}

// honestFetches returns how many fetches were made of honest peers.
func (o *outcome) honestFetches() (n int) {
	for k := range honestKinds {
		n += o.counts[k].Fetches
	}
	return n
}

// perMillion returns how often a verdict fell in a million fetches of honest peers.
func (o *outcome) perMillion(v audit.Kind) float64 {
	n := 0
	for k := range honestKinds {
		n += o.counts[k].By[v].Onsets
	}
	return 1e6 * float64(n) / float64(max(o.honestFetches(), 1))
}

// ever returns on which share of the peers of a kind a verdict ever fell.
func (o *outcome) ever(k kind, v audit.Kind) float64 {
	return float64(o.counts[k].By[v].Ever) / float64(max(o.counts[k].Peers, 1))
}

// A bar is a figure and what it may be.
type bar struct {
	what       string
	value, max float64
	atLeast    bool // then max is a minimum
	format     string
}

func (b bar) met() bool {
	if b.atLeast {
		return b.value >= b.max
	}
	return b.value <= b.max
}

func (b bar) String() string {
	verdict, sign := "pass", "<="
	if !b.met() {
		verdict = "FAIL"
	}
	if b.atLeast {
		sign = ">="
	}
	return fmt.Sprintf("%s  %-82s "+b.format+" (%s "+b.format+")", verdict, b.what, b.value, sign, b.max)
}

// bars returns those of one scenario.
func (o *outcome) bars() []bar {
	if o.scenario.shown {
		return nil
	}
	rate, kindEver := 1.0, 0.01
	if o.scenario.pop.Name != Base.Name {
		rate, kindEver = 10, 0.05
	}
	name := o.scenario.name + ": "
	bars := []bar{{name + "false withholding per million honest fetches", o.perMillion(audit.Withholding), rate, false, "%.2f"}}
	for k := range honestKinds {
		bars = append(bars, bar{
			fmt.Sprintf("%s%s peers ever withholding, %%", name, k),
			100 * o.ever(k, audit.Withholding), 100 * kindEver, false, "%.2f",
		})
	}
	if o.scenario.pop.Name == Base.Name {
		bars = append(bars, bar{name + "normal peers ever overclaims, %", 100 * o.ever(normal, audit.Overclaims), 1, false, "%.2f"})
	}
	bars = append(bars, o.attackBars(name)...)
	return append(bars, o.thresholdBars(name)...)
}

// attackBars are those of the attacks that have one.
func (o *outcome) attackBars(name string) (bars []bar) {
	for i, t := range attacks {
		if t.limit == 0 {
			continue
		}
		bars = append(bars, bar{
			fmt.Sprintf("%s%s, %s within %d fetches, %% of runs", name, t.name, t.want, t.limit),
			100 * within(o.delays[i], t.limit), 100 * t.share, true, "%.1f",
		})
		if t.median != 0 {
			bars = append(bars, bar{
				fmt.Sprintf("%s%s, %s, median of fetches", name, t.name, t.want),
				float64(quantile(o.delays[i], 0.5)), float64(t.median), false, "%.0f",
			})
		}
	}
	return bars
}

// thresholdBars say how far hostile groups move the threshold: within the clamp after it, and on the
// base population by a factor before it, in the fair strata. (The factor is that of the honest votes'
// quartiles; where few groups vote, or they are further apart, it is larger, and the table has it.)
func (o *outcome) thresholdBars(name string) []bar {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range o.seeds {
		for _, s := range r.strata {
			low, high = min(low, s.Threshold.Value), max(high, s.Threshold.Value)
		}
	}
	c := audit.DefaultConfig()
	bars := append(make([]bar, 0, 4),
		bar{name + "highest threshold", high, c.ThresholdMax, false, "%.2f"},
		bar{name + "lowest threshold", low, c.ThresholdMin, true, "%.2f"})
	if o.scenario.hostile == 0 || o.scenario.pop.Name != Base.Name {
		return bars
	}
	_, f := factors(o.shifts())
	if len(f) == 0 {
		return bars
	}
	return append(bars,
		bar{name + "threshold before the clamp, largest factor", quantile(f, 1), 1.5, false, "%.2f"},
		bar{name + "threshold before the clamp, smallest factor", quantile(f, 0), 0.65, true, "%.2f"})
}

// shift is what hostile votes did to one stratum.
type shift struct {
	factor float64 // of the threshold before the clamp
	share  float64 // of the votes that were hostile
	votes  int
}

// shifts returns, sorted by factor, what hostile votes did to the strata, which are merged as far
// with and without them.
func (o *outcome) shifts() []shift {
	var out []shift
	for _, r := range o.seeds {
		for _, s := range r.strata {
			with, without := s.Threshold, find(r.without, s).Threshold
			if with.Thin || without.Thin || with.Merged != without.Merged || without.Raw <= 0 {
				continue
			}
			out = append(out, shift{with.Raw / without.Raw, float64(with.Voters-without.Voters) / float64(with.Voters), with.Voters})
		}
	}
	slices.SortFunc(out, func(a, b shift) int { return cmp.Compare(a.factor, b.factor) })
	return out
}

// fair says whether a stratum is one that the bar is about: the hostile have a third of the votes at
// most, and there are enough of them that the factor is the rule's and not a few groups' luck.
func (s shift) fair() bool { return s.share <= 1.0/3 && s.votes >= 100 }

// factors returns the factors of all shifts, and of the fair ones.
func factors(shifts []shift) (all, fair []float64) {
	for _, s := range shifts {
		all = append(all, s.factor)
		if s.fair() {
			fair = append(fair, s.factor)
		}
	}
	return all, fair
}

// find returns the stratum of the same bounds, or a thin one.
func find(in []audit.Stratum, like audit.Stratum) audit.Stratum {
	for _, s := range in {
		if s.SizeFrom == like.SizeFrom && s.RTTFrom == like.RTTFrom && s.Lossy == like.Lossy {
			return s
		}
	}
	return audit.Stratum{Threshold: audit.Threshold{Thin: true}}
}
