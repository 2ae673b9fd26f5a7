package mux

import (
	"sync"
	"sync/atomic"
	"time"
)

// resetsKept is how many reset streams are remembered, so that what still
// comes for them is dropped. At most a window of each is under way.
const resetsKept = 1024

// resets are the streams that Session.Reset cancelled.
type resets struct {
	any     atomic.Bool // whether there ever was one: the usual answer is no
	pending atomic.Bool // the reading side has some to act on

	mu     sync.Mutex // guards the rest
	gone   map[uint32]struct{}
	order  []uint32 // of gone, oldest first
	queued []uint32 // not yet told to the local multiplexer
}

// has says whether the stream was reset.
func (r *resets) has(stream uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.gone[stream]
	return ok
}

// add notes a reset stream. It returns false if it had been noted before.
func (r *resets) add(stream uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.gone[stream]; ok {
		return false
	}
	if r.gone == nil {
		r.gone = make(map[uint32]struct{})
	}
	if len(r.order) == resetsKept {
		delete(r.gone, r.order[0])
		r.order = r.order[1:]
	}
	r.gone[stream] = struct{}{}
	r.order = append(r.order, stream)
	r.queued = append(r.queued, stream)
	r.any.Store(true)
	r.pending.Store(true)
	return true
}

// take empties the queue for the local multiplexer.
func (r *resets) take() []uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.queued
	r.queued = nil
	r.pending.Store(false)
	return q
}

// wasReset says whether the host's frames for the stream are to be dropped.
func (c *Conn) wasReset(stream uint32) bool {
	return c.resets.any.Load() && c.resets.has(stream)
}

// resetFrame is what tells a yamux that a stream is gone.
func resetFrame(stream uint32) header {
	return header{kind: kindWindow, flags: flagRST, stream: stream}
}

// reset cancels a stream on both sides: the local multiplexer is handed the
// peer's reset, the peer is written ours.
func (c *Conn) reset(stream uint32) error {
	if !c.resets.add(stream) {
		return nil
	}
	c.deadlines.wake(c.inner)
	o := &c.out
	o.turn.acquire()
	defer o.turn.release()
	if o.err != nil {
		return o.err
	}
	var b [headerSize]byte
	c.codec.encode(b[:], resetFrame(stream))
	o.control = append(o.control, b[:]...)
	if !o.boundary() {
		return nil // goes out where the frame ends
	}
	now := c.meter.now()
	c.meter.sent(resetFrame(stream), now)
	_, err := c.writeOwn(now)
	return err
}

// writeOwn writes the frames of ours that wait, without any of the host's. The
// caller holds the writing turn.
func (c *Conn) writeOwn(now time.Duration) (int, error) {
	a := assemblies.Get().(*assembly)
	defer assemblies.Put(a)
	a.reset()
	before := c.out.position
	c.assemble(a, nil, now, false)
	if c.async != nil {
		return 0, c.async.put(a)
	}
	wire, err := c.send(a, now)
	if err != nil {
		c.failed(before, wire, err)
	}
	return wire, err
}

// applyResets hands queued resets to the local multiplexer. If it is waiting
// for the body of a reset stream's frame, which may never come, the body is
// made up of zeros that nobody will read, and what comes of it is dropped. The
// caller holds the reading turn.
func (c *Conn) applyResets() {
	in := &c.in
	for _, stream := range c.resets.take() {
		if in.body > 0 && !in.drop && in.stream == stream {
			in.drop = true
			if !in.pieces.cut {
				in.void = in.body
			}
		}
		at := len(in.inject)
		in.inject = append(in.inject, make([]byte, headerSize)...)
		c.codec.encode(in.inject[at:], resetFrame(stream))
		c.meter.wasReset(stream)
	}
}
