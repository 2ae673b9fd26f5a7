package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestSummarise(t *testing.T) {
	up := make([]float64, 21)
	for i := range up {
		up[i] = float64(20 - i)
	}
	tests := []struct {
		name string
		xs   []float64
		want Summary
	}{
		{"none", nil, Summary{}},
		{"one", []float64{3}, Summary{Median: 3, Min: 3, Max: 3, Lower95: 3, Upper95: 3, N: 1}},
		{"even", []float64{4, 1, 3, 2}, Summary{Median: 2.5, Min: 1, Max: 4, Lower95: 1, Upper95: 4, N: 4}},
		{"five", []float64{5, 1, 3, 2, 4}, Summary{Median: 3, Min: 1, Max: 5, Lower95: 1, Upper95: 5, Bounded: true, N: 5}},
		// Tables of the sign test: at n = 15 the bound is the 12th value, at
		// 21 the 15th.
		{"fifteen", up[6:], Summary{Median: 7, Min: 0, Max: 14, Lower95: 3, Upper95: 11, Bounded: true, N: 15}},
		{"twenty-one", up, Summary{Median: 10, Min: 0, Max: 20, Lower95: 6, Upper95: 14, Bounded: true, N: 21}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Summarise(tt.xs); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestSummariseLeavesItsArgument(t *testing.T) {
	xs := []float64{3, 1, 2}
	Summarise(xs)
	if xs[0] != 3 || xs[1] != 1 || xs[2] != 2 {
		t.Errorf("the sample was reordered: %v", xs)
	}
}

// The bound must hold for a skewed distribution: an exponential's median is
// ln 2. Its true coverage at n = 15 is 98.2 %.
func TestUpperBoundCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 4000
	covered := 0
	xs := make([]float64, 15)
	for range trials {
		for i := range xs {
			xs[i] = r.ExpFloat64()
		}
		if Summarise(xs).Upper95 >= math.Ln2 {
			covered++
		}
	}
	if got := float64(covered) / trials; !near(got, 0.982, 0.01) {
		t.Errorf("the bound held in %.3f of trials, want 0.982", got)
	}
}

func TestWorse(t *testing.T) {
	tests := []struct {
		f1, n1, f2, n2 int
		want           float64
	}{
		{0, 3, 3, 3, 0.05},    // 1/20
		{0, 3, 2, 3, 0.2},     // 3/15
		{3, 3, 0, 3, 1},       // the better one
		{0, 400, 0, 400, 1},   // nothing failed
		{0, 0, 0, 0, 1},       // nothing ran
		{1, 4, 3, 4, 0.24286}, // Fisher's lady tasting tea, 17/70
		{1, 8, 5, 8, 0.05944}, // the rest by exact integer arithmetic
		{51, 400, 51, 400, 0.54218},
		{51, 400, 77, 400, 0.00784},
	}
	for _, tt := range tests {
		if got := Worse(tt.f1, tt.n1, tt.f2, tt.n2); !near(got, tt.want, 2e-5) {
			t.Errorf("Worse(%d/%d, %d/%d) = %.5f, want %.5f", tt.f1, tt.n1, tt.f2, tt.n2, got, tt.want)
		}
	}
}

// At equal rates a 5 % test may cry wolf in at most 5 % of trials.
func TestWorseFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const trials, runs = 1000, 400
	alarms := 0
	for range trials {
		var f [2]int
		for i := range runs * 2 {
			if r.Float64() < 0.12 {
				f[i%2]++
			}
		}
		if Worse(f[0], runs, f[1], runs) < 0.05 {
			alarms++
		}
	}
	if got := float64(alarms) / trials; got > 0.065 || got == 0 {
		t.Errorf("%.3f of trials alarmed, want some, and at most 0.05", got)
	}
}
