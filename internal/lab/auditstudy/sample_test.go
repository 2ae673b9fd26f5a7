package main

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestQuantile(t *testing.T) {
	for _, tt := range []struct {
		values []int
		q      float64
		want   int
	}{
		{nil, 0.5, 0},
		{[]int{7}, 0, 7},
		{[]int{7}, 1, 7},
		{[]int{1, 2, 3, 4}, 0.5, 2},
		{[]int{1, 2, 3, 4}, 0.51, 3},
		{[]int{1, 2, 3, 4}, 1, 4},
	} {
		if got := quantile(tt.values, tt.q); got != tt.want {
			t.Errorf("q%v of %v: %d, want %d", tt.q, tt.values, got, tt.want)
		}
	}
}

// At least a share q is within the quantile: the two agree on what "within" means.
func TestQuantileAndWithinAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := sorted(rapid.SliceOfN(rapid.IntRange(0, 50), 1, 100).Draw(t, "values"))
		q := rapid.Float64Range(0.01, 1).Draw(t, "q")
		limit := quantile(values, q)
		if within(values, limit) < q-1e-4 {
			t.Fatalf("%v within %d, want %v", within(values, limit), limit, q)
		}
		if below := within(values, limit-1); below >= q+1e-4 {
			t.Fatalf("%v already within %d, want %v", below, limit-1, q)
		}
	})
}

// However many values come, few are kept, evenly.
func TestSampleIsBoundedAndEven(t *testing.T) {
	var s sample
	const n = 1 << 18
	for i := range n {
		s.add(float64(i))
	}
	if len(s.values) > sampleMax || len(s.values) < sampleMax/4 {
		t.Errorf("%d values kept", len(s.values))
	}
	if !slices.IsSorted(s.values) || s.values[0] != 0 {
		t.Error("not in order from the first")
	}
	for _, q := range []float64{0.1, 0.5, 0.9} {
		if got := quantile(s.values, q); math.Abs(got/n-q) > 0.02 {
			t.Errorf("q%v is %v", q, got/n)
		}
	}
}

func TestExceedance(t *testing.T) {
	points := exceedance([]float64{4, 1, 2, 3, 0.001}, 0.5)
	if len(points) != 4 || points[0].X != 1 || points[0].Y != 0.8 || points[3].X != 4 || points[3].Y != 0.2 {
		t.Errorf("%v", points)
	}
}
