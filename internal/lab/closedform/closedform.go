// Package closedform is what the lab's links are held to: the closed formula of a
// transfer in slow start, and the grid of paths and sizes that it is held to over.
//
// It stands apart from the link and from ranking.Predict, so that no two of the
// three can be wrong together.
//
// Source: N. Cardwell, S. Savage, T. Anderson, "Modeling TCP Latency", INFOCOM
// 2000.
package closedform

import (
	"math"
	"time"
)

// Took is the time of a transfer, request to last byte, of n bytes at a rate in
// bits per second and a round trip, from a first window in bytes. waits is how many
// rounds of it wait for an acknowledgement.
func Took(n, window, rate float64, rtt time.Duration) (took time.Duration, waits float64) {
	s, r := 8/rate, rtt.Seconds()
	k := max(1, math.Ceil(math.Log2(n/window+1)))
	q := max(0, math.Ceil(math.Log2(r/(s*window))))
	waits = min(q, k-1)
	return time.Duration((r + waits*r - s*window*(math.Exp2(waits)-1) + s*n) * float64(time.Second)), waits
}

// Grid calls f for every round trip, rate in bits per second and size in bytes.
func Grid(f func(rtt time.Duration, rate float64, n int)) {
	for _, millis := range []int{5, 12, 20, 69, 150, 268} {
		for _, mbit := range []float64{1, 10, 50, 100, 500, 1000} {
			for _, n := range []int{16e3, 64e3, 256e3, 1e6, 4e6, 12e6} {
				f(time.Duration(millis)*time.Millisecond, mbit*1e6, n)
			}
		}
	}
}
