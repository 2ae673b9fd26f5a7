package mux

import (
	"errors"
	"math"
	"net"
	"os"
	"time"

	"github.com/assay-mux/assay/cookie"
)

// position is where in the host's byte stream its writes have come to.
type position struct {
	head  [headerSize]byte
	have  uint8  // bytes of head that the host has given
	share uint8  // of them, those given in the current Write
	frame header // the Data frame whose body is being given
	left  uint32 // bytes of that body still to be given
	sdu   uint32 // bytes still to come under the last header we wrote
	begun bool   // the frame's first SDU is out
	kept  bool   // its header is in small, as the host gave it
	void  bool   // the frame belongs to a stream that was reset
	raw   bool   // these are not frames of a protocol we know

	control []byte // frames of ours that wait for a frame boundary
}

// boundary says that what went out so far ends with a whole frame.
func (p *position) boundary() bool { return p.sdu == 0 && !p.raw }

// outbound is the writing side. Whoever holds the turn owns the rest.
type outbound struct {
	turn turn
	position
	err    error // of an earlier write that left part of a frame behind
	began  bool  // the host has written: it is committed to yamux
	counts outCounts

	stamped time.Duration                    // the last clock read for a small frame
	run     int                              // how many more may share it
	small   *[2*headerSize + expressMax]byte // a small frame on its way, behind room for a cookie; made at the first
}

// Write takes bytes of the local multiplexer. It holds the header of a Data
// frame back until body bytes follow, as they always do, and sends both, with
// a cookie where one is due, in one write. It reports how many of p's bytes
// were taken; after an error that left part of a frame behind every later
// Write fails with it.
func (c *Conn) Write(p []byte) (int, error) {
	o := &c.out
	o.turn.acquire()
	n, err := c.write(p)
	o.turn.release()
	return n, err
}

func (c *Conn) write(p []byte) (int, error) {
	o := &c.out
	if o.err != nil {
		return 0, o.err
	}
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	o.share = 0
	if c.holds(p) {
		return len(p), nil
	}
	if c.async == nil && o.expressable(p, c.sdu) && !c.wasReset(o.frame.stream) { // since its header came
		return c.express(p)
	}
	now := c.meter.now()
	if c.async != nil {
		return c.async.write(c, p, now)
	}
	a := assemblies.Get().(*assembly)
	defer assemblies.Put(a)
	taken := 0
	for {
		a.reset()
		before := o.position
		rest := c.assemble(a, p, now, true)
		wire, err := c.send(a, now)
		if err != nil {
			c.failed(before, wire, err)
			return taken + a.done(wire), err
		}
		taken += len(p) - len(rest)
		if p = rest; len(p) == 0 {
			return taken, nil
		}
	}
}

// holds is the short way for what hashicorp/yamux does all the time: a Data
// header in a Write of its own. It is kept until the body comes.
func (c *Conn) holds(p []byte) bool {
	o := &c.out
	if len(p) != headerSize || o.have != 0 || o.left != 0 || o.raw {
		return false
	}
	h, ok := c.codec.decode(p)
	if !ok || h.body() == 0 {
		return false
	}
	if o.small == nil {
		o.small = new([2*headerSize + expressMax]byte)
	}
	copy(o.small[headerSize:], p)
	if c.begin(h) {
		c.meter.sent(h, c.meter.now())
	}
	o.kept = true
	return true
}

const (
	// stampRun is how many small frames may follow on one clock read.
	stampRun = 3
	// stampDense is how soon that many must have followed the last time.
	stampDense = 20 * time.Microsecond
)

// stamp is the instant of a small frame. In a dense run of them one way, with
// nothing come from the peer and no fetch outstanding, four share a clock read,
// which is half of what a frame costs here; a cookie that is due waits for the
// fourth. Whatever the peer sends ends the run, so that a request is always
// stamped.
func (c *Conn) stamp() (now time.Duration, fresh bool) {
	o, m := &c.out, c.meter
	if o.run > 0 && m.asked.Load() != 0 && m.fetching.Load() == 0 {
		o.run--
		return o.stamped, false
	}
	now = m.now()
	o.run = 0
	if now-o.stamped < stampDense {
		o.run = stampRun
	}
	o.stamped = now
	return now, true
}

// expressMax is the largest body that takes the short way: above it copying
// and the kernel cost more than what is saved.
const expressMax = 512

