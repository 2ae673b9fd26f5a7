package ranking

import (
	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

const (
	// lossShare of the packets out of order is a hint that the path loses some: a few are reordered on
	// any path, and a hint that comes always says nothing.
	lossShare = 0.0005
	// segment is the usual size of a packet's payload in bytes.
	segment = 1448
	// lossMemory is after how many bytes half of what is known of a connection's losses is forgotten.
	// Larger remembers the overflow of one slow start for longer; at a lossShare of the packets, 11 come
	// out of order in so many.
	lossMemory = 32 << 20
)

// Lossy says whether that many packets out of order, as a [burst.Reading] counts them, among those that
// carried some bytes are more than a path without loss shows: the hint for [Path]. It is pure.
func Lossy(outOfOrder uint64, bytes int64) bool {
	return outOfOrder > uint64(lossShare*float64(max(bytes, 0))/segment)
}

// lossOf is the hint for one fetch: of all that came over its connection meanwhile, as the kernel counts.
func lossOf(f *Fetch, reading *burst.Reading) audit.Loss {
	switch {
	case reading.OutOfOrder > f.startLoss && Lossy(reading.OutOfOrder-f.startLoss, f.conn.got-f.startGot):
		return audit.LossSeen
	case reading.KernelRTT > 0:
		return audit.LossClear
	}
	return audit.LossUnknown
}

// losses is what a connection's fetches have shown of loss on its path.
type losses struct {
	outOfOrder uint64
	bytes      int64
	until      uint64 // of the connection's counter, taken in already
}

// take takes in a fetch, by the connection's counter at its start and its end. Where several went on at
// once a packet is one of all of them, and counts once.
func (l *losses) take(start, end uint64, bytes int64) {
	start = max(start, l.until)
	l.until = max(l.until, end)
	l.add(end-min(start, end), bytes)
}

func (l *losses) add(outOfOrder uint64, bytes int64) {
	l.outOfOrder += outOfOrder
	if l.bytes += bytes; l.bytes > lossMemory {
		l.outOfOrder, l.bytes = l.outOfOrder/2, l.bytes/2
	}
}

// seen says whether the path loses packets.
func (l *losses) seen() bool { return Lossy(l.outOfOrder, l.bytes) }
