package policy

import (
	"time"
)

// Who is a tester: an identity, and the network group it comes from.
type Who struct{ Identity, Group string }

// Ask is a request for a test. Zero stands for no wish, and nothing in it is
// believed further than it lowers a bound.
type Ask struct {
	Runs    int           // ways to test, one after the other
	Streams int           // at once
	Length  time.Duration // of a run
	Bytes   int64         // of a run
	Rate    int64         // of a run, in bytes per second
	Limit   int64         // of the tester's own link, in bytes per second
}

// Grant is what a tester may have.
type Grant struct {
	Test    uint64 // names the test
	Runs    int
	Streams int
	Length  time.Duration // of each run, a hard stop
	Bytes   int64         // of each run, a hard stop
	// Rate is the rate in bytes per second that runs are held to, 0 if none.
	Rate int64
	// Until is when the test's place is given up, whatever has happened by then.
	Until time.Duration
}

// entry is a test of the last day.
type entry struct {
	at    time.Duration
	who   Who
	bytes int64 // granted, and once it is over moved
}

// test is the one under way.
type test struct {
	Grant
	who   Who
	wish  int64         // the rate it asked for
	runs  int           // begun
	began time.Duration // the run under way, if running
	alive time.Duration // when a byte was moved last, or a run began or ended
	left  int64         // bytes of the run under way
	moved int64         // bytes in all
	pace  pace

	running bool
	over    bool
}

// Gate applies a policy. Build it with New. Not safe for concurrent use.
type Gate struct {
	p     Policy
	days  []entry // the oldest first
	now   *test   // nil if none
	next  uint64
	asked announcements
	link  ordinary

	counts Counts
}

// Counts are what a gate has done.
type Counts struct {
	Granted uint64
	Refused [codes]uint64 // by code
	Moved   int64         // payload bytes of tests
}

// Refusals are all refusals.
func (c Counts) Refusals() (n uint64) {
	for _, r := range c.Refused {
		n += r
	}
	return n
}

// New returns a gate, or an error that is ErrPolicy.
func New(p Policy) (*Gate, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Gate{p: p}, nil
}

// Policy is the one applied.
func (g *Gate) Policy() Policy { return g.p }

// Counts returns what was done so far.
func (g *Gate) Counts() Counts { return g.counts }

// SetOptOut opts the node out, which ends a test under way, or in again.
func (g *Gate) SetOptOut(on bool) {
	g.p.OptOut = on
	if on && g.now != nil {
		g.now.over = true
	}
}

// Announce notes that a tester will come. Its notice period runs from the first
// time it says so. It returns OptedOut or Accepted.
func (g *Gate) Announce(now time.Duration, w Who) Code {
	if g.p.OptOut {
		g.counts.Refused[OptedOut]++
		return OptedOut
	}
	g.asked.add(now, w)
	return Accepted
}

// Ask grants a test, which is then under way until End, or refuses it with a
// *Refusal.
func (g *Gate) Ask(now time.Duration, w Who, a Ask) (Grant, error) {
	g.expire(now)
	grant, refusal := g.weigh(now, w, a)
	if refusal.Code != Accepted {
		g.counts.Refused[refusal.Code]++
		return Grant{}, &refusal
	}
	g.counts.Granted++
	g.next++
	grant.Test = g.next
	g.now = &test{Grant: grant, who: w, wish: a.Rate, alive: now}
	g.days = append(g.days, entry{now, w, grant.Bytes * int64(grant.Runs)})
	return grant, nil
}

// weigh decides. What is permanent comes before what passes.
func (g *Gate) weigh(now time.Duration, w Who, a Ask) (Grant, Refusal) {
	switch {
	case g.p.OptOut:
		return Grant{}, Refusal{Code: OptedOut}
	case w.Identity == "" || w.Group == "" || a.Runs < 0 || a.Streams < 0 || a.Length < 0 || a.Bytes < 0 || a.Rate < 0 || a.Limit < 0:
		return Grant{}, Refusal{Code: BadRequest}
	}
	if wait := g.notice(now, w); wait > 0 {
		return Grant{}, Refusal{NotAnnounced, wait}
	}
	if r := g.quotas(now, w); r.Code != Accepted {
		return Grant{}, r
	}
	if g.now != nil {
		return Grant{}, Refusal{Busy, max(g.now.Until-now, time.Second)}
	}
	return g.size(now, w, a)
}

// notice is how long the tester has to wait for its notice period to be over.
func (g *Gate) notice(now time.Duration, w Who) time.Duration {
	if g.p.Notice == 0 {
		return 0
	}
	at, ok := g.asked.of(w)
	if !ok {
		return g.p.Notice
	}
	return at + g.p.Notice - now
}

// quotas says whether identity, group and node have had their number of tests.
func (g *Gate) quotas(now time.Duration, w Who) Refusal {
	var group []entry
	for _, e := range g.days {
		if wait := e.at + g.p.Interval - now; e.who.Identity == w.Identity && wait > 0 {
			return Refusal{TooSoon, wait}
		}
		if e.who.Group == w.Group {
			group = append(group, e)
		}
	}
	if len(group) >= g.p.GroupTests {
		return Refusal{GroupQuota, group[len(group)-g.p.GroupTests].at + Day - now}
	}
	if len(g.days) >= g.p.DayTests {
		return Refusal{DayQuota, g.days[0].at + Day - now}
	}
	return Refusal{}
}

// size decides how much, by what is left.
func (g *Gate) size(now time.Duration, w Who, a Ask) (Grant, Refusal) {
	p := g.p
	grant := Grant{
		Runs: atMost(a.Runs, p.Runs), Streams: atMost(a.Streams, p.Streams),
		Length: atMost(a.Length, p.Duration), Bytes: atMost(a.Bytes, p.volume(a.Limit)),
		Rate: g.rate(a.Rate),
	}
	grant.Until = now + p.hold(grant.Runs)
	var day, group int64
	for _, e := range g.days {
		day += e.bytes
		if e.who.Group == w.Group {
			group += e.bytes
		}
	}
	runs := int64(grant.Runs)
	if a.Bytes > 0 && a.Bytes < leastTest {
		return Grant{}, Refusal{Code: BadRequest}
	}
	inGroup, inDay := (p.GroupBytes-group)/runs, (p.DayBytes-day)/runs
	switch {
	case inGroup < leastTest:
		return Grant{}, Refusal{GroupQuota, g.frees(now)}
	case inDay < leastTest:
		return Grant{}, Refusal{DayQuota, g.frees(now)}
	}
	grant.Bytes = min(grant.Bytes, inGroup, inDay)
	return grant, Refusal{}
}

// frees is when the first of the day's tests is a day old.
func (g *Gate) frees(now time.Duration) time.Duration {
	if len(g.days) == 0 {
		return Day
	}
	return max(g.days[0].at+Day-now, time.Second)
}

// atMost is the wish, or the bound where there is none or it is more.
func atMost[T int | int64 | time.Duration](wish, bound T) T {
	if wish <= 0 {
		return bound
	}
	return min(wish, bound)
}

// expire forgets tests that are a day old, and ends one that has outlived its
// hold or moves nothing.
func (g *Gate) expire(now time.Duration) {
	if t := g.now; t != nil && (now >= t.Until || now >= t.alive+g.p.Idle) {
		g.End(t.Test)
	}
	n := 0
	for n < len(g.days) && now-g.days[n].at >= Day {
		n++
	}
	g.days = append(g.days[:0], g.days[n:]...)
}
