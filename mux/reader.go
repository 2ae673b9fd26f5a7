package mux

import (
	"io"
	"net"
	"time"
)

const (
	// idleBuffer is what a connection reads into until a read fills it, and
	// again when reads have become small: ten thousand idle connections then
	// hold 40 MB, not gigabytes. It is what yamux itself uses.
	idleBuffer = 4 << 10
	// quietRead is the size of a read below which the large buffer goes back.
	// It is below the small one, so that no size of read makes the two
	// alternate.
	quietRead = 2 << 10
)

// inbound is the reading side. Whoever holds the turn owns the rest.
//
// buf[r:ready] may be handed up; buf[ready:w] is a header not yet whole.
type inbound struct {
	turn   turn
	idle   []byte // the small buffer
	chunk  *chunk // the large one, while there is need
	buf    []byte // whichever is in use
	r      int
	ready  int
	w      int
	grow   bool          // the last read filled the buffer
	shrink bool          // it was small
	done   bool          // it ended what the peer was sending, on all streams
	ahead  bool          // it ended with the header of a large frame
	going  bool          // it went straight to the host, and its frame goes on
	empty  uint8         // reads in a row that brought nothing
	left   time.Duration // when the last read returned
	err    error         // of the inner conn, once and for all

	body    uint32   // bytes of the current frame's body still to arrive
	stream  uint32   // whose it is
	account *account // where it counts, nil for nowhere
	drop    bool     // it is kept from the host
	pieces  pieces   // how the host gets it
	void    uint32   // bytes of a frame cut short by a reset, to be made up
	inject  []byte   // frames of ours for the local multiplexer
	raw     bool     // these are not frames of a protocol we know
}

// Read hands the local multiplexer the peer's bytes, less the echoes of our
// cookies, long frames perhaps in several. A read that brought only such echoes is
// followed by another: n is never 0 without an error. Bytes come before the error they
// came with; a deadline's error is not kept.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.in.turn.acquire()
	n, err := c.read(p)
	c.in.turn.release()
	return n, err
}

func (c *Conn) read(p []byte) (int, error) {
	in := &c.in
	for {
		if c.resets.pending.Load() {
			c.applyResets()
		}
		if c.closed.Load() {
			return 0, net.ErrClosed
		}
		if n := in.deliver(p); n > 0 {
			return n, nil
		}
		if in.err != nil {
			return in.finish(p)
		}
		host := p[:in.straight(len(p))]
		if len(host) == 0 {
			in.makeRoom()
		}
		n, err := c.receive(host)
		if err != nil || len(host) > 0 && n > 0 {
			return n, err
		}
	}
}

// straightLeast is how much of a frame's body must be outstanding for it to be
// read into the host's own slice: for less, another call to the kernel costs more
// than the copy that it saves.
const straightLeast = 64 << 10

// straight is how many of the next bytes may be read into the host's own slice,
// which has room for so many: those of a body that are the host's alone, if they
// are many or the rest of a frame that was read so. There is nothing to deliver.
func (in *inbound) straight(room int) int {
	if in.body == 0 || in.drop || in.pieces.cut {
		return 0
	}
	n := atMost(room, in.body)
	if n >= straightLeast || in.going && n == int(in.body) {
		return n
	}
	return 0
}

// deliver hands up what is ready: bytes of the peer's, then, where a frame or a
// piece of one ends, bytes of ours.
func (in *inbound) deliver(p []byte) int {
	if in.r < in.ready {
		n := copy(p, in.buf[in.r:in.ready])
		in.r += n
		return n
	}
	if in.void > 0 {
		n := atMost(len(p), in.void)
		clear(p[:n])
		in.void -= uint32(n)
		return n
	}
	if len(in.inject) > 0 && (in.body == 0 || in.drop || in.pieces.cut) {
		n := copy(p, in.inject)
		in.inject = in.inject[n:]
		return n
	}
	return 0
}

// finish hands up a header cut short by the end, as the host would have seen
// it, and then the error.
func (in *inbound) finish(p []byte) (int, error) {
	if in.ready < in.w {
		in.ready = in.w
		return in.deliver(p), nil
	}
	return 0, in.err
}

// receive reads once from the inner conn, straight into the host's slice if there
// is any of it, else into the buffer. It returns an error only where the host must
// see it although the connection may go on: a deadline's.
func (c *Conn) receive(host []byte) (int, error) {
	in, m := &c.in, c.meter
	into, straight := host, len(host) > 0
	if !straight {
		into = in.buf[in.w+in.lead():]
	}
	// A second clock read, which all frames of the batch share: it shows
	// whether the data had waited for us, or we for the data.
	began := m.now()
	m.reading.Store(true)
	n, err := c.inner.Read(into)
	m.reading.Store(false)
	now := m.now()
	in.grow, in.shrink = n == len(into), n < quietRead
	if straight { // a header is next, for which the small buffer does
		in.grow, in.shrink = false, true
	}
	if n > 0 {
		c.absorb(n, straight, began, now)
	}
	in.left = now
	c.kernel.poll(m, now)
	return n, c.settle(n, err)
}

