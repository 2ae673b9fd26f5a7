package burst

import (
	"math"
	"time"
)

const (
	// curvePoints is how many checkpoints a burst keeps: 2.5 KiB for each active connection, and a
	// cut that is at most about 1/32 of the burst from where it should be.
	curvePoints = 128
	// curveBlocks is how many equal-byte blocks the standard error is taken from: enough for a
	// spread, few enough for each to hold many reads.
	curveBlocks = 8
)

// point is a place on the curve: so many counted bytes took so much charged time.
type point struct {
	bytes int64
	time  time.Duration
}

// curve is the cumulative charged time of one burst over its counted bytes, in fixed memory. Each
// kept point is exact; what thinning loses is only where between two of them the others lay.
// Checkpoints are spaced by bytes, and arrivals at one instant make one point, so that how a read
// is chopped changes nothing. points[0] is always the origin; head is not a checkpoint yet.
type curve struct {
	points [curvePoints]point
	leads  [curvePoints]uint32 // bytes before each that carry no rate, as far as a ramp may reach
	lead   int64               // and before the head
	n      int
	stride int64
	head   point
}

func (c *curve) reset() {
	c.points[0], c.leads[0] = point{}, 0
	c.n, c.stride, c.head, c.lead = 1, 1, point{}, 0
}

// led appends bytes that carry no rate: they have their place, for a slow start is told by all bytes.
func (c *curve) led(bytes int64) {
	c.lead += bytes
	if c.head == c.points[c.n-1] {
		c.leads[c.n-1] = c.headLead()
	}
}

func (c *curve) headLead() uint32 { return uint32(min(c.lead, math.MaxUint32)) }

// add appends an arrival of so many bytes, charged dt.
func (c *curve) add(bytes int64, dt time.Duration) {
	if dt > 0 && c.head.bytes-c.points[c.n-1].bytes >= c.stride {
		c.keep()
	}
	c.head.bytes += bytes
	c.head.time += dt
}

func (c *curve) keep() {
	if c.n == curvePoints {
		c.thin()
		if c.head.bytes-c.points[c.n-1].bytes < c.stride {
			return
		}
	}
	c.points[c.n], c.leads[c.n] = c.head, c.headLead()
	c.n++
}

// thin widens the stride so that about half of the checkpoints remain.
func (c *curve) thin() {
	c.stride = max(2*c.stride, c.head.bytes/(curvePoints/2))
	kept := 1
	for i, p := range c.points[1:c.n] {
		if p.bytes-c.points[kept-1].bytes >= c.stride {
			c.points[kept], c.leads[kept] = p, c.leads[i+1]
			kept++
		}
	}
	c.n = kept
}

// after returns the first checkpoint beyond so many bytes, those without a rate among them, how many
// of these lie before it, and how many steps (checkpoints and the head) follow it; false if only the head
// lies beyond.
func (c *curve) after(bytes int64) (cut point, lead int64, steps int, ok bool) {
	for i, p := range c.points[:c.n] {
		if lead = int64(c.leads[i]); p.bytes+lead > bytes {
			return p, lead, c.n - i, p != c.head
		}
	}
	return c.head, c.lead, 0, false
}

// at interpolates the time at which so many bytes had come.
func (c *curve) at(bytes float64) float64 {
	before, next := c.points[0], c.head
	for _, p := range c.points[1:c.n] {
		if float64(p.bytes) >= bytes {
			next = p
			break
		}
		before = p
	}
	if next.bytes <= before.bytes {
		return float64(next.time)
	}
	part := (bytes - float64(before.bytes)) / float64(next.bytes-before.bytes)
	return float64(before.time) + part*float64(next.time-before.time)
}

// lastQuarter is the slope over the last quarter of the bytes: where a slow start, if it ended at
// all, has ended.
func (c *curve) lastQuarter() SecondsPerByte {
	total := float64(c.head.bytes)
	if total == 0 {
		return 0
	}
	ns := float64(c.head.time) - c.at(total*3/4)
	return SecondsPerByte(ns / 1e9 / (total / 4))
}

// spread is the standard error of the slope beyond cut, from the slopes of equal-byte blocks, as
// many as there are steps but at most eight. Residuals about a cumulative curve would be a random
// walk and make the error far too small. False if there are fewer than two blocks.
func (c *curve) spread(cut point, steps int) (SecondsPerByte, bool) {
	k := min(curveBlocks, steps)
	if k < 2 || c.head.bytes <= cut.bytes {
		return 0, false
	}
	width := float64(c.head.bytes-cut.bytes) / float64(k)
	mean := float64(c.head.time-cut.time) / float64(k)
	var squares float64
	from := float64(cut.time)
	for i := 1; i <= k; i++ {
		to := c.at(float64(cut.bytes) + width*float64(i))
		squares += (to - from - mean) * (to - from - mean)
		from = to
	}
	sd := math.Sqrt(squares/float64(k-1)) / width / 1e9
	return SecondsPerByte(sd / math.Sqrt(float64(k))), true
}
