package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBucketBounds(t *testing.T) {
	for _, tt := range []struct {
		r    float64
		want int
	}{
		{math.NaN(), 0}, {math.Inf(-1), 0}, {-1, 0}, {0, 0}, {lowest, 0},
		{lowest * 1.0001, 1}, {math.Inf(1), bucketCount - 1}, {1e300, bucketCount - 1}, {33, bucketCount - 1},
		{31.9, bucketCount - 2},
	} {
		if got := bucket(tt.r); got != tt.want {
			t.Errorf("bucket(%v) = %d, want %d", tt.r, got, tt.want)
		}
	}
}

func TestBucketHoldsItsValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := math.Exp(rapid.Float64Range(math.Log(lowest)+1e-6, math.Log(32)-1e-6).Draw(t, "log r"))
		i := bucket(r)
		const grace = 1e-9
		if r < edges[i]*(1-grace) || r > edges[i+1]*(1+grace) {
			t.Fatalf("%v is in bucket %d, which is %v to %v", r, i, edges[i], edges[i+1])
		}
	})
}

// A quantile is off by a bucket's width at most: the ninth part.
func TestQuantileAccuracy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(math.Log(0.04), math.Log(30)), 1, 400).Draw(t, "logs")
		q := rapid.SampledFrom([]float64{0.05, 0.25, 0.5, 0.9, 0.95, 0.99}).Draw(t, "q")
		var h histogram
		for i, v := range values {
			values[i] = math.Exp(v)
			h.add(bucket(values[i]))
		}
		slices.Sort(values)
		// The exact answer lies between the two samples about the rank.
		at := q * float64(len(values))
		below := values[max(int(math.Ceil(at))-1, 0)]
		above := values[min(int(math.Floor(at)), len(values)-1)]
		width := math.Exp2(1.0 / perOctave)
		got := h.quantile(q)
		if got < min(below, above)/width*(1-1e-9) || got > max(below, above)*width*(1+1e-9) {
			t.Fatalf("q%v of %d values: got %v, want about %v to %v", q, len(values), got, below, above)
		}
	})
}

func TestQuantileOfLogNormal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var h histogram
	for range 50_000 {
		h.add(bucket(0.1 * math.Exp(0.6*rng.NormFloat64())))
	}
	near(t, "p50", h.quantile(0.5), 0.1, 0.004)
	near(t, "p95", h.quantile(0.95), 0.1*math.Exp(0.6*1.645), 0.008)
}

func TestQuantileRisesWithQ(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h histogram
		for _, b := range rapid.SliceOfN(rapid.IntRange(0, bucketCount-1), 1, 100).Draw(t, "buckets") {
			h.add(b)
		}
		a := rapid.Float64Range(0, 1).Draw(t, "a")
		b := rapid.Float64Range(a, 1).Draw(t, "b")
		if h.quantile(a) > h.quantile(b)+1e-12 {
			t.Fatalf("q%v = %v, q%v = %v", a, h.quantile(a), b, h.quantile(b))
		}
	})
}

func TestQuantileOfNothing(t *testing.T) {
	var h histogram
	if got := h.quantile(0.95); got != 0 {
		t.Errorf("got %v", got)
	}
	h.add(0)
	if got := h.quantile(0.95); got != 0 {
		t.Errorf("below the lowest bucket: got %v", got)
	}
}

// Order does not matter, to the bit.
func TestHistogramIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.IntRange(0, bucketCount-1), 0, 300).Draw(t, "in")
		shuffled := rapid.Permutation(in).Draw(t, "shuffled")
		var a, b histogram
		for i := range in {
			a.add(in[i])
			b.add(shuffled[i])
		}
		if a != b {
			t.Fatal("two orders, two histograms")
		}
	})
}

func TestFullBucketHalves(t *testing.T) {
	var h histogram
	for range countMax {
		h.add(10)
	}
	for range 1000 {
		h.add(20)
	}
	p := h.quantile(0.5)
	h.add(10)
	if h.counts[10] != countMax/2+1 || h.counts[20] != 500 {
		t.Errorf("counts %d and %d", h.counts[10], h.counts[20])
	}
	if h.n != countMax/2+1+500 {
		t.Errorf("n = %d", h.n)
	}
	near(t, "median after halving", h.quantile(0.5), p, 0.001)
	if h.n < maxVoteSamples {
		t.Error("halving may take a vote away")
	}
}
