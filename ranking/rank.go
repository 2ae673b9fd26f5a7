package ranking

import (
	"cmp"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// Standing is what is thought of one peer. It is a value.
type Standing struct {
	Peer      string
	Group     Group
	Connected bool
	// Expected is how long the size asked about should take: what ranks.
	Expected time.Duration
	// Claim is what the peer's own raw rate says of it; 0 without one.
	Claim time.Duration
	// Measured is how much of Expected rests on completions, 0 to 1.
	Measured float64
	// Calibration and Penalty are the factors in it: how much longer than claimed it takes, and what
	// failures and slow completions make of it. 1 is none.
	Calibration, Penalty float64

	BaseRTT, HighRTT time.Duration
	Rate             burst.SecondsPerByte
	// Tested is the rate that the last speed test showed, 0 without one in the last day.
	Tested      burst.SecondsPerByte
	Coverage    int64
	Outstanding int64

	Completions, Failures, Picked int
	Bytes                         int64

	Newcomer, Demoted, Pinned, Dropped bool
	Verdict                            audit.Verdict
}

// Rank returns the connected peers that should deliver so many bytes soonest, at most so many, the
// best first; demoted ones come last.
func (r *Ranker) Rank(now time.Duration, size int64, most int) []Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = now
	r.population.renew(now, &r.cfg)
	size = min(max(size, 1), MaxSize)
	most = min(max(most, 0), len(r.slots))
	all := make([]candidate, 0, min(most+finalists, len(r.slots)))
	a := ask{now: now, size: size}
	want := most + most/4 + 8
	r.best(r.indexOf(now, size), want, func(p *peer) bool {
		all = append(all, r.candidate(&a, p))
		return len(all) < want
	})
	slices.SortFunc(all, func(x, y candidate) int {
		if d, e := x.tier == outcast, y.tier == outcast; d != e {
			if d {
				return 1
			}
			return -1
		}
		return cmp.Compare(x.time, y.time)
	})
	out := make([]Standing, min(most, len(all)))
	for i := range out {
		out[i] = r.standing(now, all[i].p, size, all[i].expectation)
	}
	return out
}

// Standing returns what is thought of one peer for a size. The error is [ErrUnknownPeer].
func (r *Ranker) Standing(now time.Duration, peer string, size int64) (Standing, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[peer]
	if p == nil {
		return Standing{}, ErrUnknownPeer
	}
	r.population.renew(now, &r.cfg)
	size = min(max(size, 1), MaxSize)
	return r.standing(now, p, size, r.expect(p, size, now)), nil
}

func (r *Ranker) standing(now time.Duration, p *peer, size int64, e expectation) Standing {
	path := r.path(p, p.conn(), now)
	c, _ := claimFor(size+p.outstanding, path)
	return Standing{
		Peer: p.id, Group: p.group.name, Connected: p.connected(),
		Expected: duration(e.time), Claim: c.Total, Measured: e.measured,
		Calibration: p.calibration.factor(now, r.cfg.HalfCalibration), Penalty: p.penalty.factor(now, r.tally.Completions, &r.cfg),
		BaseRTT: p.base, HighRTT: p.high, Rate: p.estimation.Rate, Tested: burst.SecondsPerByte(p.tested.floor(now)), Coverage: p.estimation.Coverage,
		Outstanding: p.outstanding,
		Completions: p.completions, Failures: p.penalty.failures, Picked: p.picked, Bytes: p.bytes,
		Newcomer: p.completions == 0, Demoted: p.demoted, Pinned: p.pinned, Dropped: p.dropped,
		Verdict: p.verdict,
	}
}

// ChunkSize is how many bytes to ask of a peer so that they come within a time; 0 if not even one
// would. It is the inverse of what Rank expects. The error is [ErrUnknownPeer].
func (r *Ranker) ChunkSize(now time.Duration, peer string, within time.Duration) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[peer]
	if p == nil {
		return 0, ErrUnknownPeer
	}
	r.population.renew(now, &r.cfg)
	fits := func(n int64) bool { return r.expect(p, n, now).time <= within.Seconds() }
	if !fits(1) {
		return 0, nil
	}
	least, most := int64(1), int64(MaxSize)
	for least < most && most-least > least/256 {
		mid := least + (most-least+1)/2
		if fits(mid) {
			least = mid
		} else {
			most = mid - 1
		}
	}
	return least, nil
}

// Tally counts since the start.
type Tally struct {
	Plans, Completions, Failures, Hedges uint64
	// Picks counts transfers by [Role].
	Picks [Exploration + 1]uint64
	// Ours is the time in fetches that was our own doing.
	Ours time.Duration
}

// Stats is the state of a ranker as metrics want it. It is a value.
type Stats struct {
	Tally
	Peers, Connected, Groups int
	// Verdicts counts the peers that are connected by what stands against them.
	Verdicts [audit.ProvenLie + 1]int
	Demoted  int
	// Prior is the rate that strangers are taken for.
	Prior burst.SecondsPerByte
	// OrdinaryLeft, CriticalLeft and RedundantLeft are the extra bytes that may be spent now, Spent
	// those of the last hour.
	OrdinaryLeft, CriticalLeft, RedundantLeft, Spent int64
	// Held says why verdicts are held: "not_held" if they are not.
	Held string
	// Events counts events by kind, Dropped those nobody drained in time.
	Events  [eventKinds]uint64
	Dropped uint64
}

// Stats returns the counters. It looks at every connected peer.
func (r *Ranker) Stats(now time.Duration) Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Stats{
		Tally: r.tally, Peers: len(r.peers), Groups: r.connectedGroups(),
		Prior:        burst.SecondsPerByte(r.population.prior),
		OrdinaryLeft: r.budget.left(now, ordinary), CriticalLeft: r.budget.left(now, critical),
		RedundantLeft: r.budget.left(now, redundant),
		Events:        r.events.counts, Dropped: r.events.dropped,
	}
	for what := range spendings {
		s.Spent += r.budget.used(now, what)
	}
	for _, p := range r.slots {
		if p == nil {
			continue
		}
		s.Connected++
		s.Verdicts[p.verdict.Kind]++
		if p.demoted {
			s.Demoted++
		}
	}
	cause, _ := r.us.held(now)
	s.Held = cause.String()
	return s
}

// Strata returns the audit's strata, for metrics.
func (r *Ranker) Strata() []audit.Stratum {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.auditor.Strata()
}

// FreeRates returns how often a peer may do what without a verdict: what hedging and redundancy are
// left to cover.
func (r *Ranker) FreeRates() []audit.FreeRate {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.auditor.FreeRates()
}
