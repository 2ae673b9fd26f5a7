package shape

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// someCourse draws a link with changes.
func someCourse(t *rapid.T) Course {
	rate := rapid.SampledFrom([]BitRate{8 * Kbit, 80 * Kbit, 8 * Mbit, 1})
	delay := rapid.IntRange(0, 100)
	l := direction{Rate: rate.Draw(t, "rate")}
	var at time.Duration
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		at += time.Duration(rapid.IntRange(0, 2000).Draw(t, "after")) * time.Millisecond
		l.Changes = append(l.Changes, Change{
			At: at, Rate: rate.Draw(t, "new rate"), OneWay: time.Duration(delay.Draw(t, "new delay")) * time.Millisecond,
		})
	}
	return l.course()
}

// TestCourseAddsUp: what is sent by an end is what fits until then, and sending
// in two parts ends when sending at once does.
func TestCourseAddsUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := someCourse(rt)
		from := time.Duration(rapid.IntRange(0, 5000).Draw(rt, "from")) * time.Millisecond
		n := rapid.Float64Range(0, 1e5).Draw(rt, "bytes")
		end := c.End(from, n)
		if got := c.Bytes(from, end); math.Abs(got-n) > 0.01 {
			rt.Fatalf("%v bytes end at %v, until when %v fit", n, end, got)
		}
		part := rapid.Float64Range(0, 1).Draw(rt, "part")
		if twice := c.End(c.End(from, n*part), n*(1-part)); !near(twice, end) {
			rt.Fatalf("in two parts ends at %v, at once at %v", twice, end)
		}
	})
}

// near allows for the rounding of some nanoseconds at 1 bit/s and below 2^53.
func near(a, b time.Duration) bool {
	return (a - b).Abs() <= 10*time.Microsecond+b/1e9
}
