package lab

import (
	"math"
	"testing"
	"time"
)

// shaperOf begins a direction, given the delay of the way back.
func shaperOf(l Link, back time.Duration) shaper {
	l = l.normal(back)
	return newShaper(l, l.course(0), Link{OneWay: back}.course(0), 1)
}

// TestWindowAfterTransfer: the window that a cold transfer leaves is what Linux
// 6.18 reports after the same (Reno, 69 ms, 100 Mbit/s, in segments of 1448 B):
// the first window and all that was acknowledged, the last flight too.
func TestWindowAfterTransfer(t *testing.T) {
	const oneWay = 34500 * time.Microsecond
	for _, tt := range []struct{ bytes, segments int }{
		{16_000, 22}, {64_000, 55}, {512_000, 364},
	} {
		s := shaperOf(Link{Rate: 100 * Mbit, OneWay: oneWay, SlowStart: true}, oneWay)
		var last time.Duration
		for left := tt.bytes; left > 0; left -= DefaultMSS {
			last = s.send(0, min(left, DefaultMSS)).at
		}
		s.ready(last+2*oneWay, 1)
		if got := float64(s.cwnd) / DefaultMSS; math.Abs(got-float64(tt.segments)) > 1 {
			t.Errorf("after %d bytes: window of %.1f segments, want %d", tt.bytes, got, tt.segments)
		}
	}
}

// TestWindowGrowsToTwiceItsUse: a sender that uses a part of its window, again
// and again, gets twice that part at most.
func TestWindowGrowsToTwiceItsUse(t *testing.T) {
	s := shaperOf(Link{OneWay: 10 * time.Millisecond, SlowStart: true}, 10*time.Millisecond)
	var now time.Duration
	for range 100 {
		for range 30 {
			s.send(now, DefaultMSS)
		}
		now += 100 * time.Millisecond
	}
	if got := s.cwnd; got < 30*DefaultMSS || got > 61*DefaultMSS {
		t.Errorf("window %d after flights of %d", got, 30*DefaultMSS)
	}
}
