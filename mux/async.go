package mux

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/assay-mux/assay/cookie"
)

const (
	// asyncLimit bounds the queue. Below two large frames it gains nothing,
	// above this knee nothing more.
	asyncLimit = 256 << 10
	// asyncFlush is how long Close waits for the queue to leave.
	asyncFlush = time.Second
)

// errClosing refuses what comes while Close lets the queue leave.
var errClosing = fmt.Errorf("mux: the connection is being closed: %w", net.ErrClosed)

// asyncWriter lets the host's Write return before the kernel has the bytes.
// Its goroutine writes whole queues at a time.
type asyncWriter struct {
	conn *Conn

	mu     sync.Mutex // guards the rest; never held across a write
	change sync.Cond  // queue, busy, err or done changed
	queue  []byte     // behind headerSize bytes kept free for a cookie
	spare  []byte
	rides  bool   // the queue begins with a frame that may carry a cookie
	frames uint64 // in the queue
	busy   bool   // a write is under way
	closed bool
	err    error
	done   chan struct{}
}

func newAsyncWriter(c *Conn) *asyncWriter {
	w := &asyncWriter{conn: c, done: make(chan struct{})}
	w.change.L = &w.mu
	go w.run()
	return w
}

// write takes the host's bytes. The caller holds the writing turn. A small
// write with nothing before it goes straight to the conn.
func (w *asyncWriter) write(c *Conn, p []byte, now time.Duration) (int, error) {
	a := assemblies.Get().(*assembly)
	defer assemblies.Put(a)
	taken := 0
	for {
		a.reset()
		inline := len(p) <= inlined && w.claim()
		before := c.out.position
		rest := c.assemble(a, p, now, inline)
		wire, err := 0, error(nil)
		if inline {
			if wire, err = c.send(a, now); passes(wire, err) {
				w.unclaim(nil)
			} else {
				w.unclaim(err)
			}
		} else {
			err = w.put(a)
		}
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

// claim takes the conn for a write of the caller's own if it is idle.
func (w *asyncWriter) claim() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy || len(w.queue) > 0 || w.err != nil || w.closed {
		return false
	}
	w.busy = true
	return true
}

func (w *asyncWriter) unclaim(err error) {
	w.mu.Lock()
	w.busy = false
	w.fail(err)
	w.change.Broadcast()
	w.mu.Unlock()
}

// fail keeps the first error of the conn. The caller holds mu.
func (w *asyncWriter) fail(err error) {
	if err != nil && w.err == nil {
		w.err = err
	}
}

// put queues the assembly, waiting for room.
func (w *asyncWriter) put(a *assembly) error {
	if a.pieces == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) > 0 && len(w.queue)+a.size > asyncLimit && w.err == nil && !w.closed {
		w.change.Wait()
	}
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return errClosing
	}
	if len(w.queue) == 0 {
		w.queue = append(w.queue, make([]byte, headerSize)...)
		w.rides = a.rides
	}
	w.queue = a.flatten(w.queue)
	w.frames += a.frames
	w.change.Broadcast()
	return nil
}

// run writes the queue out until the connection is closed or fails.
func (w *asyncWriter) run() {
	defer close(w.done)
	for {
		b, ok := w.take()
		if !ok {
			return
		}
		w.unclaim(w.flush(b))
	}
}

// flight is a queue on its way out.
type flight struct {
	buf    []byte // headerSize bytes, free for a cookie, then frames
	rides  bool
	frames uint64
}

// take waits for something to write, and claims the conn for it.
func (w *asyncWriter) take() (flight, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for (len(w.queue) == 0 || w.busy) && w.err == nil && !(w.closed && len(w.queue) == 0) {
		w.change.Wait()
	}
	if w.err != nil || len(w.queue) == 0 {
		return flight{}, false
	}
	f := flight{buf: w.queue, rides: w.rides, frames: w.frames}
	w.queue, w.spare = w.spare[:0], w.queue
	w.frames, w.busy = 0, true
	w.change.Broadcast()
	return f, true
}

// flush writes one queue. The cookie is made here, so that the time in the
// queue is not in its round trip.
func (w *asyncWriter) flush(f flight) error {
	c := w.conn
	now := c.meter.now()
	out, v := f.buf[headerSize:], cookie.Value(0)
	if f.rides && c.meter.cookieDue(now) {
		var ok bool
		if v, ok = c.meter.issue(now); ok {
			c.codec.encode(f.buf, c.codec.cookie(v))
			out = f.buf
			f.frames++
		}
	}
	loaded := v != 0 && c.kernel.unsent() > 0
	n, err := c.inner.Write(out)
	c.out.counts.add(tally{frames: f.frames, bytes: uint64(n), writes: 1})
	c.settleCookie(v, n, now, loaded, err)
	return err
}

// drain lets the queue leave, for at most asyncFlush, and ends the goroutine.
// It returns false if a write is stuck; closing the conn then frees it.
func (w *asyncWriter) drain() bool {
	w.mu.Lock()
	w.closed = true
	w.change.Broadcast()
	w.mu.Unlock()
	wait := time.NewTimer(asyncFlush)
	defer wait.Stop()
	select {
	case <-w.done:
		return true
	case <-wait.C:
		return false
	}
}

// idle says that nothing is queued, under way or cut short by an error: what
// came next would be read as the rest of it. A nil writer always is.
func (w *asyncWriter) idle() bool {
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.busy && len(w.queue) == 0 && w.err == nil
}
