package accuracy

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/bubble"
)

func TestQuick(t *testing.T) {
	for _, w := range Grid() {
		t0 := time.Now()
		var r Run
		bubble.Run(t, func(t *testing.T) {
			var err error
			if r, err = Measure(w, Sizes()); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%v: ramp %d base %v p95 %v rate %.2f of %.0f bound %.2f Mbit coverage %d; %v real", w, w.Ramp(), r.Reading.BaseRTT, r.Reading.P95RTT,
			8/float64(r.Reading.Estimation.Rate)/1e6, w.Rate/1e6, 8/float64(r.Reading.Estimation.UpperBound)/1e6, r.Reading.Estimation.Coverage, time.Since(t0).Round(time.Millisecond))
		for _, f := range r.Fetches {
			t.Logf("    %-5v %8d actual %12v own %+6.1f%% true %+6.1f%%", f.State, f.Bytes, f.Actual.Round(10*time.Microsecond), 100*(float64(f.Own)/float64(f.Actual)-1), 100*(float64(f.True)/float64(f.Actual)-1))
		}
	}
}
