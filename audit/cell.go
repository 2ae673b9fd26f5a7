package audit

import "time"

// A cell is what one peer brought to one stratum: two histograms started a span apart. Both are fed,
// the older answers, and when it is two spans old the younger takes its place; so an answer rests on
// the last one to two spans.
type cell struct {
	stratum *stratum
	panel   *panel
	start   time.Duration // of the older
	last    time.Duration // newest sample
	older   *histogram
	newer   *histogram // nil in the older's first span
	voter   bool       // has a voice in its panel
	solo    bool       // which would do alone
	voice   float64
}

// add takes a residual's bucket in at an instant.
func (c *cell) add(now, span time.Duration, bucket int) {
	c.rotate(now, span)
	c.last = now
	c.older.add(bucket)
	if c.newer != nil {
		c.newer.add(bucket)
	}
}

// rotate makes the histograms right for an instant.
func (c *cell) rotate(now, span time.Duration) {
	if c.older != nil && now-c.start >= 2*span && c.newer != nil {
		c.older, c.newer = c.newer, nil
		c.start += span
	}
	if c.older == nil || now-c.start >= 2*span {
		c.older, c.newer, c.start = new(histogram), nil, now
	}
	if c.newer == nil && now-c.start >= span {
		c.newer = new(histogram)
	}
}

// stale says whether nothing in the cell is recent enough to speak.
func (c *cell) stale(now, span time.Duration) bool {
	return now-c.last >= 2*span
}
