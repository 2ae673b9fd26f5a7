package policy

import "time"

// Ended says why nothing more of a run may be moved.
type Ended uint8

// Why a run ends by the gate.
const (
	// Going: it has not ended.
	Going Ended = iota
	// Spent: its bytes are used up.
	Spent
	// Timeout: its time is.
	Timeout
	// Idled: nothing has moved for too long.
	Idled
	// Withdrawn: the node opted out in mid-test, or the test is over.
	Withdrawn
	// Stopped: the tester has enough.
	Stopped

	endings
)

// String returns it as a label.
func (e Ended) String() string {
	return [endings + 1]string{"going", "spent", "timeout", "idle", "withdrawn", "stopped", "unknown"}[min(e, endings)]
}

// Begin starts the next run of a test; false if there is none left.
func (g *Gate) Begin(now time.Duration, id uint64) bool {
	t := g.live(now, id)
	if t == nil || t.running || t.runs >= t.Runs {
		return false
	}
	t.runs++
	t.running, t.began, t.alive, t.left = true, now, now, t.Grant.Bytes
	t.pace = pace{next: now}
	return true
}

// Take is asked before n bytes of a run are moved. It returns how many may be,
// and how long to wait before that; or none, and why the run is over. What it
// returns is spent.
func (g *Gate) Take(now time.Duration, id uint64, n int) (granted int, wait time.Duration, why Ended) {
	t := g.live(now, id)
	switch {
	case t == nil || !t.running:
		return 0, 0, Withdrawn
	case now >= t.began+t.Length || now >= t.Until:
		return 0, 0, Timeout
	case t.left <= 0:
		return 0, 0, Spent
	}
	granted = int(min(int64(max(n, 0)), t.left))
	t.left -= int64(granted)
	t.moved += int64(granted)
	g.counts.Moved += int64(granted)
	t.alive = now
	return granted, t.pace.take(now, granted, g.rate(t.wish)), Going
}

// Check says whether a run may go on, without moving anything: it is to be asked
// a few times a second, for what moves nothing never asks Take.
func (g *Gate) Check(now time.Duration, id uint64) Ended {
	t := g.live(now, id)
	switch {
	case t == nil || !t.running:
		return Withdrawn
	case now >= t.began+t.Length || now >= t.Until:
		return Timeout
	case now >= t.alive+g.p.Idle:
		return Idled
	}
	return Going
}

// Stop ends the run under way.
func (g *Gate) Stop(now time.Duration, id uint64) {
	if t := g.now; t != nil && t.Test == id {
		t.running, t.alive = false, now
	}
}

// End ends a test; what it did not use is no longer charged.
func (g *Gate) End(id uint64) {
	if g.now == nil || g.now.Test != id {
		return
	}
	for i := range g.days {
		if e := &g.days[len(g.days)-1-i]; e.who == g.now.who {
			e.bytes = g.now.moved
			break
		}
	}
	g.now = nil
}

// live is the test of that name, if it is under way and may be.
func (g *Gate) live(now time.Duration, id uint64) *test {
	t := g.now
	if t == nil || t.Test != id || t.over || g.p.OptOut || now >= t.Until {
		return nil
	}
	return t
}

// Alive says whether a test still has its place: it has lost it when its time is
// over, or nothing has moved, begun or ended for too long.
func (g *Gate) Alive(now time.Duration, id uint64) bool {
	t := g.live(now, id)
	return t != nil && now < t.alive+g.p.Idle
}
