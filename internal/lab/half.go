package lab

import (
	"io"
	"math"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// never is an instant after all others.
const never = time.Duration(math.MaxInt64)

// segment is a run of bytes that arrives at once.
type segment struct {
	arrive time.Duration
	n      int
}

// half is one direction of a path: what one end writes and the other reads.
// Safe for concurrent use.
type half struct {
	base time.Time     // instants are offsets from it
	back time.Duration // delay of the other direction

	// mu guards all below. It is held for moments only: whoever waits, waits
	// on a condition, or a virtual clock would stand still.
	mu       sync.Mutex
	readable sync.Cond // the first segment, the end mark, or a reader's deadline
	writable sync.Cond // room, a writer's turn, or a writer's deadline
	readBy   time.Duration
	writeBy  time.Duration
	reading  alarm
	blocked  alarm

	shape shaper
	segs  fifo[segment]
	bytes byteRing // those of segs

	busy        bool          // a Write has its turn, so that each is contiguous
	writeClosed bool          // no Write any more
	readClosed  bool          // no Read any more: bytes are thrown away
	fin         time.Duration // when the reader learns of writeClosed
	reset       time.Duration // when the writer learns of readClosed
}

func newHalf(l Link, back time.Duration, base time.Time) *half {
	h := &half{
		base: base, back: back, shape: newShaper(l, back),
		readBy: never, writeBy: never, fin: never, reset: never,
	}
	h.readable.L, h.writable.L = &h.mu, &h.mu
	h.reading, h.blocked = newAlarm(&h.readable), newAlarm(&h.writable)
	return h
}

func (h *half) now() time.Duration { return time.Since(h.base) }

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		now := h.now()
		n, err := h.take(now, p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		h.reading.arm(now, min(h.readBy, h.nextEvent()))
		h.readable.Wait()
	}
}

// take moves what has arrived by now into p. Needs mu.
func (h *half) take(now time.Duration, p []byte) (int, error) {
	switch {
	case h.readClosed:
		return 0, net.ErrClosed
	case h.readBy <= now:
		return 0, os.ErrDeadlineExceeded
	case h.segs.len() == 0 && h.fin <= now:
		return 0, io.EOF
	}
	n := h.claim(now, len(p))
	if n > 0 {
		h.bytes.read(p[:n])
		h.writable.Broadcast()
	}
	return n, nil
}

// claim takes at most limit bytes out of the segments that have arrived and
// returns how many. Needs mu.
func (h *half) claim(now time.Duration, limit int) int {
	n := 0
	for n < limit && h.segs.len() > 0 && h.segs.front().arrive <= now {
		s := h.segs.front()
		k := min(limit-n, s.n)
		n += k
		if s.n -= k; s.n == 0 {
			h.segs.pop()
		}
	}
	return n
}

// nextEvent is when a reader has something to see. Needs mu.
func (h *half) nextEvent() time.Duration {
	if h.segs.len() > 0 {
		return h.segs.front().arrive
	}
	return h.fin
}

func (h *half) write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.busy {
		if err := h.writeErr(h.now()); err != nil {
			return 0, err
		}
		h.waitWritable()
	}
	h.busy = true
	defer func() { h.busy = false; h.writable.Broadcast() }()
	for n := 0; ; h.waitWritable() {
		now := h.now()
		if err := h.writeErr(now); err != nil {
			return n, err
		}
		if n += h.put(now, p[n:]); n == len(p) {
			return n, nil
		}
	}
}

// writeErr is why nothing can be written at now, if so. Needs mu.
func (h *half) writeErr(now time.Duration) error {
	switch {
	case h.writeClosed:
		return net.ErrClosed
	case h.writeBy <= now:
		return os.ErrDeadlineExceeded
	case h.reset <= now:
		return syscall.EPIPE
	}
	return nil
}

// put sends as much of p as there is room for. Needs mu.
func (h *half) put(now time.Duration, p []byte) int {
	if h.readClosed {
		h.discard(now, len(p))
		return len(p)
	}
	wake := h.segs.len() == 0
	n, room := 0, h.shape.link.Buffer-h.bytes.len()
	for n < len(p) {
		k := min(h.shape.link.MSS, len(p)-n, h.shape.link.Buffer)
		if k > room {
			break
		}
		h.segs.push(segment{h.shape.send(now, k), k})
		h.bytes.write(p[n : n+k])
		n, room = n+k, room-k
	}
	if wake && n > 0 {
		h.readable.Broadcast()
	}
	return n
}

// discard takes bytes for a reader that has closed: the first to arrive tells
// it, and the refusal travels back. Needs mu.
func (h *half) discard(now time.Duration, n int) {
	if n > 0 && h.reset == never {
		h.reset = h.shape.send(now, min(n, h.shape.link.MSS)) + h.back
	}
}

// waitWritable waits for room, a turn, a deadline or an end. Needs mu.
func (h *half) waitWritable() {
	h.blocked.arm(h.now(), h.writeBy)
	h.writable.Wait()
}

// closeWrite ends the direction after what was written. It reports whether it
// was open.
func (h *half) closeWrite() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writeClosed {
		return false
	}
	h.writeClosed = true
	h.fin = h.shape.fin(h.now())
	h.blocked.stop()
	h.readable.Broadcast()
	h.writable.Broadcast()
	return true
}

// closeRead throws away what the reader has not read, which a writer learns as
// from TCP's reset. It reports whether it was open.
func (h *half) closeRead() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readClosed {
		return false
	}
	h.readClosed = true
	if h.segs.len() > 0 {
		h.reset = max(h.now(), h.segs.front().arrive) + h.back
	}
	h.segs, h.bytes = fifo[segment]{}, byteRing{}
	h.reading.stop()
	h.readable.Broadcast()
	h.writable.Broadcast()
	return true
}

// setReadBy sets the readers' deadline and wakes them to look at it.
func (h *half) setReadBy(t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readClosed {
		return net.ErrClosed
	}
	h.readBy = h.instant(t)
	h.readable.Broadcast()
	return nil
}

// setWriteBy sets the writers' deadline and wakes them to look at it.
func (h *half) setWriteBy(t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writeBy = h.instant(t)
	h.writable.Broadcast()
	return nil
}

func (h *half) instant(t time.Time) time.Duration {
	if t.IsZero() {
		return never
	}
	return t.Sub(h.base)
}
