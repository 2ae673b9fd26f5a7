package mux

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Conn is a net.Conn under a multiplexer. What the local multiplexer reads
// from it is what the peer sent, less the echoes of our cookies; what the peer
// reads is what the local multiplexer wrote, with cookies between its frames.
// Large frames are split in both directions. Bytes that are not frames it knows
// pass as they are.
//
// All methods are safe for concurrent use. Only Read, Write and Close reach
// the inner conn's; its ReadFrom and WriteTo are out of reach, for they would
// go past the measuring.
type Conn struct {
	inner    net.Conn
	codec    codec
	cookies  bool
	sdu      int
	cutAbove uint32 // the longest inbound Data frame that the host always gets whole
	limit    int    // of one write
	vector   bool   // the inner conn takes vectored writes
	watcher  *Watcher
	kernel   *probe
	async    *asyncWriter
	meter    *Meter

	in        inbound
	out       outbound
	resets    resets
	deadlines deadlines

	closed  atomic.Bool
	ended   atomic.Bool // the inner conn's reading side has failed or ended
	closing sync.Once
	result  error // of Close
}

var _ net.Conn = (*Conn)(nil)

// Wrap returns conn with the shim around it, for a host that makes its own
// yamux session, hashicorp's or libp2p's, on it. Closing it closes conn.
func Wrap(conn net.Conn, opts ...Option) *Conn {
	o := newOptions(opts)
	c := &Conn{
		inner:    conn,
		codec:    yamuxCodec{},
		cookies:  o.cookies,
		sdu:      o.sdu,
		cutAbove: cutAbove(o.sdu),
		limit:    flattened,
		watcher:  o.watcher,
	}
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
		c.vector, c.limit = true, vectored
	}
	if o.kernel {
		c.kernel = newProbe(conn)
	}
	c.in.turn.init()
	c.out.turn.init()
	c.meter = newMeter(&o, &c.out.counts)
	c.meter.lone, c.meter.settle = c.loneCookie, c.publishCounts
	// The kernel timed its own handshake, more exactly than whoever dialled: a
	// busy process is late to see it end.
	c.kernel.note(c.meter, c.meter.now())
	if o.async {
		c.async = newAsyncWriter(c)
	}
	c.watcher.join()
	return c
}

// Meter returns what measures this connection.
func (c *Conn) Meter() *Meter { return c.meter }

// NetConn returns the conn inside. Reading or writing it breaks the framing.
func (c *Conn) NetConn() net.Conn { return c.inner }

// LocalAddr returns the inner conn's local address.
func (c *Conn) LocalAddr() net.Addr { return c.inner.LocalAddr() }

// RemoteAddr returns the inner conn's remote address.
func (c *Conn) RemoteAddr() net.Addr { return c.inner.RemoteAddr() }

// SetDeadline sets both deadlines, see SetReadDeadline and SetWriteDeadline.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets the deadline of Read, now and later.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.deadlines.setRead(c.inner, t) }

// SetWriteDeadline sets the deadline of Write, now and later. With
// asynchronous writes it bounds the write behind the queue.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.inner.SetWriteDeadline(t) }

// plain makes a net.Conn of the io.ReadWriteCloser that yamux also takes.
type plain struct{ io.ReadWriteCloser }

var errNoDeadline = fmt.Errorf("mux: wrap a net.Conn to have deadlines: %w", os.ErrNoDeadline)

func (plain) LocalAddr() net.Addr                { return nil }
func (plain) RemoteAddr() net.Addr               { return nil }
func (plain) SetDeadline(time.Time) error        { return errNoDeadline }
func (plain) SetReadDeadline(t time.Time) error  { return errNoDeadline }
func (plain) SetWriteDeadline(t time.Time) error { return errNoDeadline }

// nameless hides the addresses that a conn does not have, for yamux asks by
// type and would print a nil one.
type nameless struct{ conn net.Conn }

func (n nameless) Read(p []byte) (int, error)  { return n.conn.Read(p) }
func (n nameless) Write(p []byte) (int, error) { return n.conn.Write(p) }
func (n nameless) Close() error                { return n.conn.Close() }

// release undoes Wrap without closing the conn.
func (c *Conn) release() {
	c.closing.Do(func() {
		c.closed.Store(true)
		c.meter.close()
		c.watcher.leave()
		if c.async != nil {
			c.async.drain()
		}
	})
}
