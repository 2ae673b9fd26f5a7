package shape

import (
	"math"
	"sort"
	"time"
)

// longest is the most that a transmission takes, some 36 years: an outage by a
// rate next to nothing must not overflow an instant.
const longest = time.Duration(1) << 60

// Change is a step in what a link is: from an instant on it has this rate and
// this delay, until the next.
type Change struct {
	// At is the instant, since the link was made.
	At time.Duration

	// Rate is the rate from then on; zero means no limit. A segment half sent
	// goes on at the new rate, so that an outage is a rate of 1 bit/s.
	Rate BitRate

	// OneWay is the delay of what leaves from then on. Where it is shorter than
	// before, the later bytes still wait for the earlier.
	OneWay time.Duration
}

// Course is a link's steps in order of time. The first holds from the beginning.
type Course []Change

// NewCourse is where a link starts and its changes, for one made at an instant.
func NewCourse(rate BitRate, oneWay time.Duration, changes []Change, born time.Duration) Course {
	c := Course{{Rate: rate, OneWay: oneWay}}
	for _, s := range changes {
		s.At += born
		c = append(c, s)
	}
	return c
}

// step is the index of the step in force at t.
func (c Course) step(t time.Duration) int {
	return sort.Search(len(c)-1, func(i int) bool { return c[i+1].At > t })
}

// Delay is the delay of what leaves at t. Most links have one step, and this is
// asked for each segment.
func (c Course) Delay(t time.Duration) time.Duration {
	if len(c) == 1 {
		return c[0].OneWay
	}
	return c.later(t)
}

// later is Delay among several steps.
func (c Course) later(t time.Duration) time.Duration { return c[c.step(t)].OneWay }

// Shortest is the least delay there ever is.
func (c Course) Shortest() time.Duration {
	least := c[0].OneWay
	for _, s := range c[1:] {
		least = min(least, s.OneWay)
	}
	return least
}

// Fastest is the highest rate there ever is: zero if one of them has no limit.
func (c Course) Fastest() BitRate {
	var most BitRate
	for _, s := range c {
		if s.Rate == 0 {
			return 0
		}
		most = max(most, s.Rate)
	}
	return most
}

// End is when so many bytes are sent that begin at an instant.
func (c Course) End(from time.Duration, bytes float64) time.Duration {
	if len(c) == 1 {
		return from + c[0].Rate.time(bytes)
	}
	return c.through(from, bytes)
}

// through is End over several steps.
func (c Course) through(from time.Duration, bytes float64) time.Duration {
	for i := c.step(from); ; i++ {
		if c[i].Rate == 0 {
			return from
		}
		end := from + c[i].Rate.time(bytes)
		if i+1 == len(c) || end <= c[i+1].At {
			return end
		}
		bytes -= c[i].Rate.Bytes(c[i+1].At - from)
		from = c[i+1].At
	}
}

// Bytes is how many can be sent between two instants.
func (c Course) Bytes(from, to time.Duration) float64 {
	sum := 0.0
	for i := c.step(from); from < to; i++ {
		if c[i].Rate == 0 {
			return math.Inf(1)
		}
		until := to
		if i+1 < len(c) {
			until = min(to, c[i+1].At)
		}
		sum += c[i].Rate.Bytes(until - from)
		from = until
	}
	return sum
}
