package mux

// pieces is how the host gets the body of an inbound Data frame: whole, as it came,
// or cut, each time as much as has arrived behind a header of ours. An unwrapped
// peer sends all of a write in one frame, up to the whole window, and yamux shows
// a frame to its reader once it is complete: cut, its first bytes are read, and the
// credit for them goes back, while the rest is under way. And between two reads of
// ours the host then never waits within a frame.
type pieces struct {
	cut  bool
	head header // of the next one
}

// begin starts a frame and says whether it is cut: if it is longer than what a
// wrapped peer sends. One that also ends the stream is not; no yamux makes one.
func (p *pieces) begin(h header, above uint32) bool {
	p.head = h
	p.cut = h.body() > above && h.flags&(flagFIN|flagRST) == 0
	return p.cut
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
