package mux

import (
	"io"
	"time"
)

const (
	// lingerMax is how long a closed connection goes on taking the peer's
	// last bytes: some round trips of the farthest path.
	lingerMax = 2 * time.Second
	// lingerWait is how long Close itself waits for that.
	lingerWait = 100 * time.Millisecond
)

// halfCloser is a conn that can end its writing side alone.
type halfCloser interface{ CloseWrite() error }

// Close ends the connection. A waiting Read or Write returns at once. If the
// last frame is out whole and the peer may still be reading, Close ends our
// writing side first and takes what the peer still sends, for 100 ms in the
// call and up to 2 s behind it. Later calls return the first one's result.
//
// Why it lingers: the kernel answers bytes that a closed socket did not read,
// or that come for it later, with a reset, and a reset throws away what of our
// own data has not left yet. A yamux peer always has such bytes under way: the
// window updates for what it reads, and with us the echoes of cookies. So a
// stream closed cleanly and the session right after it can lose the stream's
// tail (hashicorp/yamux issue 86 on a bare session). Taking those bytes until
// the peer has closed too, as it does on reading our end, loses nothing.
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
	c.deadlines.wake(c.inner)
	half, ok := c.inner.(halfCloser)
	if c.async != nil && !c.async.drain() || !ok || c.ended.Load() || !c.finishWriting(half) {
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

// finishWriting ends our side after a whole frame. It refuses while a write is
// under way, or after a failed one: the stream is broken then, and waiting
// would only keep that write.
func (c *Conn) finishWriting(half halfCloser) bool {
	o := &c.out
	if !o.turn.try() {
		return false
	}
	defer o.turn.release()
	if o.err != nil || !o.began || o.sdu > 0 {
		return false
	}
	if c.inner.SetWriteDeadline(time.Now().Add(lingerMax)) != nil {
		return false
	}
	return half.CloseWrite() == nil
}

// linger reads the peer's last bytes to their end, then closes.
func (c *Conn) linger() error {
	c.in.turn.acquire() // the waiting Read is on its way out
	defer c.in.turn.release()
	if c.inner.SetReadDeadline(time.Now().Add(lingerMax)) == nil {
		_, _ = io.Copy(io.Discard, struct{ io.Reader }{c.inner})
	}
	return c.inner.Close()
}
