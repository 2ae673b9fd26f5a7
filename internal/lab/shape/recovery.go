package shape

import "time"

const (
	// dupThresh is how many segments have to arrive behind a lost one before the
	// sender takes it as lost (RFC 5681, section 3.2). Larger means that more
	// losses wait for the timer.
	dupThresh = 3

	// lossShare is what a loss leaves of the window (RFC 9438, section 4.6).
	// Larger means a faster path under loss.
	lossShare = 0.7

	// climb is by how many segments the window grows in a round trip after a loss:
	// with lossShare this is as fast as Reno, which CUBIC is not to fall below and
	// does not exceed on the paths here (RFC 9438, section 4.3).
	climb = 3 * (1 - lossShare) / (1 + lossShare)
)

// hole is what is missing in the middle of what has arrived: lost segments that
// the sender has not yet taken as lost. Losses that fall into an open hole are
// repaired with it.
type hole struct {
	open     bool
	first    int64         // how many bytes were sent before it
	lost     int           // bytes
	segments int           // from the first lost one on
	behind   int           // of those, the delivered ones behind the last lost
	before   time.Duration // when all before it could be read
	expire   time.Duration // when the timer goes off
	repaired time.Duration // when the timer's retransmission gets through
}

// roundTrip is the sender's smoothed round trip and its deviation (RFC 6298,
// section 2), with a sample for each segment.
type roundTrip struct{ mean, deviation time.Duration }

func (r *roundTrip) sample(d time.Duration) {
	if r.mean == 0 {
		r.mean, r.deviation = d, d/2
		return
	}
	r.deviation += ((d - r.mean).Abs() - r.deviation) / 4
	r.mean += (d - r.mean) / 8
}

// timeout is the retransmission timeout as Linux has it: its least, 200 ms, is
// beyond the round trip and not with it.
func (r *roundTrip) timeout() time.Duration { return r.mean + max(minRTO, 4*r.deviation) }

// lose takes a lost segment in. If nothing else happens, the timer repairs it.
func (s *Shaper) lose(n int) {
	h := &s.hole
	if !h.open {
		timeout := s.trip.timeout()
		*h = hole{open: true, first: s.used.sent - int64(n), before: s.held, expire: s.free + timeout}
		h.repaired = s.luck.resent(h.expire, 2*timeout)
		s.held = max(s.held, s.there(h.repaired))
	}
	h.lost += n
	h.segments++
	h.behind = 0
}

// there is when what leaves at an instant is at the other end.
func (s *Shaper) there(left time.Duration) time.Duration {
	return max(s.reach, left+s.ahead.Delay(left))
}

// follow takes in a segment that arrives behind an open hole and is acknowledged
// at an instant. The third one lets the sender repair the hole, unless the timer
// was first: how many segments before this one can be read with it.
func (s *Shaper) follow(acked time.Duration) (also int) {
	h := &s.hole
	h.segments++
	h.behind++
	if h.behind < dupThresh || acked >= h.expire {
		return 0
	}
	h.open = false
	resent := acked
	if s.luck.lost() {
		timeout := s.trip.timeout()
		resent = s.luck.resent(acked+timeout, 2*timeout)
	}
	s.held = max(h.before, s.there(resent))
	switch {
	case !s.config.SlowStart:
	case resent > acked:
		s.collapse(resent)
	default:
		s.acks.Push(ack{at: acked, n: h.lost, cut: true, first: h.first})
	}
	return h.segments - 1
}

// expired ends a hole by its timer.
func (s *Shaper) expired() {
	s.hole.open = false
	if s.config.SlowStart {
		s.collapse(s.hole.repaired)
	}
}

// collapse is what a timeout does to the window: nothing more leaves until a
// retransmission at an instant is acknowledged, and then two segments do. All that
// was in flight is acknowledged with it.
func (s *Shaper) collapse(resent time.Duration) {
	there := s.there(resent)
	s.let = max(s.let, there+s.back.Delay(there))
	s.lower()
	s.cwnd = min(s.cwnd, 2*s.config.MSS)
	s.flight = 0
	s.acks.Clear()
}

// lower takes the window to what a loss leaves of it, and remembers it as where
// slow start ends. What is in flight by now can't lower it again.
func (s *Shaper) lower() {
	s.threshold = max(int(lossShare*float64(s.cwnd)), 2*s.config.MSS)
	s.cwnd = s.threshold
	s.cut = s.used.sent
}
