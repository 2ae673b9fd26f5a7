package lab

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestBucketGivesItsBurst: so many bytes at the peak, and what the bucket gets
// meanwhile; all beyond at the rate; after a pause what has come back.
func TestBucketGivesItsBurst(t *testing.T) {
	const burst = 1e6
	tests := []struct {
		name  string
		peak  BitRate
		n     int
		first time.Duration // the transfer from a full bucket
		pause time.Duration // after it
		again time.Duration // the transfer after the pause
	}{
		// The rate is 8 Mbit/s, a byte a microsecond.
		{"less than the burst, at once", 0, 1e6, 0, 2 * time.Second, 0},
		{"one and a half, at once", 0, 1.5e6, 500 * time.Millisecond, 0, 1500 * time.Millisecond},
		{"half refilled", 0, 1e6, 0, 500 * time.Millisecond, 500 * time.Millisecond},
		{"at a peak of ten times", 80 * Mbit, 1e6, 100 * time.Millisecond, time.Hour, 100 * time.Millisecond},
		// With a peak of P the burst lasts for burst x P/(P-R) bytes.
		{"until the bucket is empty", 80 * Mbit, 1.111e6, 111100 * time.Microsecond, time.Hour, 111100 * time.Microsecond},
		{"beyond it", 80 * Mbit, 3e6, 2 * time.Second, 0, 3 * time.Second},
		{"peak below the rate", 4 * Mbit, 1e6, 2 * time.Second, 0, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := Pair(Link{Rate: 8 * Mbit, Burst: burst, Peak: tt.peak})
				defer a.Close()
				start := time.Now()
				go a.Write(make([]byte, tt.n))
				io.ReadFull(b, make([]byte, tt.n))
				wantAt(t, "transfer", start, tt.first)
				time.Sleep(tt.pause)
				start = time.Now()
				go a.Write(make([]byte, tt.n))
				io.ReadFull(b, make([]byte, tt.n))
				if got := time.Since(start); (got - tt.again).Abs() > 3*time.Microsecond {
					t.Errorf("after %v, another took %v, want %v", tt.pause, got, tt.again)
				}
			})
		})
	}
}

// TestBucketKeepsItsLimits: between any two instants leaves no more than the
// peak allows, nor than the bucket's depth and what the rate adds; and a line that is
// never idle loses nothing of its rate.
func TestBucketKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := Link{
			Rate:  BitRate(rapid.SampledFrom([]float64{8e5, 8e6}).Draw(rt, "rate")),
			Burst: rapid.IntRange(1, 100_000).Draw(rt, "burst"),
			Peak:  BitRate(rapid.SampledFrom([]float64{0, 8e6, 8e7}).Draw(rt, "peak")),
		}.normal(0)
		s := newLine(l, l.course(0))
		type sent struct {
			end time.Duration
			n   int
		}
		var now time.Duration
		var log []sent
		for range rapid.IntRange(1, 60).Draw(rt, "segments") {
			now += time.Duration(rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(rt, "pause")) * time.Millisecond
			n := rapid.IntRange(1, 1448).Draw(rt, "size")
			log = append(log, sent{s.send(now, n), n})
		}
		const slack = 1 // of a byte for each segment, for rounding
		for i := range log {
			bytes := 0.0
			for j := i + 1; j < len(log); j++ {
				bytes += float64(log[j].n)
				took := log[j].end - log[i].end
				if most := float64(l.Burst) + l.Rate.Bytes(took) + slack*float64(j-i); bytes > most {
					rt.Fatalf("%.0f bytes in %v, the bucket has %.0f", bytes, took, most)
				}
				if most := l.Peak.Bytes(took) + slack*float64(j-i); l.Peak > 0 && bytes > most {
					rt.Fatalf("%.0f bytes in %v, the peak allows %.0f", bytes, took, most)
				}
			}
		}
		if s.tokens < -1 || s.tokens > s.burst {
			rt.Fatalf("%v tokens in a bucket of %v", s.tokens, s.burst)
		}
	})
}

// TestBucketOverChanges: the bucket fills at the rate of each step.
func TestBucketOverChanges(t *testing.T) {
	l := Link{Rate: 8 * Mbit, Burst: 1e6, Changes: []Change{{At: time.Second, Rate: 800 * Kbit}}}
	s := newLine(l, l.course(0))
	if got := s.send(0, 1e6); got != 0 {
		t.Errorf("the burst took until %v", got)
	}
	// By 2 s it has half a second at 8 Mbit/s if emptied at 0.5 s, and one at 0.8.
	if got := s.send(500*time.Millisecond, 500_000); got != 500*time.Millisecond {
		t.Errorf("what had come back took until %v", got)
	}
	if got, want := s.send(2*time.Second, 700_000), 3*time.Second; got != want {
		t.Errorf("600 kB and 100 kB at the lower rate took until %v, want %v", got, want)
	}
}
