package shape

import (
	"time"

	"github.com/assay-mux/assay/internal/lab/ring"
)

// minRTO is the part of the retransmission timeout that the round trip does not
// explain (Linux's TCP_RTO_MIN). An idle window halves once per minRTO plus RTT.
const minRTO = 200 * time.Millisecond

// Config is what a direction of a path is besides its course. See lab.Link, whose
// fields these are, with no defaults: MSS and InitialWindow are not zero.
type Config struct {
	SlowStart     bool
	IdleRestart   bool
	InitialWindow int
	MSS           int
	Jitter        time.Duration
	Loss          Loss
	Burst         int
	Peak          BitRate
	Seed          uint64
	Way           uint64 // tells directions of one seed apart
}

// ack says that n bytes are acknowledged at an instant, or found lost.
type ack struct {
	at    time.Duration
	n     int
	cut   bool  // lost
	first int64 // if so, how many bytes were sent before them
}

// Arrival says when a segment can be read, and that as many segments before it
// can be read with it, whatever was said of them: they had waited for a repair.
type Arrival struct {
	At   time.Duration
	Also int
}

// Shaper decides when a segment arrives. It is a pure state machine: instants
// are offsets from the link's base and come as arguments, which must not go
// back. Not safe for concurrent use.
type Shaper struct {
	config Config
	line   Line
	ahead  Course // whose delay is this direction's
	back   Course // that of the acknowledgements
	luck   luck

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
	acks      ring.Queue[ack]
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

// New begins a direction of a path, of which back is the other.
func New(c Config, ahead, back Course) Shaper {
	return Shaper{
		config: c, line: NewLine(ahead, c.Burst, c.Peak), ahead: ahead, back: back,
		luck: newLuck(c), cwnd: c.InitialWindow,
	}
}

// Send puts a segment of n bytes, written at now, behind all others and says
// when it arrives.
func (s *Shaper) Send(now time.Duration, n int) Arrival {
	left, lost := s.Ready(now, n)
	return s.Pass(left, n, lost)
}

// Ready says when a segment of n bytes, written at now, has left the link's own
// serializer, and whether it will be lost. All segments before it must have
// passed.
func (s *Shaper) Ready(now time.Duration, n int) (left time.Duration, lost bool) {
	s.let = max(s.let, now)
	if s.config.SlowStart {
		s.admit(n)
	} else if s.hole.open && s.hole.expire <= s.let {
		s.expired()
	}
	lost = s.luck.lost()
	return s.line.Send(s.let, OnWire(n, lost)), lost
}

// OnWire is what a segment takes of a serializer: a lost one is sent again.
func OnWire(n int, lost bool) int {
	if lost {
		return 2 * n
	}
	return n
}

// Pass takes in that the segment has left the last serializer at an instant, and
// says when it arrives.
func (s *Shaper) Pass(left time.Duration, n int, lost bool) Arrival {
	s.free = left
	s.reach = max(s.reach, left+s.ahead.Delay(left)+s.luck.jitter())
	acked := s.reach + s.back.Delay(s.reach)
	if s.config.SlowStart {
		s.flight += n
		s.used.note(n, s.flight)
		if !lost {
			s.acks.Push(ack{at: acked, n: n})
		}
	}
	also := 0
	if s.luck.losing {
		also = s.recover(acked, n, lost)
	}
	return Arrival{max(s.reach, s.held), also}
}

// recover follows what is lost and what is repaired.
func (s *Shaper) recover(acked time.Duration, n int, lost bool) (also int) {
	s.trip.sample(acked - s.let)
	switch {
	case lost:
		s.lose(n)
	case s.hole.open:
		return s.follow(acked)
	}
	return 0
}

// Fin says when an end mark written at now arrives: after all segments. It
// takes no room on the wire and is not lost.
func (s *Shaper) Fin(now time.Duration) time.Duration {
	return max(now+s.ahead.Delay(now), s.reach, s.held)
}

// admit moves let to when the window has room for n bytes. A segment larger than
// the whole window goes alone.
func (s *Shaper) admit(n int) {
	for s.acks.Len() > 0 && s.acks.Front().at <= s.let {
		s.acknowledge()
	}
	if s.hole.open && s.hole.expire <= s.let {
		s.expired()
	}
	if s.flight == 0 && s.config.IdleRestart {
		s.decay(s.let - s.free)
	}
	for s.flight > 0 && s.flight+n > s.cwnd {
		s.wait()
	}
}

// wait moves let to the next thing that makes room.
func (s *Shaper) wait() {
	if s.hole.open && (s.acks.Len() == 0 || s.hole.expire < s.acks.Front().at) {
		s.let = max(s.let, s.hole.expire)
		s.expired()
		return
	}
	s.let = max(s.let, s.acks.Front().at)
	s.acknowledge()
}

// acknowledge takes the next ack.
func (s *Shaper) acknowledge() {
	a := s.acks.Pop()
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
func (s *Shaper) grow(n int) {
	switch {
	case s.cwnd >= 2*s.used.most:
	case s.threshold == 0 || s.cwnd < s.threshold:
		s.cwnd += n
	default:
		s.credit += climb * float64(s.config.MSS) * float64(n) / float64(s.cwnd)
		whole := int(s.credit)
		s.cwnd += whole
		s.credit -= float64(whole)
	}
}

// decay halves the window per timeout of idleness.
func (s *Shaper) decay(idle time.Duration) {
	rto := minRTO + s.ahead.Delay(s.free) + s.back.Delay(s.free)
	for ; idle >= rto && s.cwnd > s.config.InitialWindow; idle -= rto {
		s.cwnd = max(s.cwnd/2, s.config.InitialWindow)
	}
}

// Waits says that a lost segment waits for what is sent behind it, or the timer.
func (s *Shaper) Waits() bool { return s.hole.open }

// Soonest is when what leaves at an instant or later can be read, at the
// earliest.
func (s *Shaper) Soonest(left time.Duration) time.Duration {
	return max(left+s.ahead.Shortest(), s.reach)
}

// Back is when an answer is back that takes no room and leaves the other end at
// an instant.
func (s *Shaper) Back(at time.Duration) time.Duration { return at + s.back.Delay(at) }
