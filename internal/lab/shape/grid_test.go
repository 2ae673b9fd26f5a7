package shape

import (
	"math"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/closedform"
)

// transfer is what n bytes take over a shaper when a request for them leaves at
// an instant, from there to the last byte.
func transfer(s *Shaper, at time.Duration, n int) time.Duration {
	last := at
	for left := n; left > 0; left -= s.config.MSS {
		last = s.Send(at+s.back.Delay(at), min(left, s.config.MSS)).At
	}
	return last - at
}

// fine is a link of segments so small that it is what the formula takes it for:
// a flow, and not steps.
func fine(rate BitRate, rtt time.Duration) direction {
	return direction{Rate: rate, OneWay: rtt / 2, SlowStart: true, IdleRestart: true, MSS: 100}
}

// windowLeft is the window once all is acknowledged, of a copy.
func windowLeft(s Shaper, rtt time.Duration) int {
	s.Ready(s.free+rtt, 0)
	return s.cwnd
}

// TestGridFine: the model is the closed formula, cold and warm, within 2 % all
// over the grid. Warm starts from the window that the first transfer left, and
// from a half and a quarter of it after as many timeouts.
func TestGridFine(t *testing.T) {
	worst := 0.0
	check := func(what string, got time.Duration, n, window float64, rate float64, rtt time.Duration) {
		want, _ := closedform.Took(n, window, rate, rtt)
		off := got.Seconds()/want.Seconds() - 1
		worst = max(worst, math.Abs(off))
		if math.Abs(off) > 0.02 {
			t.Errorf("%s, %v, %.0f Mbit/s, %.0f B: %v, formula %v, off by %+.2f %%", what, rtt, rate/1e6, n, got, want, 100*off)
		}
	}
	closedform.Grid(func(rtt time.Duration, rate float64, n int) {
		s := shaperOf(fine(BitRate(rate), rtt), rtt/2)
		took := transfer(&s, 0, n)
		check("cold", took, float64(n), DefaultInitialWindow, rate, rtt)
		left := windowLeft(s, rtt)
		for halves := range 3 {
			// The last acknowledgement is in, and so many timeouts have passed.
			at := s.free + rtt + time.Millisecond + time.Duration(halves)*(minRTO+rtt)
			warm := shaperOf(fine(BitRate(rate), rtt), rtt/2)
			transfer(&warm, 0, n)
			took := transfer(&warm, at-rtt/2, n)
			window := max(DefaultInitialWindow, math.Floor(float64(left)/math.Exp2(float64(halves))))
			check("warm", took, float64(n), window, rate, rtt)
		}
	})
	t.Logf("at worst off by %.2f %%", 100*worst)
}
