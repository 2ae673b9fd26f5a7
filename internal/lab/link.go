package lab

import (
	"errors"
	"math"
	"time"
)

// BitRate is a rate in bits per second. Zero means no limit.
type BitRate float64

// Units of BitRate, decimal as network links count.
const (
	Kbit BitRate = 1e3
	Mbit BitRate = 1e6
	Gbit BitRate = 1e9
)

// Time is how long the rate takes over n bytes: zero where there is no limit.
func (r BitRate) Time(n int) time.Duration {
	if r <= 0 {
		return 0
	}
	return time.Duration(math.Round(float64(n) * 8 / float64(r) * float64(time.Second)))
}

// Bytes is how many bytes the rate moves in d: zero where there is no limit.
func (r BitRate) Bytes(d time.Duration) float64 {
	return max(0, float64(r)/8*d.Seconds())
}

// Defaults of Link, each used where the field is zero.
const (
	// DefaultMSS is the payload of a segment, in bytes: what Ethernet's 1500
	// leaves after IPv4, TCP and its timestamps. Larger means fewer, coarser
	// arrivals.
	DefaultMSS = 1448

	// DefaultInitialWindow is the first congestion window, in bytes: ten
	// segments of 1460 (RFC 6928), as the prediction's W0. Larger means fewer
	// round trips before the link is full.
	DefaultInitialWindow = 14600

	// DefaultBuffer is the least send buffer, in bytes. A link with a larger
	// bandwidth-delay product gets twice that product instead, so that the
	// buffer is never what limits it. Larger means a longer queue before the
	// link, hence a longer loaded round trip.
	DefaultBuffer = 1 << 20

	// unlimitedBuffer is DefaultBuffer for a link without a rate, which has no
	// bandwidth-delay product: as large as the largest yamux window in use.
	unlimitedBuffer = 16 << 20

	// maxDefaultBuffer bounds the memory that a careless rate can ask for.
	// A larger Buffer may still be set by hand.
	maxDefaultBuffer = 256 << 20

	// minRTO is the part of the retransmission timeout that the round trip
	// does not explain (Linux's TCP_RTO_MIN). An idle window halves once per
	// minRTO plus RTT.
	minRTO = 200 * time.Millisecond
)

// ErrBadLink is what Link.Validate wraps: a field out of its range.
var ErrBadLink = errors.New("lab: link out of range: rate, delay, buffer, window and MSS must be finite and not negative")

// Link describes one direction of a simulated path. The zero value is an
// immediate, unlimited link. A Link is a value and may be shared.
type Link struct {
	// Rate is the payload rate of the serializer in bits per second; zero means
	// that nothing queues.
	Rate BitRate

	// OneWay is the propagation delay of this direction.
	OneWay time.Duration

	// SlowStart makes a congestion window grow from InitialWindow. Without it
	// the link is full from the first byte.
	SlowStart bool

	// IdleRestart halves the window for each 200 ms + RTT of idleness, not
	// below InitialWindow, as Linux does (RFC 5681, section 4.1). Only with
	// SlowStart.
	IdleRestart bool

	// InitialWindow is the first congestion window in bytes
	// (DefaultInitialWindow if zero).
	InitialWindow int

	// Buffer is how many bytes may be written and not yet read before Write
	// blocks: send buffer, wire and receive buffer in one. Zero means
	// max(DefaultBuffer, 2 x Rate x RTT). Below Rate x OneWay it limits the
	// rate.
	Buffer int

	// MSS is the payload of a segment in bytes (DefaultMSS if zero).
	MSS int
}

// Validate tells whether every field is in its range. Pair and PairOf take a
// field out of range as zero; code that reads links from people asks first.
// The error wraps ErrBadLink.
func (l Link) Validate() error {
	bad := math.IsNaN(float64(l.Rate)) || math.IsInf(float64(l.Rate), 0) ||
		l.Rate < 0 || l.OneWay < 0 || l.InitialWindow < 0 || l.Buffer < 0 || l.MSS < 0
	if bad {
		return ErrBadLink
	}
	return nil
}

// normal fills the defaults in, given the delay of the way back.
func (l Link) normal(back time.Duration) Link {
	if !(l.Rate > 0) || math.IsInf(float64(l.Rate), 0) {
		l.Rate = 0
	}
	l.OneWay = max(l.OneWay, 0)
	l.MSS = positiveOr(l.MSS, DefaultMSS)
	l.InitialWindow = positiveOr(l.InitialWindow, DefaultInitialWindow)
	l.Buffer = positiveOr(l.Buffer, l.buffer(back))
	return l
}

// buffer is the default send buffer, in bytes.
func (l Link) buffer(back time.Duration) int {
	if l.Rate == 0 {
		return unlimitedBuffer
	}
	product := l.Rate.Bytes(l.OneWay + back)
	return int(min(max(DefaultBuffer, 2*product), maxDefaultBuffer))
}

func positiveOr(v, otherwise int) int {
	if v > 0 {
		return v
	}
	return otherwise
}

// Pair returns the two ends of a path that is the same both ways. Made in a
// synctest bubble, both ends must stay in it.
func Pair(l Link) (a, b *Conn) { return PairOf(l, l) }

// PairOf returns the two ends of a path whose directions differ: ab carries
// what a writes, ba what b writes.
func PairOf(ab, ba Link) (a, b *Conn) {
	ab, ba = ab.normal(max(ba.OneWay, 0)), ba.normal(max(ab.OneWay, 0))
	base := time.Now()
	fwd, rev := newHalf(ab, ba.OneWay, base), newHalf(ba, ab.OneWay, base)
	return &Conn{r: rev, w: fwd, local: "a", remote: "b"},
		&Conn{r: fwd, w: rev, local: "b", remote: "a"}
}
