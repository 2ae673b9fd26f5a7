package shape

import (
	"math"
	"time"
)

// BitRate is a rate in bits per second. Zero means no limit.
type BitRate float64

// Units of BitRate, decimal as network links count.
const (
	Kbit BitRate = 1e3
	Mbit BitRate = 1e6
	Gbit BitRate = 1e9
)

// Time is how long the rate takes over n bytes: zero where there is no limit.
func (r BitRate) Time(n int) time.Duration {
	return r.time(float64(n))
}

// time is Time of bytes and parts of bytes.
func (r BitRate) time(bytes float64) time.Duration {
	if r <= 0 {
		return 0
	}
	return time.Duration(min(math.Round(bytes*8/float64(r)*float64(time.Second)), float64(longest)))
}

// Bytes is how many bytes the rate moves in d: zero where there is no limit.
func (r BitRate) Bytes(d time.Duration) float64 {
	return max(0, float64(r)/8*d.Seconds())
}

// Valid tells whether the rate is finite and not negative. It is false for a NaN too.
func (r BitRate) Valid() bool { return r >= 0 && !math.IsInf(float64(r), 0) }

// ValidChanges tells whether steps are in order of time and in range.
func ValidChanges(changes []Change) bool {
	var last time.Duration
	for _, c := range changes {
		if c.At < last || c.OneWay < 0 || !c.Rate.Valid() {
			return false
		}
		last = c.At
	}
	return true
}
