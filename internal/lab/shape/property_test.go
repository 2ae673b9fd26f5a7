package shape

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/internal/lab/ring"
)

// someWay draws a link of any kind, of at least 100 kbit/s where limited.
func someWay(t *rapid.T) direction {
	return direction{
		Rate:          BitRate(rapid.SampledFrom([]float64{0, 1e5, 3e6, 1e9}).Draw(t, "rate")),
		OneWay:        time.Duration(rapid.IntRange(0, 300).Draw(t, "delay")) * time.Millisecond,
		SlowStart:     rapid.Bool().Draw(t, "slow start"),
		IdleRestart:   rapid.Bool().Draw(t, "idle restart"),
		InitialWindow: rapid.IntRange(0, 20000).Draw(t, "window"),
		MSS:           rapid.IntRange(0, 2000).Draw(t, "MSS"),
	}
}

// anyWay draws a link with all that a link can have, but for a bottleneck.
func anyWay(t *rapid.T) direction {
	l := someWay(t)
	l.MSS = max(l.MSS, 100)
	l.Seed = rapid.Uint64().Draw(t, "seed")
	l.Jitter = time.Duration(rapid.IntRange(0, 50).Draw(t, "jitter")) * time.Millisecond
	share := rapid.SampledFrom([]float64{0, 0, 0.01, 0.3})
	l.Loss = Loss{Rate: share.Draw(t, "loss"), Bursts: share.Draw(t, "bursts"), Length: 4, Within: 0.9}
	l.Burst = rapid.IntRange(0, 10000).Draw(t, "burst")
	l.Peak = BitRate(rapid.SampledFrom([]float64{0, 1e6, 1e9}).Draw(t, "peak"))
	for i := range rapid.IntRange(0, 3).Draw(t, "changes") {
		l.Changes = append(l.Changes, Change{
			At:     time.Duration(i) * time.Second,
			Rate:   BitRate(rapid.SampledFrom([]float64{0, 1e5, 1e7}).Draw(t, "new rate")),
			OneWay: time.Duration(rapid.IntRange(0, 300).Draw(t, "new delay")) * time.Millisecond,
		})
	}
	return l
}

// TestShaperKeepsCount: whatever is lost and repaired, arrivals are in order and
// none before its delay, what is in flight is what is not acknowledged, and the window
// is never below two segments.
func TestShaperKeepsCount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		link := anyWay(rt)
		link.InitialWindow = max(link.InitialWindow, 2*link.MSS)
		s := shaperOf(link, 20*time.Millisecond)
		least := s.ahead.Shortest()
		var at []time.Duration
		var now time.Duration
		for range rapid.IntRange(1, 300).Draw(rt, "segments") {
			now += time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 50, 1000}).Draw(rt, "pause")) * time.Millisecond
			a := s.Send(now, rapid.IntRange(1, s.config.MSS).Draw(rt, "size"))
			for i := range a.Also {
				if at[len(at)-1-i] <= now {
					rt.Fatalf("at %v says that what arrived at %v arrives at %v", now, at[len(at)-1-i], a.At)
				}
				at[len(at)-1-i] = a.At
			}
			if at = append(at, a.At); a.At < now+least {
				rt.Fatalf("written at %v arrives at %v, the delay is %v", now, a.At, least)
			}
			keepsCount(rt, &s)
		}
		if !slices.IsSorted(at) {
			rt.Fatalf("out of order: %v", at)
		}
		if end := s.Fin(now); end < at[len(at)-1] {
			rt.Fatalf("the end arrives at %v, before the last segment at %v", end, at[len(at)-1])
		}
	})
}

// keepsCount checks what is true of a shaper at any time.
func keepsCount(rt *rapid.T, s *Shaper) {
	if !s.config.SlowStart {
		return
	}
	sum := 0
	if s.hole.open {
		sum = s.hole.lost
	}
	for i := range s.acks.Len() {
		sum += s.acks.Last(i).n
		if i > 0 && s.acks.Last(i).at > s.acks.Last(i-1).at {
			rt.Fatal("acknowledgements out of order")
		}
	}
	if s.flight != sum {
		rt.Fatalf("%d bytes in flight, %d to be acknowledged", s.flight, sum)
	}
	if s.cwnd < 2*s.config.MSS {
		rt.Fatalf("window %d, two segments are %d", s.cwnd, 2*s.config.MSS)
	}
}

// TestShaperKeepsItsLimits: arrivals are in order, none before the delay, no
// stretch faster than the rate, and a window's worth at most in each round trip.
func TestShaperKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		link := someWay(rt)
		s := shaperOf(link, 0)
		link.MSS, link.InitialWindow = s.config.MSS, s.config.InitialWindow
		var now, last time.Duration
		for range rapid.IntRange(1, 200).Draw(rt, "segments") {
			now += time.Duration(rapid.IntRange(0, 50).Draw(rt, "pause")) * time.Millisecond
			n := rapid.IntRange(1, link.MSS).Draw(rt, "size")
			arrive := s.Send(now, n).At
			if least := max(now+link.OneWay, last) + link.Rate.Time(n); arrive < least {
				rt.Fatalf("segment of %d written at %v arrives at %v, before %v", n, now, arrive, least)
			}
			last = arrive
			if s.flight > max(s.cwnd, n) {
				rt.Fatalf("%d bytes in flight, window %d", s.flight, s.cwnd)
			}
			if s.cwnd < link.InitialWindow {
				rt.Fatalf("window %d fell below the first, %d", s.cwnd, link.InitialWindow)
			}
		}
		if end := s.Fin(now); end < last {
			rt.Fatalf("the end arrives at %v, before the last segment at %v", end, last)
		}
	})
}

// TestIdleWindow: a window that is not used doesn't grow, and decays by halves.
func TestIdleWindow(t *testing.T) {
	s := shaperOf(direction{OneWay: 50 * time.Millisecond, SlowStart: true, IdleRestart: true}, 50*time.Millisecond)
	link := s.config
	for i := range 100 { // one segment per 150 ms uses no window
		s.Send(time.Duration(i)*150*time.Millisecond, 1000)
	}
	if s.cwnd != link.InitialWindow {
		t.Errorf("window %d after a dribble, want the first, %d", s.cwnd, link.InitialWindow)
	}
	s.acks, s.flight, s.cwnd = ring.Queue[ack]{}, 0, 160000
	for i, want := range []int{160000, 80000, 20000, DefaultInitialWindow} {
		const rto = 300 * time.Millisecond
		at := s.free + []time.Duration{rto - 1, rto, 2 * rto, time.Hour}[i]
		s.Send(at, 1)
		if s.cwnd != want {
			t.Errorf("pause %d: window %d, want %d", i, s.cwnd, want)
		}
		s.free, s.acks, s.flight = at, ring.Queue[ack]{}, 0
	}
}

func TestBitRate(t *testing.T) {
	if got := (8 * Mbit).Time(1e6); got != time.Second {
		t.Errorf("1 MB at 8 Mbit/s takes %v", got)
	}
	if got := (8 * Mbit).Bytes(time.Second); math.Abs(got-1e6) > 1e-6 {
		t.Errorf("8 Mbit/s moves %v bytes in a second", got)
	}
	if d, n := BitRate(0).Time(1e9), BitRate(0).Bytes(time.Hour); d != 0 || n != 0 {
		t.Errorf("no limit: %v, %v; want zeros", d, n)
	}
}
