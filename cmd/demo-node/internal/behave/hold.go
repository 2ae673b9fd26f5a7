package behave

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// Conn returns a conn for under the server's yamux that keeps the echoes of the
// peer's pings back. All else passes at once. One goroutine may write at a time,
// as yamux does; Close is safe any time.
func (b Behaviour) Conn(c net.Conn) net.Conn {
	if b.Hold <= 0 {
		return c
	}
	h := &holding{Conn: c, hold: b.Hold, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	h.turn <- struct{}{}
	return h
}

// The header of a yamux frame: version, type, flags, stream, length.
const (
	headerSize = 12
	typeData   = 0
	typePing   = 2
	flagAck    = 2
)

// holding takes pongs out of what is written and sends each later, between two
// frames.
type holding struct {
	net.Conn
	hold time.Duration

	turn chan struct{} // who holds it writes, and owns the following
	head []byte        // of a header that is not whole yet
	body int64         // bytes of a frame's body still to come

	mu     sync.Mutex
	held   []pong // by when they are due; guarded by mu
	ended  bool   // closed; guarded by mu
	timers sync.WaitGroup
	closed chan struct{} // with ended
}

type pong struct {
	due   time.Time
	frame [headerSize]byte
}

// NetConn is the conn inside.
func (h *holding) NetConn() net.Conn { return h.Conn }

func (h *holding) Write(p []byte) (int, error) {
	<-h.turn
	defer func() { h.turn <- struct{}{} }()
	out := make([]byte, 0, len(p)+headerSize)
	for rest := p; len(rest) > 0; {
		var n int
		out, n = h.pass(out, rest)
		rest = rest[n:]
		if h.between() {
			out = h.release(out)
		}
	}
	if len(out) == 0 {
		return len(p), nil
	}
	if n, err := h.Conn.Write(out); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// between says whether no frame is half written.
func (h *holding) between() bool { return h.body == 0 && len(h.head) == 0 }

// pass moves some of p to out, or aside, and says how much.
func (h *holding) pass(out, p []byte) ([]byte, int) {
	if h.body > 0 {
		n := int(min(h.body, int64(len(p))))
		h.body -= int64(n)
		return append(out, p[:n]...), n
	}
	n := min(headerSize-len(h.head), len(p))
	h.head = append(h.head, p[:n]...)
	if len(h.head) < headerSize {
		return out, n
	}
	head := h.head
	h.head = h.head[:0]
	switch {
	case head[1] == typeData:
		h.body = int64(binary.BigEndian.Uint32(head[8:]))
	case head[1] == typePing && binary.BigEndian.Uint16(head[2:])&flagAck != 0:
		h.keep(head)
		return out, n
	}
	return append(out, head...), n
}

// keep holds a pong back.
func (h *holding) keep(frame []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.held = append(h.held, pong{time.Now().Add(h.hold), [headerSize]byte(frame)})
	h.timers.Go(h.later)
}

// later sends what is due after one hold, if no Write has done so by then. If a
// frame is half written, the Write that ends it will.
func (h *holding) later() {
	t := time.NewTimer(h.hold)
	defer t.Stop()
	select {
	case <-h.closed:
		return
	case <-t.C:
	}
	select {
	case <-h.closed:
		return
	case <-h.turn:
	}
	defer func() { h.turn <- struct{}{} }()
	if !h.between() {
		return
	}
	if out := h.release(nil); len(out) > 0 {
		_, _ = h.Conn.Write(out) // yamux will see the error by itself
	}
}

// release appends the pongs that are due.
func (h *holding) release(out []byte) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for len(h.held) > 0 && !h.held[0].due.After(now) {
		out = append(out, h.held[0].frame[:]...)
		h.held = h.held[1:]
	}
	return out
}

// Close closes the conn and drops what is held.
func (h *holding) Close() error {
	h.mu.Lock()
	if !h.ended {
		h.ended = true
		close(h.closed)
	}
	h.mu.Unlock()
	err := h.Conn.Close()
	h.timers.Wait()
	return err
}
