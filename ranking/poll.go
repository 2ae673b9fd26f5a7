package ranking

import (
	"fmt"
	"math"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

const (
	// pollMost is how many meters one Poll reads.
	pollMost = 256
	// readingFresh is how old the reading of a candidate may be when it is chosen.
	readingFresh = time.Second
	// planMost is how long a plan may wait for its Begin before the trial it holds is given to another.
	planMost = time.Minute
	// mostPending bounds the plans that wait.
	mostPending = 256
)

// pending is a plan with a trial that has not begun.
type pending struct {
	plan uint64
	peer string
	at   time.Duration
}

// Poll does what is due: it reads the meters of some connected peers in turn, ages what ages, and
// takes back trials that never began. Call it about once a second; it takes about 2 microseconds for
// each of them.
func (r *Ranker) Poll(now time.Duration) {
	r.mu.Lock()
	var stale []*conn
	for range min(len(r.slots), pollMost) {
		r.polled = (r.polled + 1) % len(r.slots)
		p := r.slots[r.polled]
		if p == nil {
			continue
		}
		stale = append(stale, p.conns...)
		r.consider(now, p)
	}
	r.population.renew(now, &r.cfg)
	r.expirePlans(now)
	r.debts.expire(now)
	r.noteHold(now)
	r.mu.Unlock()
	r.refresh(now, stale)
}

// refresh reads the meters of connections, outside the lock.
func (r *Ranker) refresh(now time.Duration, conns []*conn) {
	if len(conns) == 0 {
		return
	}
	readings := make([]burst.Reading, len(conns))
	for i, c := range conns {
		readings[i] = c.meter.Reading()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range conns {
		if r.conns[c.id] == c {
			r.take(now, c, &readings[i])
		}
	}
}

// take takes a reading in.
func (r *Ranker) take(now time.Duration, c *conn, reading *burst.Reading) {
	p := c.peer
	c.reading, c.readAt, c.read = *reading, now, true
	for ; c.forged < reading.Forged && c.forged < uint64(r.cfg.Audit.ForgedEchoes); c.forged++ {
		v := r.auditor.Lie(now, p.id, string(p.group.name), audit.ForgedEcho, "echoed cookies that were never issued")
		r.judge(now, p, v)
	}
	if !c.skipsTold && reading.Issued >= 100 && reading.Skipped > reading.Issued/20 {
		c.skipsTold = true
		r.tell(now, EchoesMissing, p, "", fmt.Sprintf("%d of %d cookies", reading.Skipped, reading.Issued))
	}
	p.renew(now)
	r.touch(p)
}

// usualSize is the usual size of a fetch in bytes.
func (r *Ranker) usualSize() int64 { return int64(math.Exp(r.typical)) }

// consider says to the explorer whether a peer should be tried.
func (r *Ranker) consider(now time.Duration, p *peer) {
	switch {
	case !p.connected() || p.demoted || p.stands(now, &r.cfg, r.usualSize()) && !p.tested.wants(now):
		r.explorer.enough(p.id)
	default:
		stale := p.completions >= 3
		r.explorer.want(p.id, p.group.name, stale, stale || p.picked == 0)
	}
}

// expirePlans gives up trials whose plans were dropped.
func (r *Ranker) expirePlans(now time.Duration) {
	kept := r.pending[:0]
	for _, x := range r.pending {
		if now-x.at < planMost {
			kept = append(kept, x)
			continue
		}
		r.explorer.done(x.peer, false)
	}
	r.pending = kept
}

// hold says that a plan with a trial was given out.
func (r *Ranker) hold(now time.Duration, plan uint64, peer string) {
	if len(r.pending) >= mostPending {
		r.explorer.done(r.pending[0].peer, false)
		r.pending = r.pending[1:]
	}
	r.pending = append(r.pending, pending{plan, peer, now})
}

// begun says that a plan has begun, and whether its trial was still held for it.
func (r *Ranker) begun(plan uint64) bool {
	for i, x := range r.pending {
		if x.plan == plan {
			r.pending = append(r.pending[:i], r.pending[i+1:]...)
			return true
		}
	}
	return false
}
