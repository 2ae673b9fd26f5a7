package lab

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// coldStart is the closed formula of a transfer (request to last byte) for n
// bytes at a rate and a round trip, from a first window, and how many rounds of
// it wait for an acknowledgement.
func coldStart(n, window float64, rate BitRate, rtt time.Duration) (took time.Duration, waits float64) {
	s, r := 8/float64(rate), rtt.Seconds()
	k := max(1, math.Ceil(math.Log2(n/window+1)))
	q := max(0, math.Ceil(math.Log2(r/(s*window))))
	p := min(q, k-1)
	return time.Duration((r + p*r - s*window*(math.Exp2(p)-1) + s*n) * float64(time.Second)), p
}

// grid calls f for every way and size that the formula is held to.
func grid(f func(rtt time.Duration, rate BitRate, n int)) {
	for _, millis := range []int{5, 12, 20, 69, 150, 268} {
		for _, rate := range []BitRate{1, 10, 50, 100, 500, 1000} {
			for _, n := range []int{16e3, 64e3, 256e3, 1e6, 4e6, 12e6} {
				f(time.Duration(millis)*time.Millisecond, rate*Mbit, n)
			}
		}
	}
}

// TestGridSegments: with segments of Ethernet's size and through a Conn, the
// link is the formula and one segment's time for each round that waits: the
// first acknowledgement comes when the first segment is in whole, and the first
// window holds no part of a segment.
func TestGridSegments(t *testing.T) {
	beyond := 0
	grid(func(rtt time.Duration, rate BitRate, n int) {
		synctest.Test(t, func(t *testing.T) {
			a, b := Pair(Link{Rate: rate, OneWay: rtt / 2, SlowStart: true})
			_, got := fetch(t, a, b, n)
			flow, waits := coldStart(float64(n), DefaultInitialWindow, rate, rtt)
			segments := time.Duration(waits * float64(rate.Time(DefaultMSS)))
			within(t, "last byte", got, flow+segments, 0.02)
			if got > flow*102/100 {
				beyond++
				t.Logf("%v, %.0f Mbit/s, %d B: %v, formula %v (%+.1f %%), of which segments %v",
					rtt, rate/Mbit, n, got, flow, 100*(got.Seconds()/flow.Seconds()-1), segments)
			}
		})
	})
	t.Logf("%d of 216 beyond 2 %% of the formula alone", beyond)
}
