package lab

import (
	"errors"
	"time"

	"github.com/assay-mux/assay/internal/lab/shape"
)

// BitRate is a rate in bits per second. Zero means no limit.
type BitRate = shape.BitRate

// Units of BitRate, decimal as network links count.
const (
	Kbit = shape.Kbit
	Mbit = shape.Mbit
	Gbit = shape.Gbit
)

// Change is a step in what a link is: from an instant on it has this rate and
// this delay, until the next.
type Change = shape.Change

// Loss says how segments are lost: at random, in bursts, or both.
type Loss = shape.Loss

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
)

// ErrBadLink is what Link.Validate wraps: a field out of its range.
var ErrBadLink = errors.New("lab: link out of range: rates, delays, buffer, window, burst and MSS must be finite and not negative, shares of loss below 1, changes in order of time")

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
	// max(DefaultBuffer, 2 x (Rate x RTT + Burst)), at the highest rate and delay
	// there will be. Below Rate x OneWay it limits the rate.
	Buffer int

	// MSS is the payload of a segment in bytes (DefaultMSS if zero).
	MSS int

	// Jitter is the most by which a segment is late beyond OneWay. Each has its
	// own draw, uniform from zero to Jitter, and none overtakes another: in a
	// dense train all are as late as the latest nearby. The way back of
	// acknowledgements has none.
	Jitter time.Duration

	// Loss says which segments are lost.
	Loss Loss

	// Burst is the depth of a token bucket in bytes, full at first: so many leave
	// at Peak before Rate is the limit, and they come back at Rate while the link
	// is not used. Zero means none.
	Burst int

	// Peak is the rate at which Burst leaves; zero means at once. No less than
	// Rate, or it is the limit.
	Peak BitRate

	// Changes are steps of rate and delay, in order of time.
	Changes []Change

	// Bottleneck is what this direction goes through after its own serializer, with
	// all others that have the same; nil means nothing. Pair gives it to both
	// directions, as in the air: for a limit in one, there is PairOf.
	Bottleneck *Bottleneck

	// Seed is where the draws of Jitter and Loss begin. The same seed and the
	// same writes give the same arrivals, exactly; the two directions of a path
	// draw apart. Links with one seed have the same luck.
	Seed uint64
}

// Validate tells whether every field is in its range. Pair and PairOf take a
// field out of range as zero; code that reads links from people asks first.
// The error wraps ErrBadLink.
func (l Link) Validate() error {
	good := l.Rate.Valid() && l.Peak.Valid() && l.Loss.Valid() && shape.ValidChanges(l.Changes) &&
		min(l.OneWay, l.Jitter) >= 0 && min(l.InitialWindow, l.Buffer, l.MSS, l.Burst) >= 0
	if !good {
		return ErrBadLink
	}
	return nil
}

// normal fills the defaults in, given the delay of the way back.
func (l Link) normal(back time.Duration) Link {
	if !l.Rate.Valid() {
		l.Rate = 0
	}
	if !l.Peak.Valid() {
		l.Peak = 0
	}
	if !l.Loss.Valid() {
		l.Loss = Loss{}
	}
	if !shape.ValidChanges(l.Changes) {
		l.Changes = nil
	}
	l.OneWay, l.Jitter, l.Burst = max(l.OneWay, 0), max(l.Jitter, 0), max(l.Burst, 0)
	l.MSS = positiveOr(l.MSS, DefaultMSS)
	l.InitialWindow = positiveOr(l.InitialWindow, DefaultInitialWindow)
	l.Buffer = positiveOr(l.Buffer, l.buffer(back))
	return l
}

// course is the link over time, for one made at an instant.
func (l Link) course(born time.Duration) shape.Course {
	return shape.NewCourse(l.Rate, l.OneWay, l.Changes, born)
}

// config is what a normal link asks of its shaper.
func (l Link) config(way uint64) shape.Config {
	return shape.Config{
		SlowStart: l.SlowStart, IdleRestart: l.IdleRestart, InitialWindow: l.InitialWindow, MSS: l.MSS,
		Jitter: l.Jitter, Loss: l.Loss, Burst: l.Burst, Peak: l.Peak, Seed: l.Seed, Way: way,
	}
}

// buffer is the default send buffer, in bytes.
func (l Link) buffer(back time.Duration) int {
	ways := l.course(0)
	rate := ways.Fastest()
	if l.Bottleneck != nil {
		rate = slower(rate, l.Bottleneck.line.Fastest())
	}
	if rate == 0 {
		return unlimitedBuffer
	}
	for _, s := range ways {
		l.OneWay = max(l.OneWay, s.OneWay)
	}
	product := rate.Bytes(l.OneWay+back) + float64(l.Burst)
	return int(min(max(DefaultBuffer, 2*product), maxDefaultBuffer))
}

// slower is the lower of two rates, where zero means no limit.
func slower(a, b BitRate) BitRate {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
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
	now := time.Now()
	fwd, rev := newHalf(ab, ba, now, 1), newHalf(ba, ab, now, 2)
	return &Conn{r: rev, w: fwd, local: "a", remote: "b"},
		&Conn{r: fwd, w: rev, local: "b", remote: "a"}
}
