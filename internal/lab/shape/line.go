package shape

import "time"

// Line is a serializer: it sends one run of bytes after the other, at a rate
// that changes by steps, the first bytes of a token bucket at a higher one.
type Line struct {
	rates Course
	free  time.Duration // the end of the last run

	burst  float64 // the depth of the bucket in bytes; zero means none
	peak   BitRate // what the bucket is emptied at; zero means no limit
	tokens float64 // what was in it at free
}

// NewLine is a serializer with a token bucket of so many bytes, full at first and
// emptied at a peak; zero means no bucket.
func NewLine(rates Course, burst int, peak BitRate) Line {
	return Line{rates: rates, burst: float64(burst), peak: peak, tokens: float64(burst)}
}

// Send puts n bytes on the line, behind all others and not before an instant,
// and says when the last of them has left.
func (l *Line) Send(at time.Duration, n int) time.Duration {
	start := max(at, l.free)
	if l.burst == 0 {
		l.free = l.rates.End(start, float64(n))
		return l.free
	}
	return l.empty(start, n)
}

// empty is Send with a bucket.
func (l *Line) empty(start time.Duration, n int) time.Duration {
	// The bucket fills at the rate: before, up to its depth, and meanwhile.
	tokens := min(l.burst, l.tokens+l.rates.Bytes(l.free, start))
	end := max(start+l.peak.Time(n), l.rates.End(start, max(0, float64(n)-tokens)))
	l.tokens = min(l.burst, tokens+l.rates.Bytes(start, end)-float64(n))
	l.free = end
	return end
}

// Free is when the last run has left.
func (l *Line) Free() time.Duration { return l.free }

// Fastest is the highest rate there ever is; zero means no limit.
func (l *Line) Fastest() BitRate { return l.rates.Fastest() }

// Next is when n bytes would have left that nothing is ahead of, at the
// earliest: the bucket of a line that has one doesn't count.
func (l *Line) Next(at time.Duration, n int) time.Duration {
	return l.rates.End(max(at, l.free), float64(n))
}
