package lab

import "time"

// ack says that n bytes are acknowledged at an instant.
type ack struct {
	at time.Duration
	n  int
}

// shaper decides when a segment arrives. It is a pure state machine: instants
// are offsets from the link's base and come as arguments, which must not go
// back. Not safe for concurrent use.
type shaper struct {
	link Link // normal
	rtt  time.Duration

	free time.Duration // the end of the last segment on the serializer

	// Used with SlowStart only. cwnd and flight are bytes; acks are those not
	// yet taken into account, in order of time.
	cwnd   int
	flight int
	acks   fifo[ack]
}

func newShaper(l Link, back time.Duration) shaper {
	return shaper{link: l, rtt: l.OneWay + back, cwnd: l.InitialWindow}
}

// send puts a segment of n bytes, written at now, behind all others and says
// when it arrives.
func (s *shaper) send(now time.Duration, n int) (arrive time.Duration) {
	start := max(now, s.free)
	if s.link.SlowStart {
		start = s.admit(start, n)
	}
	s.free = start + s.link.Rate.Time(n)
	if s.link.SlowStart {
		s.flight += n
		s.acks.push(ack{s.free + s.rtt, n})
	}
	return s.free + s.link.OneWay
}

// fin says when an end mark written at now arrives: after all segments. It
// takes no room on the wire.
func (s *shaper) fin(now time.Duration) time.Duration {
	return max(now, s.free) + s.link.OneWay
}

// admit says when the window has room for n bytes, at the earliest at start.
// A segment larger than the whole window goes alone.
func (s *shaper) admit(start time.Duration, n int) time.Duration {
	for s.acks.len() > 0 && s.acks.front().at <= start {
		s.acknowledge()
	}
	if s.flight == 0 && s.link.IdleRestart {
		s.decay(start - s.free)
	}
	for s.flight > 0 && s.flight+n > s.cwnd {
		start = max(start, s.acks.front().at)
		s.acknowledge()
	}
	return start
}

// acknowledge takes the next ack. The window grows only while it is used, or
// else a writer that dribbles would earn a window that the path never carried.
func (s *shaper) acknowledge() {
	a := s.acks.pop()
	if s.cwnd < 2*s.flight {
		s.cwnd += a.n
	}
	s.flight -= a.n
}

// decay halves the window per timeout of idleness.
func (s *shaper) decay(idle time.Duration) {
	rto := minRTO + s.rtt
	for ; idle >= rto && s.cwnd > s.link.InitialWindow; idle -= rto {
		s.cwnd = max(s.cwnd/2, s.link.InitialWindow)
	}
}
