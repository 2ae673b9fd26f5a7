package shape

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBucketKeepsItsLimits: between any two instants leaves no more than the
// peak allows, nor than the bucket's depth and what the rate adds; and a line that is
// never idle loses nothing of its rate.
func TestBucketKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := direction{
			Rate:  BitRate(rapid.SampledFrom([]float64{8e5, 8e6}).Draw(rt, "rate")),
			Burst: rapid.IntRange(1, 100_000).Draw(rt, "burst"),
			Peak:  BitRate(rapid.SampledFrom([]float64{0, 8e6, 8e7}).Draw(rt, "peak")),
		}
		s := NewLine(l.course(), l.Burst, l.Peak)
		type sent struct {
			end time.Duration
			n   int
		}
		var now time.Duration
		var log []sent
		for range rapid.IntRange(1, 60).Draw(rt, "segments") {
			now += time.Duration(rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(rt, "pause")) * time.Millisecond
			n := rapid.IntRange(1, 1448).Draw(rt, "size")
			log = append(log, sent{s.Send(now, n), n})
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
	l := direction{Rate: 8 * Mbit, Burst: 1e6, Changes: []Change{{At: time.Second, Rate: 800 * Kbit}}}
	s := NewLine(l.course(), l.Burst, l.Peak)
	if got := s.Send(0, 1e6); got != 0 {
		t.Errorf("the burst took until %v", got)
	}
	// By 2 s it has half a second at 8 Mbit/s if emptied at 0.5 s, and one at 0.8.
	if got := s.Send(500*time.Millisecond, 500_000); got != 500*time.Millisecond {
		t.Errorf("what had come back took until %v", got)
	}
	if got, want := s.Send(2*time.Second, 700_000), 3*time.Second; got != want {
		t.Errorf("600 kB and 100 kB at the lower rate took until %v, want %v", got, want)
	}
}
