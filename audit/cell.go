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
	newer   *histogram    // nil in the older's first span
	voice   float64
	voter   bool // has a voice in its panel
	solo    bool // which would do alone
	begun   bool
	older   histogram // here, and not behind a pointer, for the cache's sake
}

// fewSamples and speakEvery bound what a voice costs: while samples are few each counts at once, of
// more every eighth brings the voice up to date, which the last seven could hardly have moved.
const (
	fewSamples = 128
	speakEvery = 8
)

// add takes a residual's bucket in at an instant, and says whether the cell's voice is due.
func (c *cell) add(now, span time.Duration, bucket int) (due bool) {
	due = c.rotate(now, span)
	c.last = now
	c.older.add(bucket)
	if c.newer != nil {
		c.newer.add(bucket)
	}
	return due || c.older.n < fewSamples || c.older.n%speakEvery == 0
}

// rotate makes the histograms right for an instant, and says whether another answers now.
func (c *cell) rotate(now, span time.Duration) (changed bool) {
	if now-c.start >= 2*span && c.newer != nil {
		c.older, c.newer = *c.newer, nil
		c.start += span
		changed = true
	}
	if !c.begun || now-c.start >= 2*span {
		c.older, c.newer = histogram{}, nil
		c.start, c.begun = now, true
		changed = true
	}
	if c.newer == nil && now-c.start >= span {
		c.newer = new(histogram)
	}
	return changed
}

// stale says whether nothing in the cell is recent enough to speak.
func (c *cell) stale(now, span time.Duration) bool {
	return now-c.last >= 2*span
}