// expressable says that p is all of a small frame's body, and nothing else is
// to go out with it.
func (o *outbound) expressable(p []byte, sdu int) bool {
	return o.kept && len(p) <= expressMax && o.left == uint32(len(p)) && !o.begun && !o.void &&
		len(o.control) == 0 && (sdu == 0 || len(p) <= sdu)
}

// express writes a small frame whose header is held: what a multiplexer does
// most, without the machinery for all that it might do.
func (c *Conn) express(p []byte) (int, error) {
	o := &c.out
	now, fresh := c.stamp()
	ours := headerSize
	end := 2*headerSize + copy(o.small[2*headerSize:], p)
	out, v, loaded, frames := o.small[headerSize:end], cookie.Value(0), false, uint64(1)
	if fresh && c.meter.cookieDue(now) && o.frame.carries() {
		var ok bool
		if v, ok = c.meter.issue(now); ok {
			c.codec.encode(o.small[:], c.codec.cookie(v))
			out, frames, ours = o.small[:end], 2, 2*headerSize
			loaded = c.kernel.unsent() > 0
		}
	}
	n, err := c.inner.Write(out)
	o.counts.wrote(frames, n, now)
	if v != 0 {
		c.settleCookie(v, n, now, loaded, err)
	}
	if err != nil {
		c.failed(o.position, n, err)
		return max(n-ours, 0), err
	}
	o.left, o.begun, o.began, o.kept = 0, true, true, false
	c.meter.askedFor(now)
	c.meter.wroteFrame(now)
	return len(p), nil
}

// begin starts a Data frame of the host's. It says whether the frame moves the
// stream's account, which one without flags does not.
func (c *Conn) begin(h header) bool {
	o := &c.out
	o.frame, o.left, o.begun, o.kept = h, h.length, false, false
	o.void = c.wasReset(h.stream)
	return h.flags != 0 && !o.void
}

// failed decides what a failed write leaves behind. If nothing left before a
// deadline passed or Close came, it is as if it had not been tried; but for the
// ledger, in which credit that is then granted again stands twice, and our own silence
// may be taken for the peer's (yamux does not write again after a deadline). Otherwise
// the peer may have part of a frame, and could not make sense of anything after it.
func (c *Conn) failed(before position, wire int, err error) {
	if passes(wire, err) {
		c.out.position = before
		return
	}
	c.out.err = err
	c.meter.stopCookies()
}

// passes says that a write failed as if it had not been tried: a deadline passed, or
// Close came first, which still has what went before to see off.
func passes(wire int, err error) bool {
	return wire == 0 && (errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, errClosing))
}

// assemble turns bytes of the host's into what goes out, until a is full, and
// returns the rest.
func (c *Conn) assemble(a *assembly, p []byte, now time.Duration, ride bool) []byte {
	o := &c.out
	if len(o.control) > 0 && o.boundary() {
		a.add(o.control, 0)
		o.control = nil
	}
	for len(p) > 0 && !a.full(c.limit) {
		switch {
		case o.raw:
			n := min(len(p), c.limit-a.size)
			a.add(p[:n], n)
			p = p[n:]
		case o.left > 0:
			p = c.body(a, p, now, ride)
		default:
			p = c.header(a, p, now, ride)
		}
	}
	return p
}

// header takes bytes of a header, and acts on it once it is whole.
func (c *Conn) header(a *assembly, p []byte, now time.Duration, ride bool) []byte {
	o := &c.out
	if o.have == 0 {
		o.share = 0
	}
	n := copy(o.head[o.have:], p)
	o.have += uint8(n)
	o.share += uint8(n)
	if p = p[n:]; o.have < headerSize {
		return p
	}
	o.have = 0
	h, ok := c.codec.decode(o.head[:])
	switch {
	case !ok:
		c.goRaw(a)
	case h.body() > 0:
		if c.begin(h) {
			c.meter.sent(h, now)
		}
	default:
		c.control(a, h, now, ride)
	}
	return p
}

// goRaw turns the direction transparent: what is not understood is passed on.
func (c *Conn) goRaw(a *assembly) {
	o := &c.out
	o.raw = true
	o.counts.transparent.Store(true)
	c.meter.stopCookies()
	b := a.heads[a.used : a.used+headerSize]
	a.used += headerSize
	copy(b, o.head[:])
	a.add(b, int(o.share))
	o.share = 0
}

// control passes a frame without a body.
func (c *Conn) control(a *assembly, h header, now time.Duration, ride bool) {
	o := &c.out
	if h.kind <= kindWindow {
		if c.wasReset(h.stream) {
			o.share = 0
			return
		}
		c.meter.sent(h, now)
		if ride && h.carries() {
			c.ride(a, now)
		}
	}
	if h.kind == kindGoAway {
		c.meter.stopCookies()
	}
	a.head(c.codec, h, int(o.share))
	o.share, o.began = 0, true
	c.meter.wroteFrame(now)
}

