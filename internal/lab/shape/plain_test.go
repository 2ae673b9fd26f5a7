package shape

import (
	"cmp"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// plain is the model of a link that has a rate, a delay and a window, and
// nothing else, by itself: what the shaper must be where all else is zero.
type plain struct {
	link         direction
	rtt          time.Duration
	free, let    time.Duration
	cwnd, flight int
	acks         []ack
	used         usage
}

func (s *plain) send(now time.Duration, n int) time.Duration {
	if s.link.SlowStart {
		now = s.admit(now, n)
	}
	s.free = max(now, s.free) + s.link.Rate.Time(n)
	if s.link.SlowStart {
		s.flight += n
		s.used.note(n, s.flight)
		s.acks = append(s.acks, ack{at: s.free + s.rtt, n: n})
	}
	return s.free + s.link.OneWay
}

func (s *plain) admit(now time.Duration, n int) time.Duration {
	s.let = max(s.let, now)
	for len(s.acks) > 0 && s.acks[0].at <= s.let {
		s.acknowledge()
	}
	if s.flight == 0 && s.link.IdleRestart {
		rto := minRTO + s.rtt
		for idle := s.let - s.free; idle >= rto && s.cwnd > s.link.InitialWindow; idle -= rto {
			s.cwnd = max(s.cwnd/2, s.link.InitialWindow)
		}
	}
	for s.flight > 0 && s.flight+n > s.cwnd {
		s.let = max(s.let, s.acks[0].at)
		s.acknowledge()
	}
	return s.let
}

func (s *plain) acknowledge() {
	if s.cwnd < 2*s.used.most {
		s.cwnd += s.acks[0].n
	}
	s.flight -= s.acks[0].n
	s.acks = s.acks[1:]
}

// TestPlainLinkIsAsItWas: where the new fields are zero, every arrival is that of
// the plain model, to the nanosecond; so it is with a seed that nothing draws
// from, with losses that are none, and where a change changes nothing.
func TestPlainLinkIsAsItWas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		link := someWay(rt)
		back := time.Duration(rapid.IntRange(0, 100).Draw(rt, "way back")) * time.Millisecond
		normal := link
		normal.MSS, normal.InitialWindow = cmp.Or(link.MSS, DefaultMSS), cmp.Or(link.InitialWindow, DefaultInitialWindow)
		want := plain{link: normal, rtt: link.OneWay + back, cwnd: normal.InitialWindow}
		same := link
		same.Seed, same.Loss.Length, same.Peak = 7, 4, Mbit
		steady := link
		steady.Changes = []Change{{At: time.Second, Rate: link.Rate, OneWay: link.OneWay}}
		zero, idle, steps := shaperOf(link, back), shaperOf(same, back), shaperOf(steady, back)
		var now time.Duration
		for range rapid.IntRange(1, 200).Draw(rt, "segments") {
			now += time.Duration(rapid.IntRange(0, 50).Draw(rt, "pause")) * time.Millisecond
			n := rapid.IntRange(1, normal.MSS).Draw(rt, "size")
			at := want.send(now, n)
			for i, s := range []*Shaper{&zero, &idle} {
				if got := s.Send(now, n); got != (Arrival{At: at}) {
					rt.Fatalf("shaper %d: written at %v arrives at %+v, want %v", i, now, got, at)
				}
			}
			// A segment that is cut in two by a step is rounded twice.
			if got := steps.Send(now, n); (got.At - at).Abs() > time.Microsecond {
				rt.Fatalf("with a step: written at %v arrives at %v, want %v", now, got.At, at)
			}
		}
	})
}
