package mux

import (
	"io"
	"net"
	"time"
)

const (
	// lingerMax is how long a closed connection goes on taking the peer's
	// last bytes: some round trips of the farthest path, and time for a send
	// queue to empty.
	lingerMax = 10 * time.Second
	// lingerWait is how long Close itself waits for that. A peer on this
	// machine or network has closed by then. It must be short: yamux calls
	// Close under a lock, with the session's waiting streams spinning.
	lingerWait = 5 * time.Millisecond
)

// halfCloser is a conn that can end its writing side alone.
type halfCloser interface{ CloseWrite() error }

// Close ends the connection; a waiting Read or Write returns at once. Over a
// socket of the kernel's, if our last frame is out whole and the peer may
// still be reading, Close ends our writing side only and goes on taking what
// the peer sends, until it closes too: for 5 ms in the call, and for up to
// 10 s behind it. Later calls return the first one's result.
//
// Why it lingers: a kernel answers bytes that a closed socket has not read, or
// that come for it later, with a reset, and forgets with it what of our own
// data has not left yet. A yamux peer always has such bytes under way: window
// updates for what it reads, and with us the echoes of cookies. So closing a
// stream and then the session can lose the stream's tail. A bare session does
// (hashicorp/yamux issue 86, and its own half-close test, which fails now and
// then); a shim that only closed would do so more often, for it reads ahead
// and so empties the socket at other times. A peer's yamux closes when it has
// read our end; to wait for that loses nothing.
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
	woken := c.deadlines.wake(c.inner) // else only closing the conn ends a waiting Read
	flushed := c.async == nil || c.async.drain()
	half, ok := c.inner.(halfCloser)
	if !ok || !woken || !flushed || !kernelSocket(c.inner) || c.ended.Load() || !c.finishWriting(half) {
		return c.inner.Close()
	}
	done := make(chan error, 1)
	go func() { done <- c.linger() }()
	wait := time.NewTimer(lingerWait)
	defer wait.Stop()
	select {
	case err := <-done:
		return err
	case <-wait.C:
		return nil
	}
}

// kernelSocket says whether conn is, or wraps, a socket of the kernel's: only
// those answer late bytes with a reset.
func kernelSocket(conn net.Conn) bool {
	if tcp(conn) != nil {
		return true
	}
	_, unix := conn.(*net.UnixConn)
	return unix
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

// linger takes what the peer still sends until it ends, then closes.
func (c *Conn) linger() error {
	// The waiting Read is on its way out, and no later one gets as far as the
	// inner conn: the turn need not be kept, so that those return at once.
	c.in.turn.acquire()
	c.in.turn.release()
	if c.deadlines.end(c.inner, time.Now().Add(lingerMax)) == nil {
		_, _ = io.Copy(io.Discard, struct{ io.Reader }{c.inner})
	}
	return c.inner.Close()
}
