package lab

import (
	"sync"
	"time"

	"github.com/assay-mux/assay/internal/lab/ring"
	"github.com/assay-mux/assay/internal/lab/shape"
)

// Bottleneck is a serializer that several links go through, each behind its own:
// an uplink that peers share, or the limit of our own connection if each link
// towards us has it. Segments that wait go by turns, so that busy links get equal
// shares in bytes whatever they write at once, and what one leaves the others
// have (start-time fair queueing: Goyal, Vin and Cheng, SIGCOMM 1996). First come
// first served would not do: a window here doesn't shrink for a queue, so a link
// that writes ten times as much would have ten times the share, for good.
//
// A direction that has it is decided as time passes, not when it is written, for
// the others' writes matter; it still needs no goroutine. Safe for concurrent use.
type Bottleneck struct {
	base time.Time // instants are offsets from it

	// mu guards all below and all of each half that goes through. It is held for
	// moments only.
	mu    sync.Mutex
	line  shape.Line
	clock int64   // the tag of the last segment sent
	busy  []*half // those with segments that wait, in no order
	made  int     // halves ever
}

// NewBottleneck makes a serializer of a rate, which steps may change later (their
// delays don't count). No rate means no limit, and then it need not be there. Made in a
// synctest bubble it must stay in it.
func NewBottleneck(rate BitRate, changes ...Change) *Bottleneck {
	l := Link{Rate: rate, Changes: changes}.normal(0)
	return &Bottleneck{base: time.Now(), line: shape.NewLine(l.course(0), 0, 0)}
}

// queued is a segment that waits for the bottleneck, or before it for its window.
type queued struct {
	written time.Duration
	n       int
}

// queue is what a half has waiting at its bottleneck.
type queue struct {
	segs ring.Queue[queued]
	id   int // by age, which settles what would be equal

	// Of the first segment:
	ready time.Duration // when it is at the bottleneck
	lost  bool
	tag   int64 // its turn: bytes that others in turn have had before it
}

// enter takes a segment of n bytes that h has written at now. Needs mu.
func (b *Bottleneck) enter(h *half, now time.Duration, n int) {
	h.queue.segs.Push(queued{now, n})
	if h.queue.segs.Len() == 1 {
		b.busy = append(b.busy, h)
		b.head(h)
	}
}

// head makes the next segment of h one that waits for its turn. Needs mu.
func (b *Bottleneck) head(h *half) {
	q := &h.queue
	q.ready, q.lost = h.shape.Ready(q.segs.Front().written, q.segs.Front().n)
	q.tag = max(q.tag, b.clock)
}

// advance decides all that happens before now. What happens at now is not yet
// decided, for more may be written at the same instant. Needs mu.
func (b *Bottleneck) advance(now time.Duration) {
	for len(b.busy) > 0 {
		start := b.start()
		if start >= now {
			return
		}
		b.serve(b.next(start), start)
	}
}

// start is when the next segment goes. Needs mu and someone busy.
func (b *Bottleneck) start() time.Duration {
	first := never
	for _, h := range b.busy {
		first = min(first, h.queue.ready)
	}
	return max(first, b.line.Free())
}

// next is whose turn it is at an instant at which someone is ready. Needs mu.
func (b *Bottleneck) next(at time.Duration) (best *half) {
	for _, h := range b.busy {
		if h.queue.ready <= at && (best == nil || h.queue.before(&best.queue)) {
			best = h
		}
	}
	return best
}

func (q *queue) before(o *queue) bool {
	return q.tag < o.tag || q.tag == o.tag && q.id < o.id
}

// serve sends the first segment of h. Needs mu.
func (b *Bottleneck) serve(h *half, start time.Duration) {
	q := &h.queue
	n := q.segs.Pop().n
	b.clock = q.tag
	q.tag += int64(shape.OnWire(n, q.lost))
	left := b.line.Send(start, shape.OnWire(n, q.lost))
	h.arrive(h.shape.Pass(left, n, q.lost), n)
	if q.segs.Len() > 0 {
		b.head(h)
		return
	}
	b.remove(h)
	if h.writeClosed {
		h.fin = h.shape.Fin(h.closed)
	}
}

// remove takes h from those that wait. Needs mu.
func (b *Bottleneck) remove(h *half) {
	for i, o := range b.busy {
		if o == h {
			b.busy = append(b.busy[:i], b.busy[i+1:]...)
			return
		}
	}
}

// earliest is when the first segment of h that waits can be read, at the
// earliest: later than when it is decided. Needs mu and such a segment.
func (b *Bottleneck) earliest(h *half) time.Duration {
	q := &h.queue
	start := max(q.ready, b.line.Free())
	return max(h.shape.Soonest(b.line.Next(start, q.segs.Front().n)), start+1)
}
