package audit

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFreeRates(t *testing.T) {
	c := DefaultConfig()
	for _, tt := range []struct {
		name   string
		chart  Chart
		free   float64
		inARow int
	}{
		{"withholding", c.Withholding, 0.0397, 8},
		{"critical", c.Critical, 0.1105, 3},
		{"overclaims", c.Overclaims, 0.4197, 8},
		{"slow to start", c.SlowToStart, 0.4197, 8},
		{"path", c.Path, 0.1105, 3},
	} {
		near(t, tt.name, tt.chart.FreeRate(), tt.free, 0.0005)
		if got := tt.chart.InARow(); got != tt.inARow {
			t.Errorf("%s: %d in a row convict, want %d", tt.name, got, tt.inARow)
		}
	}
}

func TestInARowConvicts(t *testing.T) {
	for _, c := range DefaultConfig().allCharts() {
		var s ChartState
		for i := 1; i <= c.InARow(); i++ {
			s.move(c.ready(), hit, figures{})
			if s.Stands != (i == c.InARow()) {
				t.Errorf("%+v: after %d hits in a row the verdict stands: %t", c, i, s.Stands)
			}
		}
	}
}

// allCharts lists the charts, for tests.
func (c Config) allCharts() []Chart {
	a := c.charts()
	return a[:]
}

// The free rate is where the sum does not drift, and each side of it is on its side.
func TestFreeRateIsTheDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		honest := rapid.Float64Range(0.001, 0.5).Draw(t, "honest")
		guilty := rapid.Float64Range(honest*1.1, 0.99).Draw(t, "guilty")
		c := Chart{honest, guilty, 10}
		up, down := c.steps()
		f := c.FreeRate()
		if !(f > honest && f < guilty) {
			t.Fatalf("free rate %v outside of (%v, %v)", f, honest, guilty)
		}
		if drift := f*up - (1-f)*down; math.Abs(drift) > 1e-9 {
			t.Fatalf("drift %v at the free rate", drift)
		}
	})
}

// The chart agrees with a sum over the whole history, recomputed from the definition.
func TestChartAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Chart{0.05, 0.4, 6}
		st := c.ready()
		var s ChartState
		var sum float64
		var stands bool
		var run, hits uint32
		for _, what := range rapid.SliceOfN(rapid.SampledFrom([]sign{silent, miss, hit, hit}), 0, 200).Draw(t, "signs") {
			s.move(st, what, figures{})
			switch what {
			case hit:
				sum, run, hits = math.Min(sum+math.Log(8), 6), run+1, hits+1
				stands = stands || sum >= 6
			case miss:
				if sum > 0 {
					run++
				}
				if sum -= math.Log(0.95 / 0.6); sum <= 0 {
					sum, stands, run, hits = 0, false, 0, 0
				}
			case silent:
			}
			if math.Abs(s.Sum-sum) > 1e-9 || s.Stands != stands || s.Run != run || s.Hits != hits {
				t.Fatalf("got %+v, want sum %v stands %t, %d of %d", s, sum, stands, hits, run)
			}
			if !s.valid() {
				t.Fatalf("%+v is not valid", s)
			}
		}
	})
}

func TestVerdictIsLiftedAtZeroOnly(t *testing.T) {
	c := DefaultConfig().Overclaims
	st := c.ready()
	var s ChartState
	for range 20 {
		s.move(st, hit, figures{})
	}
	_, down := c.steps()
	need := int(math.Ceil(c.Limit / down))
	for i := 1; i <= need; i++ {
		if !s.Stands {
			t.Fatalf("lifted after %d misses, want %d", i-1, need)
		}
		s.move(st, miss, figures{})
	}
	if s != (ChartState{}) {
		t.Errorf("after %d misses %+v is left", need, s)
	}
}

func TestSilenceMovesNothing(t *testing.T) {
	st := DefaultConfig().Critical.ready()
	var s ChartState
	s.move(st, hit, figures{actual: time.Second, claim: time.Millisecond, limit: 3})
	before := s
	for range 1000 {
		s.move(st, silent, figures{actual: time.Hour})
	}
	if s != before {
		t.Errorf("%+v became %+v", before, s)
	}
}

func TestChartRemembersTheNewestHit(t *testing.T) {
	st := DefaultConfig().Withholding.ready()
	var s ChartState
	s.move(st, hit, figures{time.Second, time.Millisecond, 3.2})
	s.move(st, hit, figures{2 * time.Second, 3 * time.Millisecond, 3.8})
	s.move(st, miss, figures{time.Hour, time.Hour, 9})
	want := ChartState{Sum: s.Sum, Hits: 2, Run: 3, Actual: 2 * time.Second, Claim: 3 * time.Millisecond, Threshold: 3.8}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

// An honest peer at the chart's honest rate hardly ever meets a verdict, a guilty one always does.
func TestChartTellsTheRatesApart(t *testing.T) {
	for name, c := range map[string]Chart{
		"withholding": DefaultConfig().Withholding,
		"overclaims":  DefaultConfig().Overclaims,
	} {
		if n := onsets(c, c.Honest, 200_000); n != 0 {
			t.Errorf("%s: %d verdicts at the honest rate", name, n)
		}
		if n := onsets(c, c.Guilty, 5000); n == 0 {
			t.Errorf("%s: no verdict at the guilty rate", name)
		}
	}
}

// onsets counts verdicts over n fetches with hits at a rate, from a low-discrepancy sequence.
func onsets(c Chart, rate float64, n int) (count int) {
	st := c.ready()
	var s ChartState
	for i := range n {
		what := miss
		if math.Mod(float64(i)*math.Phi, 1) < rate {
			what = hit
		}
		was := s.Stands
		if s.move(st, what, figures{}); s.Stands && !was {
			count++
		}
	}
	return count
}
