package ranking

import (
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// past is an estimate of a connection that is gone.
type past struct {
	rate     burst.SecondsPerByte
	coverage float64
	at       time.Duration
}

// covered is the coverage that is left of it.
func (p past) covered(now, half time.Duration) float64 {
	if p.coverage == 0 {
		return 0
	}
	return p.coverage * decay(now-p.at, half)
}

// fold takes in an estimate that covers so many bytes.
func (p *past) fold(now, half time.Duration, e burst.Estimation) {
	if e.Rate <= 0 || e.Coverage <= 0 {
		return
	}
	old, c := p.covered(now, half), float64(e.Coverage)
	p.rate += (e.Rate - p.rate) * burst.SecondsPerByte(c/(c+old))
	p.coverage, p.at = max(old, c), now
}

// peer is the record of a peer. It outlives its connections.
type peer struct {
	id    string
	group *group
	slot  int // in Ranker.slots, for the indices; -1 while it has no connection
	place int // in group.peers
	since time.Duration
	seen  time.Duration // when it was last connected
	joins int           // how many of its group had joined when it did

	conns       []*conn
	outstanding int64 // bytes awaited from it, all told
	active      []*Fetch

	// What its connections say together, renewed with their readings.
	base, high time.Duration
	estimation burst.Estimation
	gone, long past // of connections gone; of all, with a half-life of a day

	waits       waits
	calibration calibration
	usual       usual
	penalty     penalty
	tested      tested
	costs       allowance
	former      former
	post        post

	picked       int // times chosen, shadows too
	completions  int
	bytes        int64
	clearSince   time.Duration // since when no fetch of it exceeded its claim much
	shadowedAt   time.Duration
	shadowedEver bool

	verdict audit.Verdict // the last
	demoted bool          // by the verdict
	proven  bool          // counted in its group's
	pinned  bool
	dropped bool // told to drop it since it joined

	voteOf float64 // s/B it has in its group's vote; 0 none
}

func (p *peer) connected() bool { return len(p.conns) > 0 }

// renew combines the readings of its connections: the least base, the worst high quantile, rates by
// the bytes that cover them.
func (p *peer) renew(now time.Duration) {
	var base, high time.Duration
	var e burst.Estimation
	var weight, rate, se float64
	take := func(x burst.Estimation, coverage float64) {
		if x.Rate > 0 {
			w := max(coverage, 1)
			weight, rate, se = weight+w, rate+w*float64(x.Rate), se+w*float64(x.StandardError)
			e.Bursts += x.Bursts
		}
		if x.UpperBound > 0 && (e.UpperBound == 0 || x.UpperBound < e.UpperBound) {
			e.UpperBound = x.UpperBound
		}
		e.Coverage = max(e.Coverage, int64(coverage))
	}
	for _, c := range p.conns {
		if b := c.base(); b > 0 && (base == 0 || b < base) {
			base = b
		}
		high = max(high, c.reading.P95RTT)
		take(c.reading.Estimation, float64(c.reading.Estimation.Coverage))
	}
	if c := p.gone.covered(now, burst.DefaultHalfLife); c >= 1 {
		take(burst.Estimation{Rate: p.gone.rate, StandardError: p.gone.rate}, c)
	}
	if weight > 0 {
		e.Rate, e.StandardError = burst.SecondsPerByte(rate/weight), burst.SecondsPerByte(se/weight)
	}
	if base > 0 {
		p.base, p.high = base, max(high, base)
	}
	p.estimation = e
}

// stands says whether enough is known of it that it need not be tried: three completions, which are
// not too old and not all much smaller than what is usually asked for.
func (p *peer) stands(now time.Duration, c *Config, usual int64) bool {
	return p.completions >= 3 && p.waits.vouch(now, usual, c.HalfWait, 0.25)
}

// conn is the connection to use: the one with the least under way, the newest of those.
func (p *peer) conn() *conn {
	var best *conn
	for _, c := range p.conns {
		if best == nil || c.outstanding <= best.outstanding {
			best = c
		}
	}
	return best
}

// prove counts it among the peers of its group that something is known of.
func (p *peer) prove() {
	if !p.proven {
		p.proven = true
		p.group.proven++
	}
}

// serves says whether it serves a fetch of a higher priority.
func (p *peer) serves(priority int) bool {
	for _, f := range p.active {
		if f.job.plan.Priority > priority {
			return true
		}
	}
	return false
}
