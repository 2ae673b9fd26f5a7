package predict

import "time"

// minRTO is the part of the retransmission timeout that the round trip does not
// explain, as in Linux. Idleness beyond it halves a sender's window.
const minRTO = 200 * time.Millisecond

// Growth follows the window that a sender in slow start has earned on a
// connection: it grows by every byte that arrives and, when *we* ask again after
// idleness, is halved for each timeout of it (RFC 5681, section 4.1). Judged
// when we ask, so that a peer that falls silent in mid-fetch turns nothing cold.
// The zero value is a new connection. Instants are offsets from any base, and
// must not go back. Not safe for concurrent use.
type Growth struct {
	window int64 // bytes; 0 before the first arrival
	last   time.Duration
}

// Arrived says that so many bytes came.
func (g *Growth) Arrived(at time.Duration, bytes int) {
	g.window = max(g.window, InitialWindow) + int64(max(bytes, 0))
	g.last = at
}

// Ask returns the window for a request of now over a path of that round trip.
func (g *Growth) Ask(now, rtt time.Duration) int64 {
	rto := minRTO + max(rtt, 0)
	for idle := now - g.last; idle >= rto && g.window > InitialWindow; idle -= rto {
		g.window = max(g.window/2, InitialWindow)
		g.last += rto
	}
	return max(g.window, InitialWindow)
}
