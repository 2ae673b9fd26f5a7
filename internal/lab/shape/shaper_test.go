package shape

import (
	"cmp"
	"math"
	"testing"
	"time"
)

// What a link has where nothing else is said: Ethernet's segments, ten of which are
// the first window (RFC 6928).
const (
	DefaultMSS           = 1448
	DefaultInitialWindow = 14600
)

// direction is a link as people describe it.
type direction struct {
	Rate          BitRate
	OneWay        time.Duration
	Changes       []Change
	SlowStart     bool
	IdleRestart   bool
	InitialWindow int
	MSS           int
	Jitter        time.Duration
	Loss          Loss
	Burst         int
	Peak          BitRate
	Seed          uint64
}

func (d direction) course() Course { return NewCourse(d.Rate, d.OneWay, d.Changes, 0) }

// shaperOf begins a direction, given the delay of the way back.
func shaperOf(d direction, back time.Duration) Shaper {
	return New(Config{
		SlowStart: d.SlowStart, IdleRestart: d.IdleRestart,
		InitialWindow: cmp.Or(d.InitialWindow, DefaultInitialWindow), MSS: cmp.Or(d.MSS, DefaultMSS),
		Jitter: d.Jitter, Loss: d.Loss, Burst: d.Burst, Peak: d.Peak, Seed: d.Seed, Way: 1,
	}, d.course(), direction{OneWay: back}.course())
}

// TestWindowAfterTransfer: the window that a cold transfer leaves is what Linux
// 6.18 reports after the same (Reno, 69 ms, 100 Mbit/s, in segments of 1448 B):
// the first window and all that was acknowledged, the last flight too.
func TestWindowAfterTransfer(t *testing.T) {
	const oneWay = 34500 * time.Microsecond
	for _, tt := range []struct{ bytes, segments int }{
		{16_000, 22}, {64_000, 55}, {512_000, 364},
	} {
		s := shaperOf(direction{Rate: 100 * Mbit, OneWay: oneWay, SlowStart: true}, oneWay)
		var last time.Duration
		for left := tt.bytes; left > 0; left -= DefaultMSS {
			last = s.Send(0, min(left, DefaultMSS)).At
		}
		s.Ready(last+2*oneWay, 1)
		if got := float64(s.cwnd) / DefaultMSS; math.Abs(got-float64(tt.segments)) > 1 {
			t.Errorf("after %d bytes: window of %.1f segments, want %d", tt.bytes, got, tt.segments)
		}
	}
}

// TestWindowGrowsToTwiceItsUse: a sender that uses a part of its window, again
// and again, gets twice that part at most.
func TestWindowGrowsToTwiceItsUse(t *testing.T) {
	s := shaperOf(direction{OneWay: 10 * time.Millisecond, SlowStart: true}, 10*time.Millisecond)
	var now time.Duration
	for range 100 {
		for range 30 {
			s.Send(now, DefaultMSS)
		}
		now += 100 * time.Millisecond
	}
	if got := s.cwnd; got < 30*DefaultMSS || got > 61*DefaultMSS {
		t.Errorf("window %d after flights of %d", got, 30*DefaultMSS)
	}
}
