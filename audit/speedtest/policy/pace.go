package policy

import "time"

// slack is how far a pace may be behind and catch up, since timers are late.
// Longer lets larger bursts through.
const slack = 20 * time.Millisecond

// pace spreads bytes over time.
type pace struct{ next time.Duration } // when the next byte is due

// take accounts for n bytes at a rate in bytes per second, 0 for none, and says
// how long to wait before moving them.
func (p *pace) take(now time.Duration, n int, rate int64) time.Duration {
	if rate <= 0 {
		return 0
	}
	p.next = max(p.next, now-slack)
	wait := p.next - now
	p.next += time.Duration(float64(n) / float64(rate) * float64(time.Second))
	return max(wait, 0)
}

// ordinary is what is known of the traffic that is no test.
type ordinary struct {
	known bool
	at    time.Duration
	bytes int64
	rate  float64 // bytes per second, of late
}

// glance is the least time between two readings of ordinary traffic that make a
// rate. Shorter reads single frames as bursts.
const glance = 100 * time.Millisecond

// Ordinary tells how many bytes the node has sent in all that were no test, a
// few times a second while one is under way. Without it the reserve is left free
// whether it is used or not.
func (g *Gate) Ordinary(now time.Duration, bytes int64) {
	o := &g.link
	span := now - o.at
	switch {
	case !o.known:
		*o = ordinary{known: true, at: now, bytes: bytes}
	case span >= glance:
		o.rate = float64(max(bytes-o.bytes, 0)) / span.Seconds()
		o.at, o.bytes = now, bytes
	}
}

// rate is what a test is held to that is granted another rate, 0 for none: what
// ordinary traffic leaves of our link, which it need not leave more of than the
// reserve for.
func (g *Gate) rate(granted int64) int64 {
	if g.p.Limit == 0 {
		return granted
	}
	limit := float64(g.p.Limit)
	kept := limit * g.p.Reserve
	if g.link.known {
		kept = min(g.link.rate, kept)
	}
	ours := max(int64(limit-kept), 1)
	if granted > 0 {
		ours = min(ours, granted)
	}
	return ours
}
