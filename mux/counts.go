package mux

import (
	"sync/atomic"
	"time"
)

// Counts are what passed, since the connection was wrapped. Frames and wire
// bytes include ours. While a write is under way what was written before it
// may be missing for a millisecond.
type Counts struct {
	FramesIn, FramesOut uint64 // frames read and written
	BytesIn, BytesOut   uint64 // bytes on the wire, headers included
	PayloadIn           uint64 // payload bytes that count: open streams, within credit
	UncountedIn         uint64 // payload bytes that do not: unknown streams, beyond credit
	Reads, Writes       uint64 // calls of the inner connection
	Splits              uint64 // Data frames of ours cut into several
	Cuts                uint64 // Data frames of the peer's that yamux got in several
	LoneCookies         uint64 // cookies sent without a frame to ride on
	EchoesStripped      uint64 // inbound echoes kept from yamux
	ForeignEchoes       uint64 // of them, answers with bit 31 set that never were ours
	Resets              uint64 // streams reset by Session.Reset
	LateBytes           uint64 // bytes dropped that came for such a stream
	TransparentIn       bool   // unknown frames were read: no longer measured
	TransparentOut      bool   // unknown frames were written: no more cookies
}

// tally is what a run of writes adds to the counts.
type tally struct{ frames, bytes, writes, splits, lone uint64 }

// outCounts are the counts of the writing side. Whoever holds the turn counts
// in pending, without the price of an atomic operation per frame, and
// publishes about once a millisecond.
type outCounts struct {
	pending     tally
	publishedAt time.Duration

	frames, bytes, writes, splits, lone atomic.Uint64
	transparent                         atomic.Bool
}

// publishEvery bounds how far the counts lag behind a write under way.
const publishEvery = time.Millisecond

// wrote counts one write of whoever holds the turn.
func (o *outCounts) wrote(frames uint64, wire int, now time.Duration) {
	o.pending.frames += frames
	o.pending.bytes += uint64(wire)
	o.pending.writes++
	if now-o.publishedAt >= publishEvery {
		o.publishedAt = now
		o.publish()
	}
}

// publish makes what is pending visible. The caller holds the turn.
func (o *outCounts) publish() {
	o.add(o.pending)
	o.pending = tally{}
}

func (o *outCounts) add(t tally) {
	o.frames.Add(t.frames)
	o.bytes.Add(t.bytes)
	o.writes.Add(t.writes)
	o.splits.Add(t.splits)
	o.lone.Add(t.lone)
}

func (o *outCounts) into(c *Counts) {
	c.FramesOut, c.BytesOut, c.Writes = o.frames.Load(), o.bytes.Load(), o.writes.Load()
	c.Splits, c.LoneCookies = o.splits.Load(), o.lone.Load()
	c.TransparentOut = o.transparent.Load()
}

// publishCounts makes the writing side's counts exact, unless a write is under
// way; then they are a millisecond old at most.
func (c *Conn) publishCounts() {
	if c.out.turn.try() {
		c.out.counts.publish()
		c.out.turn.release()
	}
}
