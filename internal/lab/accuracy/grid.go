package accuracy

import (
	"fmt"
	"math"
	"time"

	"github.com/assay-mux/assay/internal/lab"
)

// Way is a path between two nodes.
type Way struct {
	RTT  time.Duration
	Rate lab.BitRate
}

// initialWindow is that of the link and of the prediction (RFC 6928), in bytes.
const initialWindow = lab.DefaultInitialWindow

// longest is the largest fetch of the grid, in bytes, and the one the estimates
// come from.
const longest = 12_000_000

// Grid returns the paths: from one data centre to a geostationary satellite, and
// from a mobile phone at the edge of its cell to a server.
func Grid() []Way {
	var ways []Way
	for _, rtt := range []float64{5, 20, 69, 150, 268} {
		for _, rate := range []lab.BitRate{1, 10, 100, 1000} {
			ways = append(ways, Way{time.Duration(rtt * float64(time.Millisecond)), rate * lab.Mbit})
		}
	}
	return ways
}

// Sizes returns the sizes of the data, in bytes: a header, a small and a large
// block, and the longest.
func Sizes() []int64 { return []int64{16_000, 64_000, 512_000, 4_000_000, longest} }

// Link is the simulated link of a way: without loss, with slow start and its
// restart after idleness.
func (w Way) Link() lab.Link {
	return lab.Link{Rate: w.Rate, OneWay: w.RTT / 2, SlowStart: true, IdleRestart: true}
}

// Ramp is how many bytes a cold slow start carries before its window covers the
// path.
func (w Way) Ramp() int64 {
	rounds := math.Ceil(math.Log2(max(1, w.Rate.Bytes(w.RTT)/initialWindow)))
	return int64(initialWindow * (math.Exp2(rounds) - 1))
}

func (w Way) String() string {
	return fmt.Sprintf("%v, %.0f Mbit/s", w.RTT, float64(w.Rate/lab.Mbit))
}
