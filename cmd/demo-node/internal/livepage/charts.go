package livepage

import "github.com/assay-mux/assay/audit"

// charts are the audit's.
type charts struct {
	// Bounds are the upper bounds of the buckets of residuals, in shares of the
	// claim; one more bucket is without bound.
	Bounds []float64 `json:"bounds"`
	Strata []stratum `json:"strata"`
	Free   []free    `json:"free"`
}

// stratum is a set of like fetches.
type stratum struct {
	SizeFrom int64   `json:"size_from"`
	SizeTo   int64   `json:"size_to"`
	RTTFrom  float64 `json:"rtt_from"`
	RTTTo    float64 `json:"rtt_to"`
	Lossy    bool    `json:"lossy,omitzero"`
	// Threshold is what residuals are held to; Raw is before the clamp.
	Threshold float64 `json:"threshold"`
	Raw       float64 `json:"raw"`
	Voters    int     `json:"voters"`
	Merged    int     `json:"merged"`
	Thin      bool    `json:"thin"`
	Count     uint64  `json:"count"`
	// Counts are the residuals by bucket.
	Counts []uint64 `json:"counts"`
}

// free is how often a peer may do something for ever without a verdict.
type free struct {
	Verdict string  `json:"verdict"`
	Rate    float64 `json:"rate"`
	InARow  int     `json:"in_a_row"`
}

func newCharts(v View) charts {
	c := charts{Bounds: []float64{}, Strata: make([]stratum, 0, len(v.Strata)), Free: make([]free, 0, len(v.FreeRates))}
	for i := range v.Strata {
		s := newStratum(&v.Strata[i])
		if i == 0 {
			v.Strata[i].Residuals.Buckets(func(bound float64, _ uint64) bool {
				c.Bounds = append(c.Bounds, bound)
				return true
			})
		}
		c.Strata = append(c.Strata, s)
	}
	for _, r := range v.FreeRates {
		c.Free = append(c.Free, free{r.Kind.String(), brief(r.Rate), r.InARow})
	}
	return c
}

func newStratum(s *audit.Stratum) stratum {
	out := stratum{
		SizeFrom: s.SizeFrom, SizeTo: s.SizeTo, RTTFrom: seconds(s.RTTFrom), RTTTo: seconds(s.RTTTo), Lossy: s.Lossy,
		Threshold: brief(s.Threshold.Value), Raw: brief(s.Threshold.Raw), Voters: s.Threshold.Voters,
		Merged: s.Threshold.Merged, Thin: s.Threshold.Thin, Count: s.Residuals.Count,
	}
	var below uint64
	s.Residuals.Buckets(func(_ float64, n uint64) bool {
		out.Counts = append(out.Counts, n-below)
		below = n
		return true
	})
	out.Counts = append(out.Counts, s.Residuals.Count-below)
	return out
}
