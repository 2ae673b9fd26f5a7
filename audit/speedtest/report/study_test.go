package report

import (
	"math"
	"os"
	"testing"
)

// studyFile is the published result of the study [2], where it is at hand. It has no licence, so that
// it is not part of this repository.
const studyFile = "../../../../shared/data/pam2021-speedtest.csv"

// The figures of the study come out of its own data.
func TestStudy(t *testing.T) {
	f, err := os.Open(studyFile)
	if err != nil {
		t.Skipf("SKIPPED: the study's data is not at hand, nothing was compared with it: %v", err)
	}
	defer f.Close()
	doc, err := ReadCSV(f)
	if err != nil {
		t.Fatal(err)
	}

	a := Analyse(doc, Options{Resamples: 150, Seed: 1}) // with 1,000 the same, but slow under the race detector
	near := func(name string, got, want, tolerance float64) {
		t.Helper()
		t.Logf("%-40s %.4f", name, got)
		if !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s: %g, the study has %g", name, got, want)
		}
	}
	e := a.Errors[0]
	near("peers", float64(e.N), 4837, 0)
	near("before, Gbit/s", a.Change.Before*8e-9, 359.9, 0.05)
	near("after, Gbit/s", a.Change.After*8e-9, 550.1, 0.05)
	near("discovered", a.Change.Discovered, 0.528, 0.0005)
	near("network capacity error", e.NetworkCapacityError, 0.346, 0.0005)
	near("sum of absolute weight changes", a.Change.WeightChange, 0.177, 0.0005)
	// Absolute and relative, before and after. The signed ones are not in the study.
	for i, want := range map[int]float64{0: 0.193, 1: 0.165, 3: 0.484, 4: 0.486} {
		c := e.Correlations[i]
		near("Spearman of "+string(c.X)+" and "+string(c.Error), c.Spearman, want, 0.0005)
		t.Logf("  interval %.3f to %.3f, null %.3f to %.3f, p %.4f", c.Interval.Low, c.Interval.High, c.Null.Low, c.Null.High, c.P)
		near("  width of its interval", c.Interval.High-c.Interval.Low, 0.05, 0.02)
		if c.Spearman < c.Interval.Low || c.Spearman > c.Interval.High {
			t.Errorf("%+v is not within its interval", c)
		}
	}
	for i, want := range []struct{ cut, median, mean float64 }{{12.4, 0, 0.002}, {53.6, 0, 0.094}, {135, 0.009, 0.163}, {0, 0.325, 0.375}} {
		q := e.Quartiles[i]
		if want.cut > 0 {
			near("upper end of a quartile, Mbit/s", q.HighCapacity*8e-6, want.cut, 0.5)
		}
		near("  its median error", q.Summary.Median, want.median, 0.001)
		near("  its mean error", q.Summary.Mean, want.mean, 0.001)
	}
}
