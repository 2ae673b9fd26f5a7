package lab_test

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
)

// moved fetches so many bytes in fetches of 12 MB over the shim and yamux, and
// says how many megabytes that is in a second of the clock it runs by.
func moved(t testing.TB, link lab.Link, fetches int) float64 {
	a, b := lab.Pair(link)
	s := wrapped(t, a, wide)
	peer := honest(t, b, true)
	st := openStream(t, s)
	start := time.Now()
	for range fetches {
		fetchOn(t, s, st, 12*megabyte, true)
	}
	took := time.Since(start)
	st.Close()
	s.Close()
	peer.Close()
	return float64(fetches) * 12 / took.Seconds()
}

// TestSimulatedSpeed says how much the lab simulates in a second of real time, which
// no test can hold to anything on a machine that does other things: the floor is
// there to tell a link that is slow from one that is broken.
func TestSimulatedSpeed(t *testing.T) {
	plain := lab.Link{Rate: lab.Gbit, OneWay: 10 * time.Millisecond, SlowStart: true}
	random, shared := plain, plain // the bottleneck is made in its bubble
	random.Jitter, random.Loss = time.Millisecond, lab.Loss{Rate: 1e-5}
	for _, tt := range []struct {
		name string
		link lab.Link
	}{{"plain", plain}, {"random", random}, {"shared", shared}} {
		var speed float64
		start := time.Now()
		bubble.Run(t, func(t *testing.T) {
			if tt.name == "shared" {
				tt.link.Bottleneck = lab.NewBottleneck(lab.Gbit)
			}
			speed = moved(t, tt.link, 8)
			time.Sleep(time.Second)
		})
		took := time.Since(start)
		mb := 96 / took.Seconds()
		t.Logf("%s: %.0f MB/s simulated, at %.0f MB/s of virtual time", tt.name, mb, speed)
		if mb < 5 {
			t.Errorf("%s: %.1f MB/s", tt.name, mb)
		}
	}
}

// BenchmarkSession is the same in real time where nothing waits.
func BenchmarkSession(b *testing.B) {
	b.SetBytes(12 * megabyte)
	moved(b, lab.Link{}, b.N)
}
