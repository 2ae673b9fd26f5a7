package policy

import (
	"errors"
	"time"
)

// TestLength is how long one way is tested (the second seed's 20 s), and Excess
// how much more than a limit gives in that time may be moved for it: the rest is
// for the start, which is left out.
const (
	TestLength = 20 * time.Second
	Excess     = 1.25
)

// Day is what quotas count over: any so long a time, not a calendar's day.
const Day = 24 * time.Hour

// leastTest is the volume in bytes below which a test is refused instead of cut:
// it would measure nothing, and still spend the tester's turn.
const leastTest = 64 << 10

// ErrPolicy says that a Policy makes no sense; what follows says which field.
var ErrPolicy = errors.New("policy: out of range, start from Default and change what you need")

// Policy is what a node allows. Start from Default. A value. Sizes are payload
// bytes, both ways together.
type Policy struct {
	// OptOut refuses every test, now and in the middle of one. It wins over all else.
	OptOut bool
	// Limit is the rate of our link in bytes per second, as the operator states it; 0 if unknown.
	// A higher one allows larger tests.
	Limit int64
	// Reserve is the share of Limit that is left to ordinary traffic, 0 to 0.9. Larger is kinder to
	// users and measures less. A quarter, FlashFlow's.
	Reserve float64
	// Duration is the longest run of one way. Longer bears with testers that start over with more
	// streams. 30 s: 20 s, and time to start.
	Duration time.Duration
	// Runs is how many runs, each of one way, a test may have. 4: from us, to us, and through us
	// both ways.
	Runs int
	// Streams is how many streams a run may have. More fill longer paths, at 256 KiB of memory each
	// where the tester does not read. 256 fill 1 Gbit/s over 268 ms twice.
	Streams int
	// Bytes is the most that is moved for a run where neither side has stated a limit. 256 MiB:
	// 20 s at 107 Mbit/s.
	Bytes int64
	// Interval is the time between two tests by one identity, at most a day. Longer costs less and
	// notices changes later. 12 h.
	Interval time.Duration
	// GroupTests and GroupBytes are what the identities of one network group may have in a day, all
	// together. More lets one party take more under many names. 4, and 1 GiB.
	GroupTests int
	GroupBytes int64
	// DayTests and DayBytes are what all may have in a day. 64, which also bounds our memory, and
	// 2 GiB, what a home link carries in minutes.
	DayTests int
	DayBytes int64
	// Notice is how long before its first test a tester must have announced itself. Longer gives
	// operators time to opt out. 0, as of a node whose operator is asked by other means.
	Notice time.Duration
	// Idle is how long a test may hold its place without moving a byte. Longer bears with worse
	// paths and lets one who never starts block others. 10 s.
	Idle time.Duration
}

// Default is the policy documented on each field: willing, with limits.
func Default() Policy {
	return Policy{
		Reserve: 0.25, Duration: 30 * time.Second, Runs: 4, Streams: 256, Bytes: 256 << 20,
		Interval: 12 * time.Hour, GroupTests: 4, GroupBytes: 1 << 30, DayTests: 64, DayBytes: 2 << 30,
		Idle: 10 * time.Second,
	}
}

// Validate returns nil or an error that is ErrPolicy.
func (p Policy) Validate() error {
	within := func(d, least, most time.Duration) bool { return d >= least && d <= most }
	switch {
	case p.Limit < 0 || p.Bytes < leastTest || p.GroupBytes < 0 || p.DayBytes < 0:
		return field("Limit, GroupBytes and DayBytes are not negative, and Bytes is 64 KiB at least")
	case !(p.Reserve >= 0 && p.Reserve <= 0.9):
		return field("Reserve is from 0 to 0.9")
	case !within(p.Duration, time.Second, 5*time.Minute) || !within(p.Idle, time.Second, time.Minute):
		return field("Duration is from 1 s to 5 min, and Idle from 1 s to 1 min")
	case !within(p.Interval, 0, Day) || !within(p.Notice, 0, 30*Day):
		return field("Interval is at most 24 h, and Notice at most 30 days")
	case p.Runs < 1 || p.Runs > 8 || p.Streams < 1 || p.Streams > 1024:
		return field("Runs is from 1 to 8, and Streams from 1 to 1024")
	case p.GroupTests < 1 || p.DayTests < 1 || p.DayTests > 1024:
		return field("GroupTests is 1 at least, and DayTests from 1 to 1024")
	}
	return nil
}

func field(text string) error { return errors.Join(ErrPolicy, errors.New("policy: "+text)) }

// volume is the most to be moved in one run for a tester that states a limit in
// bytes per second, 0 if it states none: by the smaller of both.
func (p Policy) volume(stated int64) int64 {
	limit := p.Limit
	if stated > 0 && (limit == 0 || stated < limit) {
		limit = stated
	}
	if limit == 0 {
		return p.Bytes
	}
	v := Excess * TestLength.Seconds() * float64(limit)
	return int64(min(v, 1<<50)) // no overflow, whatever is stated
}

// hold is how long a test of so many runs may hold its place.
func (p Policy) hold(runs int) time.Duration {
	return time.Duration(runs)*p.Duration + 2*p.Idle
}
