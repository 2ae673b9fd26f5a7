package lab

import "time"

// line is a serializer: it sends one run of bytes after the other, at a rate
// that changes by steps, the first bytes of a token bucket at a higher one.
type line struct {
	rates course
	free  time.Duration // the end of the last run

	burst  float64 // the depth of the bucket in bytes; zero means none
	peak   BitRate // what the bucket is emptied at; zero means no limit
	tokens float64 // what was in it at free
}

func newLine(l Link, rates course) line {
	return line{rates: rates, burst: float64(l.Burst), peak: l.Peak, tokens: float64(l.Burst)}
}

// send puts n bytes on the line, behind all others and not before an instant,
// and says when the last of them has left.
func (l *line) send(at time.Duration, n int) time.Duration {
	start := max(at, l.free)
	if l.burst == 0 {
		l.free = l.rates.end(start, float64(n))
		return l.free
	}
	return l.empty(start, n)
}

// empty is send with a bucket.
func (l *line) empty(start time.Duration, n int) time.Duration {
	// The bucket fills at the rate: before, up to its depth, and meanwhile.
	tokens := min(l.burst, l.tokens+l.rates.bytes(l.free, start))
	end := max(start+l.peak.Time(n), l.rates.end(start, max(0, float64(n)-tokens)))
	l.tokens = min(l.burst, tokens+l.rates.bytes(start, end)-float64(n))
	l.free = end
	return end
}
