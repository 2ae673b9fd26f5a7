package lab

import (
	"io"
	"math"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/assay-mux/assay/internal/lab/ring"
	"github.com/assay-mux/assay/internal/lab/shape"
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
	base   time.Time   // instants are offsets from it
	link   Link        // normal
	shared *Bottleneck // nil if there is none

	// mu guards all below, and is the bottleneck's if there is one. It is held
	// for moments only: whoever waits, waits on a condition, or a virtual clock
	// would stand still.
	mu       *sync.Mutex
	own      sync.Mutex
	readable sync.Cond // the first segment, the end mark, or a reader's deadline
	writable sync.Cond // room, a writer's turn, or a writer's deadline
	readBy   time.Duration
	writeBy  time.Duration
	reading  alarm
	blocked  alarm

	shape shape.Shaper
	queue queue // those whose arrival is not decided yet
	segs  ring.Queue[segment]
	bytes ring.Bytes // those of segs and queue

	busy        bool          // a Write has its turn, so that each is contiguous
	writeClosed bool          // no Write any more
	readClosed  bool          // no Read any more: bytes are thrown away
	closed      time.Duration // when that was
	fin         time.Duration // when the reader learns of writeClosed
	reset       time.Duration // when the writer learns of readClosed
}

// newHalf begins a direction at an instant, of which back is the other. Both
// are normal.
func newHalf(l, back Link, now time.Time, way uint64) *half {
	h := &half{base: now, link: l, shared: l.Bottleneck, readBy: never, writeBy: never, fin: never, reset: never}
	h.mu = &h.own
	if h.shared != nil {
		h.share()
	}
	born := now.Sub(h.base)
	h.shape = shape.New(l.config(way), l.course(born), back.course(born))
	h.readable.L, h.writable.L = h.mu, h.mu
	h.reading, h.blocked = newAlarm(&h.readable), newAlarm(&h.writable)
	return h
}

// share joins the bottleneck, whose lock and base are those of all who do.
func (h *half) share() {
	b := h.shared
	h.mu, h.base = &b.mu, b.base
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made++
	h.queue.id = b.made
}

// now is the present, up to which all is decided that is shared. Needs mu.
func (h *half) now() time.Duration {
	now := time.Since(h.base)
	if h.shared != nil {
		h.shared.advance(now)
	}
	return now
}

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
	case h.segs.Len() == 0 && h.fin <= now:
		return 0, io.EOF
	}
	n := h.claim(now, len(p))
	if n > 0 {
		h.bytes.Read(p[:n])
		h.writable.Broadcast()
	}
	return n, nil
}

// claim takes at most limit bytes out of the segments that have arrived and
// returns how many. Needs mu.
func (h *half) claim(now time.Duration, limit int) int {
	n := 0
	for n < limit && h.segs.Len() > 0 && h.segs.Front().arrive <= now {
		s := h.segs.Front()
		k := min(limit-n, s.n)
		n += k
		if s.n -= k; s.n == 0 {
			h.segs.Pop()
		}
	}
	return n
}

// nextEvent is when a reader has something to see, at the earliest. Needs mu.
func (h *half) nextEvent() time.Duration {
	waits := h.queue.segs.Len() > 0
	switch {
	case h.segs.Len() > 0 && waits && h.shape.Waits(): // which what waits may repair
		return min(h.segs.Front().arrive, h.shared.earliest(h))
	case h.segs.Len() > 0:
		return h.segs.Front().arrive
	case waits:
		return h.shared.earliest(h)
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
	// At a bottleneck, what repairs a loss is not decided yet: the reader is to look
	// again when it may be.
	wake := h.bytes.Len() == 0 || h.shared != nil && h.shape.Waits()
	n, room := 0, h.link.Buffer-h.bytes.Len()
	for n < len(p) {
		k := min(h.link.MSS, len(p)-n, h.link.Buffer)
		if k > room {
			break
		}
		h.send(now, k)
		n, room = n+k, room-k
	}
	h.bytes.Write(p[:n])
	if wake && n > 0 {
		h.readable.Broadcast()
	}
	return n
}

// send puts a segment of n bytes on its way. Needs mu.
func (h *half) send(now time.Duration, n int) {
	if h.shared != nil {
		h.shared.enter(h, now, n)
		return
	}
	h.arrive(h.shape.Send(now, n), n)
}

// arrive takes in when a segment of n bytes can be read. Needs mu.
func (h *half) arrive(a shape.Arrival, n int) {
	if a.Also > 0 {
		h.amend(a)
	}
	h.segs.Push(segment{a.At, n})
}

// amend moves what waited for a repair to where that turns out to be: sooner than
// the timer, mostly, which had been assumed. None of it has been read, for the timer
// has not gone off. Needs mu.
func (h *half) amend(a shape.Arrival) {
	sooner := false
	for i := range min(a.Also, h.segs.Len()) {
		s := h.segs.Last(i)
		sooner = sooner || s.arrive > a.At
		s.arrive = a.At
	}
	if sooner {
		h.readable.Broadcast()
	}
}

// discard takes bytes for a reader that has closed: the first to arrive tells
// it, and the refusal travels back. Needs mu.
func (h *half) discard(now time.Duration, n int) {
	if n > 0 && h.reset == never {
		h.refuse(h.shape.Send(now, min(n, h.link.MSS)).At)
	}
}

// refuse tells the writer of a reader that closed, from an instant at the reader.
// Needs mu.
func (h *half) refuse(at time.Duration) { h.reset = h.shape.Back(at) }

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
	h.closed = h.now()
	if h.queue.segs.Len() == 0 {
		h.fin = h.shape.Fin(h.closed)
	}
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
	now := h.now()
	h.readClosed = true
	if h.bytes.Len() > 0 {
		h.refuse(max(now, h.nextEvent()))
	}
	if h.queue.segs.Len() > 0 {
		h.shared.remove(h)
		h.queue.segs = ring.Queue[queued]{}
	}
	h.segs, h.bytes = ring.Queue[segment]{}, ring.Bytes{}
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
