package burst_test

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/burst"
)

// queue stands for the connection's cookie queue.
type queue struct{}

func (queue) NewestEchoed() (time.Duration, bool) { return 0, false }

// A peer that sends 50 kB at 100 Mbit/s and then sleeps for a bit longer than the horizon would look
// like 100 Mbit/s if silence closed its bursts for good. Within a declared fetch it reads what it
// delivers.
func Example() {
	window := burst.NewWindow(burst.DefaultConfig(), queue{})
	window.SetPath(burst.Path{BaseRTT: 20 * time.Millisecond, Confirmed: true})
	estimate := burst.NewEstimate(burst.DefaultHalfLife)

	now := time.Duration(0)
	fold := func(s burst.Sample, closed bool) {
		if closed {
			estimate.Fold(s, now)
		}
	}

	fetch, s, closed := window.Begin(now)
	fold(s, closed)
	window.Asked(now) // the request goes out
	now += 20 * time.Millisecond
	for range 100 {
		for range 5 {
			now += 800 * time.Microsecond
			fold(window.Arrive(burst.Arrival{At: now, Bytes: 10_000}))
		}
		now += 1050 * time.Millisecond
	}
	fold(window.End(now, fetch, 0, true))

	r := estimate.Reading(now)
	fmt.Printf("%.2f Mbit/s\n", r.Rate.BytesPerSecond()*8/1e6)
	fmt.Printf("trust for 12 MB: %.3f\n", r.Trust(12e6))
	// Output:
	// 0.38 Mbit/s
	// trust for 12 MB: 0.003
}

// A fetch of 1 MB that is served promptly over 10 Mbit/s.
func ExampleWindow() {
	window := burst.NewWindow(burst.DefaultConfig(), queue{})
	fetch, _, _ := window.Begin(0)
	now := 5 * time.Millisecond
	for range 100 {
		window.Arrive(burst.Arrival{At: now, Bytes: 10_000})
		now += 8 * time.Millisecond
	}
	s, _ := window.End(now, fetch, 0, true)
	fmt.Printf("%s: %d bytes at %.0f kB/s, %d covered\n", s.Reason, s.Bytes, s.Rate.BytesPerSecond()/1e3, s.Covered)
	// Output: fetch_end: 1000000 bytes at 1250 kB/s, 990000 covered
}
