package closedform

import (
	"testing"
	"time"
)

// TestTook: by hand, for a window of 14,600 bytes.
func TestTook(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		n, rate float64
		rtt     time.Duration
		want    time.Duration
		waits   float64
	}{
		// One window is all there is: a round trip and the bytes' own time.
		{10_000, 8e6, 100 * ms, 110 * ms, 0},
		// The first window covers the path: no round waits, however much follows.
		{1e6, 8e6, 10 * ms, 1010 * ms, 0},
		// Three windows, and the first two wait: 14.6 and 29.2 ms of 100 are used.
		{100_000, 8e6, 100 * ms, 100*ms + 200*ms - 43800*time.Microsecond + 100*ms, 2},
	} {
		got, waits := Took(tt.n, 14_600, tt.rate, tt.rtt)
		if d := got - tt.want; d < -time.Microsecond || d > time.Microsecond || waits != tt.waits {
			t.Errorf("%.0f B, %.0f bit/s, %v: %v with %v waits, want %v with %v", tt.n, tt.rate, tt.rtt, got, waits, tt.want, tt.waits)
		}
	}
}

func TestGrid(t *testing.T) {
	n := 0
	Grid(func(time.Duration, float64, int) { n++ })
	if n != 216 {
		t.Errorf("%d ways and sizes", n)
	}
}
