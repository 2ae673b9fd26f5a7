package ranking

import (
	"net/netip"
	"time"

	"github.com/assay-mux/assay/burst"
)

// Meter is what measures one connection; *mux.Meter is one. The ranker calls it outside its own lock,
// from whichever goroutine called the ranker, so it must be safe for concurrent use and must not
// wait for I/O.
type Meter interface {
	// Reading returns what is known of the connection now.
	Reading() burst.Reading
	// Begin says that a fetch is outstanding, until end is called.
	Begin() (end func())
}

// Peer is a peer as it joins.
type Peer struct {
	// ID names its identity, what a verdict sticks to: better a key than an address. 1 to 256 bytes.
	ID string
	// Addr is its address, for its group; the zero value if there is none.
	Addr netip.Addr
	// Meter measures this connection.
	Meter Meter
	// StreamWindow is the credit in bytes that this connection grants a stream; 0 takes that of the
	// config.
	StreamWindow int64
}

// Conn names one connection of a peer. The zero value names none.
type Conn uint64

// conn is a connection.
type conn struct {
	id      Conn
	peer    *peer
	meter   Meter
	window  int64 // of a stream; 0 unknown
	reading burst.Reading
	readAt  time.Duration
	read    bool

	leastFirst   time.Duration // least time from a request to its first byte; 0 none yet
	lastWindow   int64         // what the sender's window is believed to be
	windowRounds float64       // see [Path.WindowRounds]
	lastAsked    time.Duration // when the last answer was due
	losses       losses
	got          int64 // bytes of all fetches
	outstanding  int64
	forged       uint64 // of the reading, told to the audit already
	skipsTold    bool
}

// base is the least round trip that anything vouches for, so that holding echoes buys nothing.
func (c *conn) base() time.Duration {
	b := c.reading.BaseRTT
	if c.leastFirst > 0 && (b <= 0 || c.leastFirst < b) {
		b = c.leastFirst
	}
	return max(b, 0)
}

// idle is the time since the sender last had something of ours to send, by what we asked for.
func (c *conn) idle(now time.Duration) time.Duration {
	if c.outstanding > 0 {
		return 0
	}
	return max(now-c.lastAsked, 0)
}
