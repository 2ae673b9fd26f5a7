package burst

import (
	"fmt"
	"testing"
	"time"
)

// A path so far and fast that 12 MB lie within its slow start is bounded by what came after the last
// stall, not by the stalls.
func TestBoundLeavesStallsOut(t *testing.T) {
	for _, rtt := range []time.Duration{69 * ms, 150 * ms, 268 * ms} {
		for _, in := range []string{"segments", "merged"} {
			l := link{rtt: rtt, speed: 1000 * mbit}
			h := newHost(l.path(true))
			reads := l.cold(0, 12e6)
			if in == "merged" {
				reads = merge(reads, 64<<10)
			}
			h.fetch(0, reads)
			if !h.out[0].UpperBound {
				t.Fatalf("%v: no bound: %+v", rtt, h.out[0])
			}
			within(t, fmt.Sprint(rtt, " ", in), h.out[0].Rate.BytesPerSecond(), l.speed, 0.01)
		}
	}
}

// Whatever the size, and however the window grows, no bound of a link is faster than the link.
func TestBoundIsABound(t *testing.T) {
	tight := 0
	for _, l := range []link{
		{rtt: 20 * ms, speed: 1000 * mbit},
		{rtt: 268 * ms, speed: 100 * mbit},
		{rtt: 268 * ms, speed: 1000 * mbit},
		{rtt: 150 * ms, speed: 1000 * mbit, delayed: true},
	} {
		for n := 50_000; n < 40e6; n += n / 3 {
			h := newHost(l.path(true))
			h.fetch(0, merge(l.cold(0, n), 16<<10))
			s := h.out[0]
			if !s.UpperBound {
				continue
			}
			if s.Counted*7 < s.Bytes { // beyond the cap may lie less than a quarter
				t.Errorf("%+v, %d bytes: rests on %d", l, n, s.Counted)
			}
			if got := s.Rate.BytesPerSecond(); got > 1.001*l.speed {
				t.Errorf("%+v, %d bytes: bound %.4g B/s", l, n, got)
			} else if got > 0.9*l.speed {
				tight++
			}
		}
	}
	if tight < 10 {
		t.Errorf("only %d bounds are near the link's rate", tight)
	}
}

// What came after the last stall may take too short a time to bound anything: 0.85 ms here. The whole
// burst still does.
func TestBoundOfLessThanTheLeastSpan(t *testing.T) {
	l := link{rtt: 20 * ms, speed: 1000 * mbit}
	h := newHost(l.path(true))
	h.fetch(0, l.cold(0, 340_000))
	if s := h.out[0]; !s.UpperBound || s.Counted < 300_000 {
		t.Errorf("no bound from the whole: %+v", s)
	}
}

// A peer that trickles where slow start explains it and sends the rest at once earns no bound from the
// rest, once the trickle takes more than twice what the slow start would: it reads at most twice as
// fast as it was, and soon its true rate.
func TestTrickledRampEarnsNoTightBound(t *testing.T) {
	l := link{rtt: 268 * ms, speed: 1000 * mbit}
	for _, took := range []time.Duration{6 * time.Second, 8 * time.Second, 20 * time.Second} {
		const trickled = 4_100_000
		var in []read
		steps := int(took / (20 * ms))
		for i := range steps {
			in = append(in, read{at: l.rtt + time.Duration(i)*20*ms, bytes: trickled / steps})
		}
		in = append(in, merge(l.warm(took, 12e6-trickled), 16<<10)...)
		h := newHost(l.path(true))
		h.prompt = true
		h.fetch(0, in)
		r := h.est.Reading(h.now())
		got := max(r.Rate.BytesPerSecond(), r.UpperBound.BytesPerSecond())
		truth := float64(total(in)) / (in[len(in)-1].at - in[0].at).Seconds()
		t.Logf("%v: %.3g B/s of %.3g", took, got, truth)
		if got > 2.1*truth {
			t.Errorf("trickled for %v: reads %.3g B/s, delivered %.3g", took, got, truth)
		}
	}
}

// What piled up in a buffer while our reader was away, and is then read at the speed of memory, bounds
// nothing: it is faster than what follows.
func TestUnsteadyRestIsNoBound(t *testing.T) {
	l := link{rtt: 268 * ms, speed: 1000 * mbit}
	in := merge(l.cold(0, 12e6), 16<<10)
	end := in[len(in)-1].at
	for i := range in { // the last window but 1.4 MB of it
		if left := total(in[i:]); left < 4.6e6 && left > 1.4e6 {
			in[i].at = end - l.tx(1.4e6) - time.Duration(left-1.4e6)*ms/3.2e6
		}
	}
	h := newHost(l.path(true))
	h.fetch(0, in)
	s := h.out[0]
	if !s.UpperBound || s.Rate == 0 || s.Rate.BytesPerSecond() > l.speed {
		t.Errorf("bound %.3g B/s from a pile: %+v", s.Rate.BytesPerSecond(), s)
	}
}
