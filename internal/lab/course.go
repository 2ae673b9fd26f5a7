package lab

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

// course is a link's steps in order of time. The first holds from the beginning.
type course []Change

// course is where the link starts and its changes, for a link made at an instant.
func (l Link) course(born time.Duration) course {
	c := course{{Rate: l.Rate, OneWay: l.OneWay}}
	for _, s := range l.Changes {
		s.At += born
		c = append(c, s)
	}
	return c
}

// step is the index of the step in force at t.
func (c course) step(t time.Duration) int {
	return sort.Search(len(c)-1, func(i int) bool { return c[i+1].At > t })
}

// delay is the delay of what leaves at t. Most links have one step, and this is
// asked for each segment.
func (c course) delay(t time.Duration) time.Duration {
	if len(c) == 1 {
		return c[0].OneWay
	}
	return c.later(t)
}

// later is delay among several steps.
func (c course) later(t time.Duration) time.Duration { return c[c.step(t)].OneWay }

// shortest is the least delay there ever is.
func (c course) shortest() time.Duration {
	least := c[0].OneWay
	for _, s := range c[1:] {
		least = min(least, s.OneWay)
	}
	return least
}

// fastest is the highest rate there ever is: zero if one of them has no limit.
func (c course) fastest() BitRate {
	var most BitRate
	for _, s := range c {
		if s.Rate == 0 {
			return 0
		}
		most = max(most, s.Rate)
	}
	return most
}

// end is when so many bytes are sent that begin at an instant.
func (c course) end(from time.Duration, bytes float64) time.Duration {
	if len(c) == 1 {
		return from + c[0].Rate.time(bytes)
	}
	return c.through(from, bytes)
}

// through is end over several steps.
func (c course) through(from time.Duration, bytes float64) time.Duration {
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

// bytes is how many can be sent between two instants.
func (c course) bytes(from, to time.Duration) float64 {
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
