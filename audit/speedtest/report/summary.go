package report

import (
	"cmp"
	"math"
	"slices"
)

func compareFloats(a, b float64) int { return cmp.Compare(a, b) }

// Summary describes a set of values.
type Summary struct {
	N      int     `json:"n"`
	Min    float64 `json:"min"`
	P10    float64 `json:"p10"`
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	P90    float64 `json:"p90"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	Std    float64 `json:"std"` // of the population
}

// Summarise describes values; all zero if there are none.
func Summarise(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	v := slices.Sorted(slices.Values(values))
	s := Summary{
		N: len(v), Min: v[0], Max: v[len(v)-1], Mean: mean(v),
		P10: quantile(v, 0.1), Q1: quantile(v, 0.25), Median: quantile(v, 0.5), Q3: quantile(v, 0.75), P90: quantile(v, 0.9),
	}
	for _, x := range v {
		s.Std += (x - s.Mean) * (x - s.Mean)
	}
	s.Std = math.Sqrt(s.Std / float64(len(v)))
	return s
}

// quantile of sorted values, between two of them in proportion. NaN if there are none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func mean(values []float64) float64 { return sum(values) / float64(len(values)) }

func sum(values []float64) float64 {
	var s float64
	for _, v := range values {
		s += v
	}
	return s
}
