package mux

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// longAgo is a deadline that has passed on every clock, virtual ones included.
var longAgo = time.Unix(1, 0)

// deadlines keeps the host's read deadline apart from our own use of it: a
// Read that waits for the peer can only be called back by a deadline that has
// passed.
type deadlines struct {
	mu     sync.Mutex // guards the rest; setting a deadline does not block
	read   time.Time  // the host's
	waking bool       // the inner conn's deadline is ours
	ended  bool       // and stays so: the connection is closed
}

func (d *deadlines) setRead(conn net.Conn, t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read = t
	if d.waking || d.ended {
		return nil
	}
	return conn.SetReadDeadline(t)
}

// wake calls a waiting Read back. Where the conn has no deadlines it comes
// back with the peer's next bytes, and wake returns false.
func (d *deadlines) wake(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waking = !d.ended && conn.SetReadDeadline(longAgo) == nil
	return d.waking
}

// end takes the deadline over for good.
func (d *deadlines) end(conn net.Conn, t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended, d.waking = true, false
	return conn.SetReadDeadline(t)
}

// woken says whether err is the end of a wait that wake cut short, and gives
// the host its deadline back.
func (d *deadlines) woken(conn net.Conn, err error) bool {
	if !isTimeout(err) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.waking {
		return false
	}
	d.waking = false
	_ = conn.SetReadDeadline(d.read)
	return true
}

// isTimeout says whether err is a deadline's, which is never kept.
func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}
