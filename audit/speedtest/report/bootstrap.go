package report

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is where 95 of 100 resamples lie. With few peers it is rough; with none, or where the
// figure is not defined, both ends are 0.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// interval takes the middle 95 % of values, those that are not defined left out.
func interval(values []float64) Interval {
	v := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(v) == 0 {
		return Interval{}
	}
	slices.Sort(v)
	return Interval{Low: quantile(v, 0.025), High: quantile(v, 0.975)}
}

// resample draws n of n peers with replacement, times over, and calls use with how often each was
// drawn. The slice is used again. The same seed draws the same.
func resample(n, times int, seed uint64, use func(count []int)) {
	if n == 0 {
		return
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	count := make([]int, n)
	for range times {
		clear(count)
		for range n {
			count[rnd.IntN(n)]++
		}
		use(count)
	}
}
