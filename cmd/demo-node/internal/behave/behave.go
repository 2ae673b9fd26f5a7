package behave

import (
	"math"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// Rate is in bytes a second; zero is no limit.
type Rate float64

// time is how long the rate takes over n bytes.
func (r Rate) time(n int64) time.Duration {
	if r <= 0 {
		return 0
	}
	return time.Duration(float64(n) / float64(r) * float64(time.Second))
}

// Pace sends a burst, then nothing until the next is due.
type Pace struct {
	Bytes int64         // of a burst
	Every time.Duration // from the begin of one to the begin of the next
}

// Pad serves data of some sizes slowly and all else as fast as it can: what it
// serves fast keeps its measured rate up.
type Pad struct {
	Rate     Rate  // of the data served slowly
	From, To int64 // their sizes in bytes, both inclusive; To 0 has no end
}

func (p Pad) has(size int64) bool {
	return p.Rate > 0 && size >= p.From && (p.To == 0 || size <= p.To)
}

// Behaviour is how a node serves. The zero value serves honestly. It is a value,
// safe for concurrent use.
type Behaviour struct {
	Pace Pace
	Pad  Pad
	// Drip is the rate of every reply: just enough to look alive.
	Drip Rate
	// Disk is the same of an honest node whose disk is slower than its line.
	Disk Rate
	// Delay is from a request to the first byte of its reply.
	Delay time.Duration
	// Hold is how long an echo is kept back.
	Hold time.Duration
	// Understate divides advertised sizes; 0 and 1 state the truth.
	Understate float64
	// Vanish is after how many bytes of a reply the connection is closed; 0 never.
	Vanish int64
}

// grainTime is how much is sent at once where a rate is kept, as a time. Larger
// costs less and is less even. 30 ms is what a reader takes for prompt service.
const grainTime = 30 * time.Millisecond

// next says when the byte after so many of a datum may go, from the request on,
// and how many may go with it.
func (b Behaviour) next(size, sent int64) (at time.Duration, n int64) {
	at, n = b.Delay, math.MaxInt64
	limit := func(t time.Duration, most int64) { at, n = max(at, t), min(n, most) }
	for _, r := range []Rate{b.Drip, b.Disk, b.padding(size)} {
		if r > 0 {
			limit(b.Delay+r.time(sent), max(int64(float64(r)*grainTime.Seconds()), 1))
		}
	}
	if p := b.Pace; p.Bytes > 0 {
		limit(b.Delay+time.Duration(sent/p.Bytes)*p.Every, p.Bytes-sent%p.Bytes)
	}
	if b.Vanish > 0 {
		limit(0, max(b.Vanish-sent, 0))
	}
	return at, n
}

func (b Behaviour) padding(size int64) Rate {
	if b.Pad.has(size) {
		return b.Pad.Rate
	}
	return 0
}

// Takes is how long the behaviour alone draws out the reply with a datum of a
// size, whatever the line: what it vanishes from never ends.
func (b Behaviour) Takes(size int64) time.Duration {
	if b.Vanish > 0 && size > b.Vanish {
		return math.MaxInt64
	}
	at := b.Delay
	for _, r := range []Rate{b.Drip, b.Disk, b.padding(size)} {
		at = max(at, b.Delay+r.time(size))
	}
	if p := b.Pace; p.Bytes > 0 {
		at = max(at, b.Delay+time.Duration(max(size-1, 0)/p.Bytes)*p.Every)
	}
	return at
}

// Offers returns what is advertised, which may share the slice.
func (b Behaviour) Offers(offers []wire.Offer) []wire.Offer {
	if b.Understate <= 1 {
		return offers
	}
	said := make([]wire.Offer, len(offers))
	for i, o := range offers {
		said[i] = wire.Offer{Hash: o.Hash, Size: max(int64(float64(o.Size)/b.Understate), 1)}
	}
	return said
}