// body takes bytes of a Data frame's body, in SDUs with headers of their own:
// SYN and ACK on the first, FIN and RST on the last, so that what the frame
// says happens when it did.
func (c *Conn) body(a *assembly, p []byte, now time.Duration, ride bool) []byte {
	o := &c.out
	if o.sdu == 0 && c.wasReset(o.frame.stream) {
		o.void = true // reset since the frame began
	}
	if o.void {
		n := atMost(len(p), o.left)
		o.left -= uint32(n)
		return p[n:]
	}
	if o.sdu == 0 {
		if ride && !o.begun && o.frame.carries() {
			c.ride(a, now)
		}
		c.nextSDU(a, now)
	}
	n := atMost(min(len(p), c.limit-a.size), o.sdu)
	a.add(p[:n], n)
	o.sdu -= uint32(n)
	o.left -= uint32(n)
	return p[n:]
}

// nextSDU writes the header of the frame's next SDU.
func (c *Conn) nextSDU(a *assembly, now time.Duration) {
	o := &c.out
	h := o.frame
	if sdu := c.nextLength(); sdu > 0 && o.left > sdu {
		h.length = sdu
		h.flags &^= flagFIN | flagRST
		if !o.begun {
			o.counts.pending.splits++
		}
	} else {
		h.length = o.left
	}
	if o.begun {
		h.flags &^= flagSYN | flagACK
	}
	a.head(c.codec, h, int(o.share))
	o.share, o.sdu, o.begun, o.began = 0, h.length, true, true
	c.meter.askedFor(now)
	c.meter.wroteFrame(now)
}

// sduGrowth is how many times the first SDU of a frame the later ones may be. More
// saves headers where the path is fast, and a reader sees nothing while one is on
// its way: 64 KiB take half a second at 1 Mbit/s, which must not look like a stall.
const sduGrowth = 4

// cutAbove is the longest frame that a peer wrapped like us sends: 0 for no limit
// is none here either.
func cutAbove(sdu int) uint32 {
	if sdu == 0 {
		return math.MaxUint32
	}
	return uint32(sduGrowth * sdu)
}

// nextLength is the largest body of the frame's next SDU, 0 for no limit. Each is up
// to as large as all of the frame before it: the first byte waits for one SDU alone,
// who reads has at least half of what has come, and a peer that reads each header by
// itself has fewer to read.
func (c *Conn) nextLength() uint32 {
	if c.sdu == 0 {
		return 0
	}
	done := c.out.frame.length - c.out.left
	return max(uint32(c.sdu), min(done, uint32(min(sduGrowth*c.sdu, c.limit/2))))
}

// ride puts a cookie in front of the frame that follows, if one is due.
func (c *Conn) ride(a *assembly, now time.Duration) {
	if a.cookie != 0 || !c.meter.cookieDue(now) {
		return
	}
	if v, ok := c.meter.issue(now); ok {
		a.head(c.codec, c.codec.cookie(v), 0)
		a.cookie = v
	}
}

// blocked is how long a write must have taken for its cookie to count as held
// up by our own queue: an unhindered one takes some microseconds.
const blocked = time.Millisecond

// send puts the assembly on the wire.
func (c *Conn) send(a *assembly, now time.Duration) (int, error) {
	if a.pieces == 0 {
		return 0, nil
	}
	loaded := a.cookie != 0 && c.kernel.unsent() > 0
	wire, err := a.flush(c.inner, c.vector)
	c.sent(a.cookie, wire, a.frames, now, loaded, err)
	return wire, err
}

// sent counts a write of whoever holds the turn, and settles its cookie.
func (c *Conn) sent(v cookie.Value, wire int, frames uint64, began time.Duration, loaded bool, err error) {
	c.out.counts.wrote(frames, wire, began)
	c.settleCookie(v, wire, began, loaded, err)
}

// settleCookie withdraws a cookie that never left, and marks one that our own
// queue held up.
func (c *Conn) settleCookie(v cookie.Value, wire int, began time.Duration, loaded bool, err error) {
	switch {
	case v == 0:
	case err != nil && wire == 0:
		c.meter.withdraw(v)
	case loaded || c.meter.now()-began > blocked:
		c.meter.markLoaded(v)
	}
}
