package audit

import (
	"slices"
	"time"
)

// tallyBounds are the upper bounds of a Tally's buckets, in shares of the claim: fine about the
// threshold, with the two clamps and the gross limits among them.
var tallyBounds = [...]float64{0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.5, 2, 3.2, 3.8, 8, 16, 64}

// A Tally is a cumulative histogram of residuals since the start, as metrics want one.
type Tally struct {
	Count uint64
	// Sum adds the residuals up, each within -1 and 64.
	Sum     float64
	buckets [len(tallyBounds)]uint64
}

func (t *Tally) add(r float64) {
	t.Count++
	t.Sum += min(max(r, -1), tallyBounds[len(tallyBounds)-1])
	if i, _ := slices.BinarySearch(tallyBounds[:], r); i < len(t.buckets) {
		t.buckets[i]++
	}
}

// Buckets calls yield with each upper bound and how many residuals were at or below it.
func (t *Tally) Buckets(yield func(bound float64, count uint64) bool) {
	var sum uint64
	for i, n := range t.buckets {
		if sum += n; !yield(tallyBounds[i], sum) {
			return
		}
	}
}

// A Stratum is a set of like fetches, as metrics see it.
type Stratum struct {
	// SizeFrom and SizeTo bound the sizes in bytes, RTTFrom and RTTTo the base round trips: from
	// inclusive, to exclusive, 0 for no upper bound. Lossy says that the kernel saw loss.
	SizeFrom, SizeTo int64
	RTTFrom, RTTTo   time.Duration
	Lossy            bool
	// Threshold is what a peer of none of the voting groups is held to.
	Threshold Threshold
	// Voters is how many groups vote in the stratum itself, merged with none.
	Voters int
	// Residuals tallies those of the baseline.
	Residuals Tally
}

// Strata returns the strata that had a fetch, unmerged, in order of loss, size and round trip. It
// allocates; ask for it when scraped.
func (a *Auditor) Strata() []Stratum {
	var out []Stratum
	for _, s := range a.strata {
		if s != nil && s.key.level == 0 {
			out = append(out, a.view(s))
		}
	}
	return out
}

func (a *Auditor) view(s *stratum) Stratum {
	k := s.key
	v := Stratum{
		SizeFrom: sizeFloor(int(k.size)), RTTFrom: rttFloor(int(k.rtt)), Lossy: k.lossy,
		Threshold: a.threshold(k, nil),
		Voters:    len(s.votes),
		Residuals: s.tally,
	}
	if k.size < classes-1 {
		v.SizeTo = sizeFloor(int(k.size) + 1)
	}
	if k.rtt < classes-1 {
		v.RTTTo = rttFloor(int(k.rtt) + 1)
	}
	return v
}

// A FreeRate is how often a peer may do something for ever without a verdict being due.
type FreeRate struct {
	Kind Kind
	// Rate is a share of the audited fetches; for NeverAlone, of the critical ones.
	Rate float64
	// InARow is how many in a row convict a peer with a clean record.
	InARow int
}

// FreeRates returns the free rates of all charts, the gravest first. Whoever relies on the audit
// should know them: what is below is left to hedging and redundancy.
func (a *Auditor) FreeRates() []FreeRate {
	charts := a.cfg.charts()
	rates := make([]FreeRate, 0, chartHolding)
	for i := chartHolding - 1; i >= 0; i-- {
		rates = append(rates, FreeRate{kindOf[i], charts[i].FreeRate(), charts[i].InARow()})
	}
	return rates
}
