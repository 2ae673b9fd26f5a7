package burst

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// at returns a sample of so many bytes at a rate, all covered.
func sampled(bytes int64, speed float64) Sample {
	s := Sample{Bytes: bytes, Counted: bytes, Covered: bytes, Time: time.Duration(float64(bytes) / speed * 1e9)}
	s.Rate = perByte(s.Time, bytes)
	return s
}

func TestEstimateAgesByHalves(t *testing.T) {
	e := NewEstimate(time.Hour)
	e.Fold(sampled(1e6, 1e6), 0)
	e.Fold(sampled(1e6, 4e6), 2*time.Hour) // the first weighs a quarter
	r := e.Reading(2 * time.Hour)
	within(t, "rate", float64(r.Rate), (0.25*1+0.25)/1.25/1e6, 1e-9)
	if later := e.Reading(5 * time.Hour); later.Rate != r.Rate || later.Coverage != r.Coverage {
		t.Error("age alone changed the reading")
	}
	if r.Bursts != 2 {
		t.Errorf("%d bursts", r.Bursts)
	}
	if gone := e.Reading(40 * time.Hour); gone.Rate != 0 || gone.Coverage != 0 {
		t.Errorf("evidence of less than a byte is left: %+v", gone)
	}
}

func TestCoverageIsTheLengthOfABurst(t *testing.T) {
	pacer, honest := NewEstimate(0), NewEstimate(0)
	for range 240 {
		pacer.Fold(sampled(50e3, 1e7), 0)
	}
	honest.Fold(sampled(12e6, 1e7), 0)
	p, h := pacer.Reading(0), honest.Reading(0)
	if p.Coverage != 50e3 || h.Coverage != 12e6 {
		t.Fatalf("coverage %d and %d", p.Coverage, h.Coverage)
	}
	within(t, "the pacer's trust", p.Trust(12e6), 50.0/12050, 1e-9)
	within(t, "the honest", h.Trust(12e6), 0.5, 1e-9)
	within(t, "for nothing", h.Trust(-1), 1, 1e-9)
	if (Estimation{}).Trust(0) != 0 || (Estimation{}).Trust(100) != 0 {
		t.Error("trust without coverage")
	}
}

func TestCoverageOfMixedAges(t *testing.T) {
	e := NewEstimate(time.Hour)
	e.Fold(sampled(8e6, 1e7), 0)
	e.Fold(sampled(1e6, 1e7), time.Hour)
	within(t, "coverage", float64(e.Reading(time.Hour).Coverage), (0.5*64+1)/(0.5*8+1)*1e6, 1e-6)
}

func TestTimeWithoutBytesCounts(t *testing.T) {
	e := NewEstimate(0)
	e.Fold(Sample{Time: 5 * time.Second}, 0)
	if r := e.Reading(0); r.Rate != 0 || r.StandardError != 0 {
		t.Errorf("a rate of nothing: %+v", r)
	}
	e.Fold(sampled(5e6, 1e6), 0)
	r := e.Reading(0)
	within(t, "rate", float64(r.Rate), 10/5e6, 1e-9)
	if r.StandardError < r.Rate/3 {
		t.Errorf("the silence is not in the error: %v of %v", r.StandardError, r.Rate)
	}
}

func TestBoundIsKeptApartAndLoosens(t *testing.T) {
	e := NewEstimate(time.Hour)
	bound := func(speed float64) Sample {
		s := sampled(1e5, speed)
		s.UpperBound = true
		return s
	}
	e.Fold(bound(1e6), 0)
	e.Fold(bound(5e5), 0)
	r := e.Reading(0)
	if r.Rate != 0 || r.Bursts != 0 || r.UpperBound != bound(1e6).Rate {
		t.Errorf("%+v", r)
	}
	within(t, "aged", float64(e.Reading(time.Hour).UpperBound), 2/1e6, 1e-9)
	e.Fold(bound(6e5), time.Hour)
	within(t, "replaced", float64(e.Reading(time.Hour).UpperBound), 1/6e5, 1e-6)
	e.Fold(Sample{UpperBound: true}, time.Hour)
	if e.Reading(time.Hour).UpperBound == 0 {
		t.Error("a bound of nothing replaced one")
	}
	if e.Reading(time.Hour).Coverage == 0 {
		t.Error("a prompt burst earns coverage though it is only a bound")
	}
}

