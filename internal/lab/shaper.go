package lab

import "time"

// ack says that n bytes are acknowledged at an instant, or found lost.
type ack struct {
	at    time.Duration
	n     int
	cut   bool  // lost
	first int64 // if so, how many bytes were sent before them
}

// arrival says when a segment can be read, and that as many segments before it
// can be read with it, whatever was said of them: they had waited for a repair.
type arrival struct {
	at   time.Duration
	also int
}

// shaper decides when a segment arrives. It is a pure state machine: instants
// are offsets from the link's base and come as arguments, which must not go
// back. Not safe for concurrent use.
type shaper struct {
	link  Link // normal
	line  line
	ahead course // whose delay is this direction's
	back  course // that of the acknowledgements
	luck  luck

	let   time.Duration // when the last segment was let through
	free  time.Duration // when the last segment had left
	reach time.Duration // when it is at the other end
	held  time.Duration // when what is missing before it is there too
	hole  hole
	trip  roundTrip

	// Used with SlowStart only. cwnd and flight are bytes; flight has what waits
	// for the serializer too, as a sender cannot tell. acks are those not yet taken
	// into account, in order of time.
	cwnd      int
	flight    int
	acks      fifo[ack]
	used      usage
	threshold int     // where slow start ends; zero before the first loss
	cut       int64   // bytes sent when the window was lowered
	credit    float64 // part of a byte by which it is to grow
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

// newShaper begins a direction of a path, of which back is the other. Its luck
// differs by way.
func newShaper(l Link, ahead, back course, way uint64) shaper {
	return shaper{
		link: l, line: newLine(l, ahead), ahead: ahead, back: back,
		luck: newLuck(l, way), cwnd: l.InitialWindow,
	}
}

// send puts a segment of n bytes, written at now, behind all others and says
// when it arrives.
func (s *shaper) send(now time.Duration, n int) arrival {
	left, lost := s.ready(now, n)
	return s.pass(left, n, lost)
}

// ready says when a segment of n bytes, written at now, has left the link's own
// serializer, and whether it will be lost. All segments before it must have
// passed.
func (s *shaper) ready(now time.Duration, n int) (left time.Duration, lost bool) {
	s.let = max(s.let, now)
	if s.link.SlowStart {
		s.admit(n)
	} else if s.hole.open && s.hole.expire <= s.let {
		s.expired()
	}
	lost = s.luck.lost()
	return s.line.send(s.let, onWire(n, lost)), lost
}

// onWire is what a segment takes of a serializer: a lost one is sent again.
func onWire(n int, lost bool) int {
	if lost {
		return 2 * n
	}
	return n
}

// pass takes in that the segment has left the last serializer at an instant, and
// says when it arrives.
func (s *shaper) pass(left time.Duration, n int, lost bool) arrival {
	s.free = left
	s.reach = max(s.reach, left+s.ahead.delay(left)+s.luck.jitter())
	acked := s.reach + s.back.delay(s.reach)
	if s.link.SlowStart {
		s.flight += n
		s.used.note(n, s.flight)
		if !lost {
			s.acks.push(ack{at: acked, n: n})
		}
	}
	also := 0
	if s.luck.losing {
		also = s.recover(acked, n, lost)
	}
	return arrival{max(s.reach, s.held), also}
}

// recover follows what is lost and what is repaired.
func (s *shaper) recover(acked time.Duration, n int, lost bool) (also int) {
	s.trip.sample(acked - s.let)
	switch {
	case lost:
		s.lose(n)
	case s.hole.open:
		return s.follow(acked)
	}
	return 0
}

// fin says when an end mark written at now arrives: after all segments. It
// takes no room on the wire and is not lost.
func (s *shaper) fin(now time.Duration) time.Duration {
	return max(now+s.ahead.delay(now), s.reach, s.held)
}

// admit moves let to when the window has room for n bytes. A segment larger than
// the whole window goes alone.
func (s *shaper) admit(n int) {
	for s.acks.len() > 0 && s.acks.front().at <= s.let {
		s.acknowledge()
	}
	if s.hole.open && s.hole.expire <= s.let {
		s.expired()
	}
	if s.flight == 0 && s.link.IdleRestart {
		s.decay(s.let - s.free)
	}
	for s.flight > 0 && s.flight+n > s.cwnd {
		s.wait()
	}
}

// wait moves let to the next thing that makes room.
func (s *shaper) wait() {
	if s.hole.open && (s.acks.len() == 0 || s.hole.expire < s.acks.front().at) {
		s.let = max(s.let, s.hole.expire)
		s.expired()
		return
	}
	s.let = max(s.let, s.acks.front().at)
	s.acknowledge()
}

// acknowledge takes the next ack.
func (s *shaper) acknowledge() {
	a := s.acks.pop()
	s.flight -= a.n
	switch {
	case !a.cut:
		s.grow(a.n)
	case a.first >= s.cut:
		s.lower()
	}
}

// grow opens the window for n bytes acknowledged. It grows to twice what was in
// use, or else a writer that dribbles would earn a window that the path never
// carried. What is in flight right now would not do: after the last byte of a
// transfer it only falls, and a kernel's window still grows by all of it.
func (s *shaper) grow(n int) {
	switch {
	case s.cwnd >= 2*s.used.most:
	case s.threshold == 0 || s.cwnd < s.threshold:
		s.cwnd += n
	default:
		s.credit += climb * float64(s.link.MSS) * float64(n) / float64(s.cwnd)
		whole := int(s.credit)
		s.cwnd += whole
		s.credit -= float64(whole)
	}
}

// decay halves the window per timeout of idleness.
func (s *shaper) decay(idle time.Duration) {
	rto := minRTO + s.ahead.delay(s.free) + s.back.delay(s.free)
	for ; idle >= rto && s.cwnd > s.link.InitialWindow; idle -= rto {
		s.cwnd = max(s.cwnd/2, s.link.InitialWindow)
	}
}
