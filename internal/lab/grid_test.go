package lab

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-mux/assay/internal/lab/closedform"
)

// TestGridSegments: with segments of Ethernet's size and through a Conn, the
// link is the formula and one segment's time for each round that waits: the
// first acknowledgement comes when the first segment is in whole, and the first
// window holds no part of a segment.
func TestGridSegments(t *testing.T) {
	beyond := 0
	closedform.Grid(func(rtt time.Duration, rate float64, n int) {
		synctest.Test(t, func(t *testing.T) {
			a, b := Pair(Link{Rate: BitRate(rate), OneWay: rtt / 2, SlowStart: true})
			_, got := fetch(t, a, b, n)
			flow, waits := closedform.Took(float64(n), DefaultInitialWindow, rate, rtt)
			segments := time.Duration(waits * float64(BitRate(rate).Time(DefaultMSS)))
			within(t, "last byte", got, flow+segments, 0.02)
			if got > flow*102/100 {
				beyond++
				t.Logf("%v, %.0f Mbit/s, %d B: %v, formula %v (%+.1f %%), of which segments %v",
					rtt, rate/1e6, n, got, flow, 100*(got.Seconds()/flow.Seconds()-1), segments)
			}
		})
	})
	t.Logf("%d of 216 beyond 2 %% of the formula alone", beyond)
}