func TestEstimateError(t *testing.T) {
	e := NewEstimate(0)
	s := sampled(1e6, 1e6)
	s.StandardError = 1e-7
	e.Fold(s, 0)
	within(t, "one", float64(e.Reading(0).StandardError), 1e-7, 1e-6)
	for range 3 {
		e.Fold(s, 0)
	}
	within(t, "four alike", float64(e.Reading(0).StandardError), 1e-7/2, 1e-6)
	// Aged by a half-life: weights 1/2 and 1, so (1/4 + 1)/(9/4) of the variance.
	e = NewEstimate(time.Hour)
	e.Fold(s, 0)
	e.Fold(s, time.Hour)
	within(t, "aged", float64(e.Reading(time.Hour).StandardError), 1e-7*math.Sqrt(1.25/2.25), 1e-6)
	// Times of 1 and 3 s at those weights where 7/3 s is common: a deviation of sqrt(8/9) s in all.
	e = NewEstimate(time.Hour)
	e.Fold(sampled(1e6, 1e6), 0)
	e.Fold(sampled(1e6, 1e6/3.0), time.Hour)
	within(t, "aged and differing", float64(e.Reading(time.Hour).StandardError), math.Sqrt(8.0/9)/1.5e6, 1e-5)
	// Two at S and two at 3S: variance S^2 about 2S, over four equal weights a quarter of it.
	e = NewEstimate(0)
	for i := range 4 {
		e.Fold(sampled(1e6, 1e6/float64(1+i%2*2)), 0)
	}
	within(t, "differing", float64(e.Reading(0).StandardError), 1e-6/2, 1e-6)
}

// A crumb that took a moment too long moves the error by that moment, not by how far its rate is
// from the common one.
func TestEstimateErrorOfACrumb(t *testing.T) {
	e := NewEstimate(0)
	for range 4 {
		e.Fold(sampled(12e6, 6.25e6), 0)
	}
	e.Fold(Sample{Counted: 172, Time: 57 * time.Millisecond, Rate: perByte(57*time.Millisecond, 172)}, 0)
	r := e.Reading(0)
	within(t, "error", float64(r.StandardError), 0.0637/48e6, 0.01) // 57 ms, and a quarter of that from each whole one
	within(t, "rate", float64(r.Rate), 1/6.25e6, 0.01)
}

func TestEstimateClockNeverGoesBack(t *testing.T) {
	e := NewEstimate(time.Hour)
	e.Fold(sampled(1e6, 1e6), 10*time.Hour)
	e.Fold(sampled(1e6, 1e6), 0)
	within(t, "rate", float64(e.Reading(0).Rate), 1e-6, 1e-9)
	if got := NewEstimate(-1).halfLife; got != DefaultHalfLife {
		t.Errorf("half-life %v", got)
	}
}

// Folding equals a weighted sum over all samples, each decayed from its own instant.
func TestEstimateIsTheWeightedSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		half := time.Duration(rapid.Int64Range(int64(time.Minute), int64(4*time.Hour)).Draw(t, "half"))
		e := NewEstimate(half)
		type folded struct {
			s  Sample
			at time.Duration
		}
		var all []folded
		at := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "from"))
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			s := sampled(int64(rapid.IntRange(1e4, 1e7).Draw(t, "bytes")), rapid.Float64Range(1e4, 1e9).Draw(t, "speed"))
			s.Covered = rapid.Int64Range(0, s.Bytes).Draw(t, "covered")
			e.Fold(s, at)
			all = append(all, folded{s, at})
			at += time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "later"))
		}
		var seconds, bytes, b1, b2 float64
		for _, f := range all {
			wgt := math.Exp2(-float64(at-f.at) / float64(half))
			seconds += wgt * f.s.Time.Seconds()
			bytes += wgt * float64(f.s.Counted)
			b1 += wgt * float64(f.s.Covered)
			b2 += wgt * float64(f.s.Covered) * float64(f.s.Covered)
		}
		r := e.Reading(at)
		if b1 >= 1 && math.Abs(float64(r.Coverage)-b2/b1) > 1+1e-9*b2/b1 {
			t.Fatalf("coverage %d, want %v", r.Coverage, b2/b1)
		}
		if bytes > 1 && math.Abs(float64(r.Rate)*bytes/seconds-1) > 1e-9 {
			t.Fatalf("rate %v, want %v", r.Rate, seconds/bytes)
		}
	})
}

func TestBytesPerSecond(t *testing.T) {
	if SecondsPerByte(0).BytesPerSecond() != 0 || SecondsPerByte(-1).BytesPerSecond() != 0 {
		t.Error("unknown must read as zero")
	}
	within(t, "inverse", SecondsPerByte(8e-8).BytesPerSecond(), 12.5e6, 1e-12)
}
