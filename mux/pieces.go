package mux

import "time"

// pieces is how the host gets the body of a long inbound Data frame: whole, as it
// came, or cut, each time as much as has arrived behind a header of ours. An
// unwrapped peer sends all of a write in one frame, up to the whole window, and
// yamux shows a frame to its reader once it is complete: cut, its first bytes are
// read, and the credit for them goes back, while the rest is under way, and the host
// does not wait within the frame. Where all of it comes at once nobody gains by
// that, and to wake the reader for each piece costs: over loopback up to a fourth of
// the throughput, depending on the processor.
type pieces struct {
	cut  bool
	head header // of the next one

	length uint32        // of the long frame under way, 0 if there is none
	began  time.Duration // when its header came
	rate   float64       // bytes per second at which such frames are trusted to come
}

const (
	// patience is how long a long frame may be expected to take and not be cut. A
	// millisecond is nothing beside a deadline of seconds, and far more than a wake-up
	// costs.
	patience = time.Millisecond
	// trustedFirst is the most that is believed of one frame, in bytes per second; from
	// there on each doubles it at most. One may have waited in the kernel while the
	// host did not read, which looks fast on any path.
	trustedFirst = 8 << 20
)

// begin starts a frame, whose header came at now, and says whether it is cut: if it
// is longer than what a wrapped peer sends, and not expected at once. One that also
// ends the stream is not; no yamux makes one.
func (p *pieces) begin(h header, above uint32, now time.Duration) bool {
	p.head, p.cut = h, false
	if h.body() <= above {
		return false
	}
	p.length, p.began = h.length, now
	p.cut = h.flags&(flagFIN|flagRST) == 0 && float64(h.length) > p.rate*patience.Seconds()
	return p.cut
}

// end learns from a long frame how fast they come.
func (p *pieces) end(now time.Duration) {
	if p.length > 0 {
		p.rate = min(float64(p.length)/(now-p.began).Seconds(), max(2*p.rate, trustedFirst))
		p.length = 0
	}
}

// next is the header of the next piece, of n bytes: SYN and ACK are on the first.
func (p *pieces) next(n uint32) header {
	h := p.head
	h.length = n
	p.head.flags = 0
	return h
}

// lead is the room to be left for a header in front of the next bytes: those of a
// frame that is cut begin a piece.
func (in *inbound) lead() int {
	if in.pieces.cut && in.body > 0 && !in.drop {
		return headerSize
	}
	return 0
}
