package ranking

import (
	"math"
	"time"

	"github.com/assay-mux/assay/burst"
)

const ms = time.Millisecond

// mbit is the slope of a rate in Mbit/s.
func mbit(rate float64) burst.SecondsPerByte { return burst.SecondsPerByte(8 / (rate * 1e6)) }

// packets sends n bytes in segments over one lossless bottleneck and returns when the last arrives.
// The sender's window grows by what is acknowledged, each segment is acknowledged at once, and our
// credit comes back when half of it is used up, as yamux returns it; there segments divide the half
// evenly, as frames of 16 KiB do. It knows of no rounds, silences or logarithms.
func packets(n int64, p Path) time.Duration {
	took, _ := segments(n, p, 1024)
	return took
}

// segments is packets for our credit in segments of any size, and how long the sender waited for it.
func segments(n int64, p Path, size int64) (took, waited time.Duration) {
	oneWay, perByte := p.BaseRTT.Seconds()/2, float64(p.Rate)
	window := float64(p.startWindow())
	credit, half, segment := int64(math.MaxInt64), int64(0), int64(1460)
	if p.StreamWindow > 0 {
		credit, half, segment = p.StreamWindow, p.StreamWindow/2, size
	}
	type event struct {
		at    float64
		bytes int64
	}
	var acks, grants []event
	now, linkFree, last := oneWay, 0.0, 0.0
	var sent, inFlight, unreturned int64
	var wait float64
	for sent < n {
		size := min(segment, n-sent)
		for float64(inFlight+size) > window {
			now = max(now, acks[0].at)
			inFlight -= acks[0].bytes
			window += float64(acks[0].bytes)
			acks = acks[1:]
		}
		for credit == 0 {
			// Silence is counted from when the link has sent all it was given.
			wait += max(0, grants[0].at-max(now, linkFree))
			now = max(now, grants[0].at)
			credit += grants[0].bytes
			grants = grants[1:]
		}
		size = min(size, credit)
		linkFree = max(linkFree, now) + perByte*float64(size)
		last = linkFree + oneWay
		acks = append(acks, event{last + oneWay, size})
		inFlight += size
		sent += size
		if half == 0 {
			continue
		}
		credit -= size
		if unreturned += size; unreturned >= half {
			grants = append(grants, event{last + oneWay, unreturned})
			unreturned = 0
		}
	}
	return seconds(last), seconds(wait)
}
