package mux

import "time"

const (
	// lingerMax is how long a closed connection goes on taking the peer's
	// last bytes, at most: some round trips of the farthest path, and time to
	// empty a send queue.
	lingerMax = 10 * time.Second
	// lingerRead is for how long, and two round trips more, a Read that waits
	// when the connection is closed does that taking.
	lingerRead = 100 * time.Millisecond
)

// halfCloser is a conn that can end its writing side alone.
type halfCloser interface{ CloseWrite() error }

// Close ends the connection. A waiting Write returns at once, and so does a
// waiting Read unless the connection lingers: if the last frame is out whole
// and the peer may still be reading, Close ends our writing side only, and
// what the peer still sends is taken and dropped, until it closes too. The
// waiting Read does so for 100 ms and two round trips at most, then a
// goroutine for up to 10 s. Later calls return the first one's result.
//
// Why it lingers: a kernel answers bytes that a closed socket has not read, or
// that come for it later, with a reset, and a reset throws away what of our
// own data has not arrived yet. A yamux peer always has such bytes under way:
// window updates for what it reads, and with us the echoes of cookies. So
// closing a stream and then the session can lose the stream's tail, on a bare
// session too (hashicorp/yamux issue 86, and its own half-close test, which
// fails now and then). A peer's yamux closes when it has read our end; waiting
// for that loses nothing, and costs a round trip.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		c.closed.Store(true)
		c.meter.close()
		c.watcher.leave()
		c.result = c.shutdown()
	})
	return c.result
}

func (c *Conn) shutdown() error {
	flushed := c.async == nil || c.async.drain()
	half, ok := c.inner.(halfCloser)
	if !ok || !flushed || c.ended.Load() || !c.finishWriting(half) {
		return c.inner.Close()
	}
	c.meter.mu.Lock()
	wait := lingerRead + 2*c.meter.path.BaseRTT
	c.meter.mu.Unlock()
	// Should nobody ever read again, the conn must not stay open for that.
	c.lastly.Store(time.AfterFunc(2*lingerMax, func() { c.inner.Close() }))
	if c.deadlines.end(c.inner, time.Now().Add(min(wait, lingerMax))) != nil {
		return c.inner.Close()
	}
	if c.in.turn.try() { // nobody is reading
		go c.linger()
	}
	return nil
}

// finishWriting ends our side after a whole frame. It refuses while a write is
// under way, or after a failed one: the stream is broken then, and waiting
// would only hold up that write.
func (c *Conn) finishWriting(half halfCloser) bool {
	o := &c.out
	if !o.turn.try() {
		return false
	}
	defer o.turn.release()
	if o.err != nil || !o.began || !o.boundary() {
		return false
	}
	if c.inner.SetWriteDeadline(time.Now().Add(lingerMax)) != nil {
		return false
	}
	return half.CloseWrite() == nil
}

// lastRead is what a Read that waits, or comes, does once the connection is
// closed: it takes what the peer still sends. The caller holds the reading
// turn; it is not given back if a goroutine goes on with it.
func (c *Conn) lastRead() (passed bool) {
	if c.lastly.Load() == nil || c.lingered {
		return false
	}
	c.lingered = true
	if isTimeout(c.discard()) {
		go c.linger()
		return true
	}
	c.endLinger()
	return false
}

// linger goes on taking what the peer sends until it ends, then closes.
func (c *Conn) linger() {
	defer c.in.turn.release()
	c.lingered = true
	if c.inner.SetReadDeadline(time.Now().Add(lingerMax)) == nil {
		c.discard()
	}
	c.endLinger()
}

// discard reads to the end of the peer's bytes, or to the deadline.
func (c *Conn) discard() error {
	b := make([]byte, idleBuffer)
	for {
		if _, err := c.inner.Read(b); err != nil {
			return err
		}
	}
}

func (c *Conn) endLinger() {
	c.lastly.Load().Stop()
	c.inner.Close()
}