// makeRoom readies the buffer for a read: large while reads fill it, small
// while they do not, and once the peer has ended all that it was sending, for
// then the next read may wait for hours. yamux writes a header by itself, so a
// read that ends with one says nothing of the next. Only part of a header can
// be left in the buffer.
func (in *inbound) makeRoom() {
	old, tail := in.chunk, in.buf[in.ready:in.w]
	switch {
	case in.grow && !in.done && in.chunk == nil && in.buf != nil:
		in.chunk = chunks.Get().(*chunk)
		in.buf = in.chunk[:]
	case (in.shrink || in.done) && !in.ahead && in.chunk != nil, in.buf == nil:
		if in.idle == nil {
			in.idle = make([]byte, idleBuffer)
		}
		in.chunk, in.buf = nil, in.idle
	}
	in.r, in.ready, in.w = 0, 0, copy(in.buf, tail)
	if old != nil && old != in.chunk {
		chunks.Put(old)
	}
}

// settle sorts an error of the inner conn: kept, passing, or of our making.
func (c *Conn) settle(n int, err error) error {
	switch {
	case err == nil && n > 0:
		c.in.empty = 0
	case err == nil:
		if c.in.empty++; c.in.empty > emptyReads {
			c.in.err = io.ErrNoProgress
		}
	case c.deadlines.woken(c.inner, err):
		// Reset or Close wants the reader's attention.
	case isTimeout(err):
		if n == 0 {
			return err
		}
	default:
		c.in.err = err
		c.ended.Store(true)
	}
	return nil
}

// emptyReads is how many reads without bytes or error are put up with.
const emptyReads = 100

// batch is what one read brought to the meter.
type batch struct {
	silence
	bytes   int           // payload that counts
	own     time.Duration // our part of the gap before it
	queued  bool          // it had waited for us
	unasked bool          // none of it can answer a request of ours
	echoed  bool          // an echo was taken as a sample
}

// absorb takes n new bytes in: measures them and strips what is ours, of which there
// is none in what was read straight.
func (c *Conn) absorb(n int, straight bool, began, now time.Duration) {
	in, m := &c.in, c.meter
	m.mu.Lock()
	m.counts.Reads++
	m.counts.BytesIn += uint64(n)
	busy := m.ledger.busy > 0
	b := batch{silence: silence{last: m.lastPayload, now: now, left: in.left, began: began}}
	if straight {
		in.ahead = false
		in.body -= uint32(n)
		in.going = in.body > 0
		c.count(&b, n)
	} else {
		in.going = false
		in.w += in.lead() + n
		c.parse(&b)
	}
	sample, closed := m.arrive(&b)
	in.done = busy && m.ledger.busy == 0 && in.body == 0
	m.mu.Unlock()
	m.emit(sample, closed)
}

// parse walks the new bytes and closes up the holes that stripped frames
// leave. Without one nothing is moved. Of a frame that is cut, its header is a
// hole, or the room left in front of the buffer: for the header of this piece.
// The caller holds the meter's lock.
func (c *Conn) parse(b *batch) {
	in := &c.in
	from, to := in.ready+in.lead(), in.ready
	for from < in.w {
		n, keep := in.w-from, true
		switch {
		case in.raw:
		case in.body > 0:
			n = atMost(n, in.body)
			if keep = !in.drop; keep && in.pieces.cut {
				c.codec.encode(in.buf[to:], in.pieces.next(uint32(n)))
				to += headerSize
			}
			in.body -= uint32(n)
			in.ahead = false
			c.count(b, n)
		case n < headerSize:
			in.ready, in.w = to, to+copy(in.buf[to:], in.buf[from:in.w])
			return
		default:
			n, keep = headerSize, c.frame(b, in.buf[from:from+headerSize])
		}
		if keep {
			if from != to {
				copy(in.buf[to:], in.buf[from:from+n])
			}
			to += n
		}
		from += n
	}
	in.ready, in.w = to, to
}

// frame acts on an inbound header and says whether the host may see it.
func (c *Conn) frame(b *batch, head []byte) bool {
	in, m := &c.in, c.meter
	h, ok := c.codec.decode(head)
	if !ok {
		in.raw = true
		m.counts.TransparentIn = true
		m.stopCookies()
		return true
	}
	m.counts.FramesIn++
	switch h.kind {
	case kindPing:
		v, ok := c.codec.echo(h)
		if !ok || !c.cookies {
			return true
		}
		m.echo(v, b)
		return false
	case kindGoAway:
		m.stopCookies()
		return true
	case kindData, kindWindow:
	}
	in.stream, in.body = h.stream, h.body()
	in.ahead = in.body > idleBuffer
	in.account = m.arrived(h, b.now)
	in.drop = c.wasReset(h.stream)
	cut := !in.drop && in.pieces.begin(h, c.cutAbove, b.now)
	if cut {
		m.counts.Cuts++
	}
	return !in.drop && !cut
}

// count books n bytes of the current frame's body; what is in body comes after them.
func (c *Conn) count(b *batch, n int) {
	in, m := &c.in, c.meter
	if in.body == 0 {
		in.pieces.end(b.now)
	}
	switch {
	case in.drop:
		m.counts.LateBytes += uint64(n)
	case in.account == nil:
		m.counts.UncountedIn += uint64(n)
	default:
		m.payload(in.account, b, n)
	}
}
