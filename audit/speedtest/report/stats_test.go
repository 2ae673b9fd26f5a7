package report

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestSpearman(t *testing.T) {
	for name, tc := range map[string]struct {
		x, y []float64
		want float64
	}{
		"rising":  {[]float64{1, 2, 3, 4}, []float64{10, 20, 300, 4000}, 1},
		"falling": {[]float64{1, 2, 3, 4}, []float64{4, 3, 2, -1}, -1},
		// Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: cov 4.5, variances 4.5 and 5.
		"ties": {[]float64{1, 2, 2, 3}, []float64{1, 3, 2, 4}, 4.5 / math.Sqrt(4.5*5)},
		// 1 - 6 (1+1+1+1) / (4 x 15).
		"pairs swapped": {[]float64{1, 2, 3, 4}, []float64{2, 1, 4, 3}, 0.6},
	} {
		if got := Spearman(tc.x, tc.y); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	for _, x := range [][]float64{nil, {1}, {2, 2, 2}} {
		if got := Spearman(x, make([]float64, len(x))); !math.IsNaN(got) {
			t.Errorf("%v: %v, want NaN", x, got)
		}
	}
}

// spearmanPlainly ranks by counting, and repeats what is there several times.
func spearmanPlainly(x, y []float64, count []int) float64 {
	var xs, ys []float64
	for i, c := range count {
		for range c {
			xs, ys = append(xs, x[i]), append(ys, y[i])
		}
	}
	rank := func(v []float64, i int) float64 {
		below, same := 0, 0
		for _, w := range v {
			if w < v[i] {
				below++
			} else if w == v[i] {
				same++
			}
		}
		return float64(below) + float64(same+1)/2
	}
	var xy, xx, yy float64
	for i := range xs {
		dx, dy := rank(xs, i)-float64(len(xs)+1)/2, rank(ys, i)-float64(len(xs)+1)/2
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	return xy / math.Sqrt(xx*yy)
}

func TestSpearmanOfResamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		x, y, count := make([]float64, n), make([]float64, n), make([]int, n)
		for i := range n {
			x[i] = float64(rapid.IntRange(-3, 3).Draw(t, "x"))
			y[i] = float64(rapid.IntRange(-3, 3).Draw(t, "y"))
			count[i] = rapid.IntRange(0, 3).Draw(t, "count")
		}
		rx, ry := make([]float64, n), make([]float64, n)
		order(x).rank(count, rx)
		order(y).rank(count, ry)
		got, want := correlateRanks(count, rx, ry), spearmanPlainly(x, y, count)
		if math.Abs(got-want) > 1e-9 || math.IsNaN(got) != math.IsNaN(want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestSummarise(t *testing.T) {
	s := Summarise([]float64{4, 1, 3, 2, 5})
	want := Summary{N: 5, Min: 1, P10: 1.4, Q1: 2, Median: 3, Q3: 4, P90: 4.6, Max: 5, Mean: 3, Std: math.Sqrt2}
	if math.Abs(s.P90-want.P90) > 1e-12 || math.Abs(s.P10-want.P10) > 1e-12 {
		t.Errorf("%+v, want %+v", s, want)
	}
	s.P10, s.P90 = want.P10, want.P90
	if s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
	if s := Summarise([]float64{7}); s.Min != 7 || s.P10 != 7 || s.Max != 7 || s.Std != 0 {
		t.Errorf("one value: %+v", s)
	}
	if s := Summarise(nil); s != (Summary{}) {
		t.Errorf("none: %+v", s)
	}
}

func TestIntervalLeavesOutWhatIsNotDefined(t *testing.T) {
	values := []float64{math.NaN()}
	for i := range 1001 {
		values = append(values, float64(1000-i))
	}
	if i := interval(values); i != (Interval{25, 975}) {
		t.Errorf("%+v, want 25 to 975", i)
	}
	if i := interval([]float64{math.NaN()}); i != (Interval{}) {
		t.Errorf("nothing defined: %+v", i)
	}
}

func TestResampleDrawsEveryPeerAlike(t *testing.T) {
	const n, times = 10, 2000
	total := make([]int, n)
	resample(n, times, 7, func(count []int) {
		all := 0
		for i, c := range count {
			all += c
			total[i] += c
		}
		if all != n {
			t.Fatalf("drew %d of %d", all, n)
		}
	})
	for i, c := range total {
		if c < times*9/10 || c > times*11/10 { // 2.3 standard deviations each way is 100
			t.Errorf("peer %d was drawn %d times of %d", i, c, times)
		}
	}
	resample(0, 10, 1, func([]int) { t.Error("drew of nothing") })
}

// network makes n peers whose capacity is log-normal, and whose claim falls short by a part that grows
// with the rank of the capacity by slope.
func network(n int, slope float64) sample {
	rnd := rand.New(rand.NewPCG(3, 3))
	var s sample
	for range n {
		z := rnd.NormFloat64()
		capacity := 1e6 * math.Exp(z)
		short := rnd.Float64()*0.5 + slope*z
		s.capacity = append(s.capacity, capacity)
		s.figure = append(s.figure, capacity*math.Exp(-short))
	}
	return s
}

// Where the error has nothing to do with capacity, every coefficient is within its null, however far
// from 0 the shared term puts it. Where it has, that of capacity with the relative error is outside.
func TestNull(t *testing.T) {
	o := Options{Resamples: 400, Seed: 1}
	for _, c := range assess(Advertised, network(400, 0), o).Correlations {
		if c.P < 0.01 || c.Spearman < c.Null.Low-0.05 || c.Spearman > c.Null.High+0.05 {
			t.Errorf("unrelated: %+v", c)
		}
		if c.X == ByCapacity && c.Error == Absolute && c.NullMedian < 0.2 {
			t.Errorf("the shared term is not in the null: %+v", c)
		}
	}
	for _, c := range assess(Advertised, network(400, 0.1), o).Correlations {
		if c.X == ByCapacity && (c.P > 0.01 || c.Spearman < c.Null.High) {
			t.Errorf("related: %+v", c)
		}
	}
}

// 95 of 100 intervals have the truth in them; here, of 100 networks, most.
func TestBootstrapCovers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	covered := 0
	for range 100 {
		var s sample
		for range 60 {
			c := 1e6 * math.Exp(rnd.NormFloat64()/2)
			s.capacity, s.figure = append(s.capacity, c), append(s.figure, c*(0.4+0.4*rnd.Float64()))
		}
		var drawn []float64
		resample(60, 200, rnd.Uint64(), func(count []int) {
			e, _ := s.network(count)
			drawn = append(drawn, e)
		})
		if i := interval(drawn); i.Low <= 0.4 && 0.4 <= i.High {
			covered++
		}
	}
	if covered < 86 {
		t.Errorf("%d of 100 intervals have the truth in them", covered)
	}
}

func TestUndefinedCorrelation(t *testing.T) {
	same := sample{figure: []float64{5, 5, 5}, capacity: []float64{5, 5, 5}}
	for _, c := range assess(Advertised, same, few()).Correlations {
		if c.Known || c.Spearman != 0 || c.N != 3 {
			t.Errorf("%+v", c)
		}
	}
}

// Equal ratios tie, though dividing makes them differ in the last digit.
func TestRoundingIsNoOrder(t *testing.T) {
	var s sample
	for i := range 40 {
		c := 1e6 * math.Pow(1.13, float64(i))
		s.capacity, s.figure = append(s.capacity, c), append(s.figure, c*0.9)
	}
	for _, c := range assess(Advertised, s, few()).Correlations {
		if c.Known == (c.Error != Absolute) {
			t.Errorf("%+v", c)
		}
	}
}

func TestRelativeIsCutOffAndSignedIsNot(t *testing.T) {
	// Large peers claim too much, the smallest too little: cut off, the only error is the smallest's.
	s := sample{figure: []float64{5, 20, 40, 90}, capacity: []float64{10, 20, 30, 40}}
	for _, c := range assess(Advertised, s, few()).Correlations {
		want, asked := map[Kind]float64{Signed: -1, Relative: -math.Sqrt(0.6)}[c.Error]
		if c.X == ByCapacity && asked && math.Abs(c.Spearman-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.Error, c.Spearman, want)
		}
	}
}

func TestQuartiles(t *testing.T) {
	if q := quartiles(network(19, 0)); q != nil {
		t.Errorf("of nineteen peers: %+v", q)
	}
	s := network(41, 0)
	q := quartiles(s)
	n, high := 0, 0.0
	for _, part := range q {
		if part.LowCapacity < high || part.HighCapacity < part.LowCapacity || len(part.Errors) != part.Summary.N {
			t.Errorf("%+v", part)
		}
		n, high = n+part.Summary.N, part.HighCapacity
	}
	if n != 41 || len(q) != 4 {
		t.Errorf("%d peers in %d quartiles", n, len(q))
	}
}

// The network's errors are what FlashFlow defines, however the peers are ordered and in whatever unit.
func TestNetworkErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "n")
		var s, scaled sample
		for range n {
			a, c := rapid.Float64Range(1, 1e9).Draw(t, "a"), rapid.Float64Range(1, 1e9).Draw(t, "c")
			s.figure, s.capacity = append(s.figure, a), append(s.capacity, c)
			scaled.figure, scaled.capacity = append(scaled.figure, 8*a), append(scaled.capacity, 8*c)
		}
		c, w := s.network(ones(n))
		if c2, w2 := scaled.network(ones(n)); math.Abs(c-c2) > 1e-9 || math.Abs(w-w2) > 1e-9 {
			t.Fatalf("%v, %v in bytes, %v, %v in bits", c, w, c2, w2)
		}
		if w < 0 || w > 1 {
			t.Fatalf("weight error %v", w)
		}
		var moved float64
		for i, e := range s.weights() {
			moved += abs(e-1) * s.capacity[i] / sum(s.capacity) / 2
		}
		if math.Abs(moved-w) > 1e-9 {
			t.Fatalf("weight error %v, by peers %v", w, moved)
		}
	})
}
