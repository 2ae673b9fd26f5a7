package audit

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A cell's answer rests on the last one to two spans: all of the last span is in it, and nothing
// older than two.
func TestCellRestsOnOneToTwoSpans(t *testing.T) {
	const span = time.Hour
	rapid.Check(t, func(t *rapid.T) {
		var c cell
		var at []time.Duration
		now := rapid.Map(rapid.Int64Range(-1e6, 1e6), func(s int64) time.Duration { return time.Duration(s) * time.Second }).Draw(t, "start")
		for _, gap := range rapid.SliceOfN(rapid.IntRange(0, 5000), 1, 120).Draw(t, "gaps") {
			now += time.Duration(gap) * time.Second
			at = append(at, now)
			c.add(now, span, 5)
		}
		least, most := uint32(0), uint32(0)
		for _, x := range at {
			if now-x < span {
				least++
			}
			if now-x < 2*span {
				most++
			}
		}
		if n := c.older.n; n < least || n > most {
			t.Fatalf("%d samples answer; the last span has %d, the last two %d", n, least, most)
		}
	})
}

func TestCellChangesItsMindAfterTwoSpans(t *testing.T) {
	const span = time.Hour
	var c cell
	slow, fast := bucket(2.0), bucket(0.1)
	now := time.Duration(0)
	for range 100 {
		c.add(now, span, slow)
		now += time.Minute
	}
	for range 119 {
		c.add(now, span, fast)
		now += time.Minute
	}
	near(t, "p95 after two fast spans", c.older.quantile(0.95), 0.1, 0.01)
}

func TestCellGrowsStale(t *testing.T) {
	const span = time.Hour
	var c cell
	c.add(time.Minute, span, 5)
	if c.stale(time.Minute+2*span-1, span) {
		t.Error("stale before two spans")
	}
	if !c.stale(time.Minute+2*span, span) {
		t.Error("not stale after two spans")
	}
}
