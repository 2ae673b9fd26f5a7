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

	// Used with SlowStart only. cwnd and flight are bytes; flight has what waits
	// for the serializer too, as a sender cannot tell. acks are those not yet taken
	// into account, in order of time. let is when the last segment was let through.
	let    time.Duration
	cwnd   int
	flight int
	acks   fifo[ack]
	used   usage
}

// usage is how much of the window was in use lately: the most bytes in flight
// since the last time that all of a flight had been acknowledged. Linux asks the
// same before it lets a window grow (max_packets_out in tcp_cwnd_validate).
type usage struct {
	sent  int64 // bytes ever
	until int64 // most stands until so many are acknowledged
	most  int
}

// note takes in a segment of n bytes that brings the flight to so many.
func (u *usage) note(n, flight int) {
	u.sent += int64(n)
	if acked := u.sent - int64(flight); acked >= u.until || flight > u.most {
		u.most, u.until = flight, u.sent
	}
}

func newShaper(l Link, back time.Duration) shaper {
	return shaper{link: l, rtt: l.OneWay + back, cwnd: l.InitialWindow}
}

// send puts a segment of n bytes, written at now, behind all others and says
// when it arrives.
func (s *shaper) send(now time.Duration, n int) (arrive time.Duration) {
	if s.link.SlowStart {
		now = s.admit(now, n)
	}
	s.free = max(now, s.free) + s.link.Rate.Time(n)
	if s.link.SlowStart {
		s.flight += n
		s.used.note(n, s.flight)
		s.acks.push(ack{s.free + s.rtt, n})
	}
	return s.free + s.link.OneWay
}

// fin says when an end mark written at now arrives: after all segments. It
// takes no room on the wire.
func (s *shaper) fin(now time.Duration) time.Duration {
	return max(now, s.free) + s.link.OneWay
}

// admit says when the window has room for n bytes, at the earliest at now. A
// segment larger than the whole window goes alone.
func (s *shaper) admit(now time.Duration, n int) time.Duration {
	s.let = max(s.let, now)
	for s.acks.len() > 0 && s.acks.front().at <= s.let {
		s.acknowledge()
	}
	if s.flight == 0 && s.link.IdleRestart {
		s.decay(s.let - s.free)
	}
	for s.flight > 0 && s.flight+n > s.cwnd {
		s.let = max(s.let, s.acks.front().at)
		s.acknowledge()
	}
	return s.let
}

// acknowledge takes the next ack. The window grows to twice what was in use, or
// else a writer that dribbles would earn a window that the path never carried.
// What is in flight right now would not do: after the last byte of a transfer it
// only falls, and a kernel's window still grows by all of it.
func (s *shaper) acknowledge() {
	a := s.acks.pop()
	if s.cwnd < 2*s.used.most {
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
