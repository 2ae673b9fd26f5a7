package mux

import "sync/atomic"

// Counts are what passed, since the connection was wrapped. Frames and wire
// bytes include ours.
type Counts struct {
	FramesIn, FramesOut uint64 // frames read and written
	BytesIn, BytesOut   uint64 // bytes on the wire, headers included
	PayloadIn           uint64 // payload bytes that count: open streams, within credit
	UncountedIn         uint64 // payload bytes that do not: unknown streams, beyond credit
	Reads, Writes       uint64 // calls of the inner connection
	Splits              uint64 // Data frames of ours cut into several
	LoneCookies         uint64 // cookies sent without a frame to ride on
	EchoesStripped      uint64 // inbound echoes kept from yamux
	ForeignEchoes       uint64 // of them, answers with bit 31 set that never were ours
	Resets              uint64 // streams reset by Session.Reset
	LateBytes           uint64 // bytes dropped that came for such a stream
	TransparentIn       bool   // unknown frames were read: no longer measured
	TransparentOut      bool   // unknown frames were written: no more cookies
}

// outCounts are the counters the writing goroutine moves.
type outCounts struct {
	frames, bytes, writes, splits, lone atomic.Uint64
	transparent                         atomic.Bool
}

func (o *outCounts) into(c *Counts) {
	c.FramesOut, c.BytesOut, c.Writes = o.frames.Load(), o.bytes.Load(), o.writes.Load()
	c.Splits, c.LoneCookies = o.splits.Load(), o.lone.Load()
	c.TransparentOut = o.transparent.Load()
}
