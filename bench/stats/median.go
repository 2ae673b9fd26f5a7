package stats

import (
	"math"
	"slices"
)

// Summary describes a sample by its order statistics. It is a value.
type Summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	// Lower95 and Upper95 bound the median of what the sample was drawn from,
	// each by itself with 95 % confidence (one-sided). A sample of fewer than
	// five bounds nothing; they are then Min and Max, and Bounded is false.
	Lower95 float64 `json:"lower95"`
	Upper95 float64 `json:"upper95"`
	Bounded bool    `json:"bounded"`
	N       int     `json:"n"`
}

// Summarise returns the summary of xs, which it leaves as it is. That of an
// empty sample is zero.
func Summarise(xs []float64) Summary {
	n := len(xs)
	if n == 0 {
		return Summary{}
	}
	s := slices.Sorted(slices.Values(xs))
	out := 0
	for out+1 < (n+1)/2 && outside(n, out+1) <= 0.05 {
		out++
	}
	r := Summary{Median: middle(s), Min: s[0], Max: s[n-1], N: n}
	r.Lower95, r.Upper95 = s[out], s[n-1-out]
	r.Bounded = outside(n, out) <= 0.05
	return r
}

// Median returns the median of xs, 0 if there are none.
func Median(xs []float64) float64 { return Summarise(xs).Median }

func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// outside is the chance that the (k+1)th value from one end of a sample of n
// lies beyond the median: that at most k of n fair coins fall heads.
func outside(n, k int) float64 {
	p := 0.0
	for i := range k + 1 {
		p += math.Exp(logChoose(n, i) - float64(n)*math.Ln2)
	}
	return p
}

// logChoose is the logarithm of the binomial coefficient.
func logChoose(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}
