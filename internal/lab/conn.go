package lab

import (
	"errors"
	"io"
	"net"
	"time"
)

var _ net.Conn = (*Conn)(nil)

// Addr names an end of a simulated path.
type Addr string

// Network is "lab".
func (Addr) Network() string { return "lab" }

// String is the name of the end, "a" or "b".
func (a Addr) String() string { return string(a) }

// Conn is one end of a simulated path. It behaves as a TCP connection does: its
// errors are *net.OpError around net.ErrClosed, os.ErrDeadlineExceeded or
// syscall.EPIPE, and each Write is contiguous. It starts no goroutine. Safe for
// concurrent use; a Close or a deadline wakes a Read or Write that waits.
type Conn struct {
	r, w          *half
	local, remote Addr
}

// Read returns all bytes that have arrived and fit into p, as many segments as
// that is, and waits if there are none. It returns io.EOF when all that the
// peer wrote before it closed has been read and the end mark has arrived.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.r.read(p)
	return n, c.wrap("read", err)
}

// Write copies p onto the link and waits for room in its buffer, not for
// delivery. Where it fails it says how many bytes were taken. After the peer
// has closed it succeeds until the refusal is back, as with TCP.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.w.write(p)
	return n, c.wrap("write", err)
}

// Close ends both directions. The peer can still read what was written. It
// returns net.ErrClosed the second time.
func (c *Conn) Close() error {
	c.w.closeWrite()
	if !c.r.closeRead() {
		return c.wrap("close", net.ErrClosed)
	}
	return nil
}

// CloseWrite ends the direction out; reading goes on. It returns net.ErrClosed
// the second time.
func (c *Conn) CloseWrite() error {
	if !c.w.closeWrite() {
		return c.wrap("close", net.ErrClosed)
	}
	return nil
}

// LocalAddr names this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr names the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines; the zero time means none.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline makes every Read fail from t on, one that waits too.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.wrap("set", c.r.setReadBy(t))
}

// SetWriteDeadline makes every Write fail from t on, one that waits too.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.wrap("set", c.w.setWriteBy(t))
}

func (c *Conn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}
