package ranking

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit"
)

const (
	// finalists is how many candidates a choice compares by fresh expectations. More finds the true
	// best where the order is old; the order is never older than a few hundred choices.
	finalists = 48
	// provenAt is from which part of an expectation that completions decide a peer is no stranger: one
	// completion, until two and a half half-lives have passed. Larger calls more peers strangers.
	provenAt = 0.6
	// finalistsOfGroup is how many of one group may be among them.
	finalistsOfGroup = 8
	// unmoved is by how much others may be slower and still be preferred to a peer that serves a higher
	// priority, or for what must not be late to one that has cost us its hedges of the day.
	unmoved = 2
)

// tier is how far a candidate may be relied on, the best first.
type tier uint8

const (
	sound      tier = iota
	unreliable      // its size is disputed, or it is to be dropped
	outcast         // demoted
)

// candidate is a peer with a fresh expectation.
type candidate struct {
	p    *peer
	tier tier
	expectation
}

// ask is a query on its way.
type ask struct {
	Query
	now        time.Duration
	size       int64
	view       sizeView
	holders    []*peer // of the datum; nil if anybody will do
	candidates []candidate
}

// Choose says whom to fetch a datum from, and who else should be asked. The errors are [ErrNoSize],
// [ErrSize] and [ErrNoPeer]; the size is disputed or agreed, it never fails for that.
func (r *Ranker) Choose(now time.Duration, q Query) (Plan, error) {
	r.mu.Lock()
	a, err := r.ask(now, q)
	if err != nil {
		r.mu.Unlock()
		return Plan{}, err
	}
	stale := r.staleOf(now, a.candidates)
	if len(stale) > 0 {
		r.mu.Unlock()
		r.refresh(now, stale)
		r.mu.Lock()
		r.rescore(&a)
	}
	defer r.mu.Unlock()
	return r.plan(&a)
}

// ask gathers the candidates.
func (r *Ranker) ask(now time.Duration, q Query) (ask, error) {
	r.now = now
	r.population.renew(now, &r.cfg)
	a := ask{Query: q, now: now, size: q.Size}
	if q.Datum != "" {
		a.view = r.book.view(q.Datum, r.aged)
	}
	if a.size == 0 {
		a.size = a.view.size.Bytes
	}
	if a.size == 0 {
		return a, ErrNoSize
	}
	if err := (Size{Bytes: a.size}).Validate(); err != nil {
		return a, err
	}
	r.gather(&a)
	if len(a.candidates) == 0 {
		return a, ErrNoPeer
	}
	return a, nil
}

// gather finds the candidates: of the holders of the datum, or of all.
func (r *Ranker) gather(a *ask) {
	if a.Datum != "" {
		for _, p := range r.holders.of(a.Datum) {
			if p.connected() {
				a.holders = append(a.holders, p)
			}
		}
	}
	a.candidates = make([]candidate, 0, finalists)
	if n := len(a.holders); n > 0 && n <= finalists {
		for _, p := range a.holders {
			if a.may(p) {
				a.candidates = append(a.candidates, r.candidate(a, p))
			}
		}
	} else {
		r.gatherByIndex(a)
	}
	r.settleOrder(a)
}

// gatherByIndex takes those that come first in the order kept for such a size, not too many of a group.
func (r *Ranker) gatherByIndex(a *ask) {
	x := r.indexOf(a.now, a.size)
	ofGroup := map[*group]int{}
	take := func(p *peer) bool {
		if ofGroup[p.group] < finalistsOfGroup && a.may(p) {
			ofGroup[p.group]++
			a.candidates = append(a.candidates, r.candidate(a, p))
		}
		return len(a.candidates) < finalists
	}
	if len(a.holders) == 0 {
		r.best(x, seenMost, take)
		return
	}
	slices.SortFunc(a.holders, func(p, q *peer) int { return cmp.Compare(x.key[x.leaves+p.slot], x.key[x.leaves+q.slot]) })
	for _, p := range a.holders {
		if !take(p) {
			return
		}
	}
}

// may says whether the query allows a peer.
func (a *ask) may(p *peer) bool {
	return p.connected() && a.RTT.has(p.base) && !slices.Contains(a.Exclude, p.id)
}

func sortCandidates(c []candidate) {
	slices.SortFunc(c, func(x, y candidate) int {
		if x.tier != y.tier {
			return cmp.Compare(x.tier, y.tier)
		}
		return cmp.Compare(x.time, y.time)
	})
}

// candidate makes a peer's expectation for a query.
func (r *Ranker) candidate(a *ask, p *peer) candidate {
	c := candidate{p: p, expectation: r.expect(p, a.size, a.now)}
	switch {
	case p.demoted && !r.cfg.Dry:
		c.tier = outcast
	case p.dropped && !r.cfg.Dry && !p.pinned, r.contradicts(a, p):
		c.tier = unreliable
	}
	if (a.Critical || a.Deadline > 0) && p.costs.left(a.now) == 0 {
		c.time *= unmoved
	}
	return c
}

// contradicts says whether the peer's word on the size is one not to choose it alone on.
func (r *Ranker) contradicts(a *ask, p *peer) bool {
	if a.view.size.Bytes == 0 || !a.view.disputed && a.view.least == a.view.size.Bytes && a.view.size.Provenance == Advertised {
		return false
	}
	bytes, ok := r.book.claimed(a.Datum, p.id)
	return ok && (a.view.disputed && !a.view.majority || bytes != a.view.size.Bytes)
}

// settleOrder brings the candidates into order. While the size is disputed a peer is worth what it is
// at the end that suits it least: its time there as a share of the best one's.
func (r *Ranker) settleOrder(a *ask) {
	if a.Size == 0 && a.view.disputed {
		r.regret(a, a.view.least, a.view.most)
	}
	sortCandidates(a.candidates)
}

// regret sets the candidates' times to the time of the best, times the most by which each is worse at
// any of the sizes.
func (r *Ranker) regret(a *ask, sizes ...int64) {
	worst := make([]float64, len(a.candidates))
	times := make([]float64, len(a.candidates))
	best := math.Inf(1)
	for _, c := range a.candidates {
		best = min(best, c.time)
	}
	for _, n := range sizes {
		least := math.Inf(1)
		for i, c := range a.candidates {
			times[i] = r.expect(c.p, n, a.now).time
			least = min(least, times[i])
		}
		for i, t := range times {
			worst[i] = max(worst[i], t/max(least, 1e-9))
		}
	}
	for i := range a.candidates {
		a.candidates[i].time = best * worst[i]
	}
}

// staleOf returns the connections of the first candidates whose readings are old.
func (r *Ranker) staleOf(now time.Duration, c []candidate) []*conn {
	var out []*conn
	for _, x := range c[:min(len(c), 8)] {
		for _, k := range x.p.conns {
			if now-k.readAt >= readingFresh {
				out = append(out, k)
			}
		}
	}
	return out
}

// rescore makes the expectations anew, after the lock was given up.
func (r *Ranker) rescore(a *ask) {
	kept := a.candidates[:0]
	for _, c := range a.candidates {
		if c.p.connected() {
			kept = append(kept, r.candidate(a, c.p))
		}
	}
	a.candidates = kept
	r.settleOrder(a)
}

// plan makes the plan.
func (r *Ranker) plan(a *ask) (Plan, error) {
	if len(a.candidates) == 0 {
		return Plan{}, ErrNoPeer
	}
	r.planned++
	p := Plan{
		Datum: a.Datum, Size: Size{Bytes: a.size, Provenance: a.view.size.Provenance},
		Critical: a.Critical, Deadline: a.Deadline, Priority: a.Priority, id: r.planned, exclude: a.Exclude, rtt: a.RTT,
	}
	chosen := r.draw(a, &p.Why)
	p.Primary = r.pick(a.now, chosen, Primary, 0, a.size)
	p.Primary.Bytes = 0
	p.Primary.contested = chosen.tier == unreliable && p.Why.Disputed
	p.Predicted = p.Primary.Predicted
	p.Late = a.Deadline > 0 && a.now+p.Predicted > a.Deadline
	r.addCopies(a, &p, chosen)
	r.addTrials(a, &p, chosen)
	r.tally.Plans++
	return p, nil
}

// draw takes one of those within the band of the best: the one that we are with, or any, by group first.
func (r *Ranker) draw(a *ask, why *Why) candidate {
	best := a.candidates[0]
	pool := a.candidates
	if unmovedPool := avoidHigher(a, pool); len(unmovedPool) > 0 {
		pool, best = unmovedPool, unmovedPool[0]
	}
	n := 0
	for n < len(pool) && pool[n].tier == best.tier && pool[n].time <= best.time*(1+r.cfg.Band) {
		n++
	}
	band := proven(pool[:max(n, 1)])
	groups := groupsOf(band)
	c, kept := r.incumbent(a.now, band)
	if !kept {
		c = r.drawOf(band, groups)
	}
	*why = Why{
		Candidates: len(a.candidates), Band: len(band), Groups: len(groups), Kept: kept,
		Best: duration(best.time), Measured: c.measured,
		Disputed: a.view.disputed && a.Size == 0, LastResort: c.tier != sound,
	}
	if n < len(pool) {
		why.Next = duration(pool[n].time)
	}
	return c
}

// proven leaves strangers out of a band in which others are. What is predicted of a stranger is what
// its like do, so in a population of equals it is within the band of the best: drawn by chance, each
// new identity would have a fetch that somebody waits for. Trials are there to find out about
// it, and it is chosen all the same where it is predicted to be better than all that are known.
func proven(band []candidate) []candidate {
	known := slices.DeleteFunc(slices.Clone(band), func(c candidate) bool { return c.measured < provenAt })
	if len(known) == 0 {
		return band
	}
	return known
}

// avoidHigher leaves out peers that serve a fetch of higher priority, where others would do.
func avoidHigher(a *ask, pool []candidate) []candidate {
	free := slices.DeleteFunc(slices.Clone(pool), func(c candidate) bool { return c.p.serves(a.Priority) })
	if len(free) == len(pool) || len(free) == 0 {
		return nil
	}
	if free[0].tier > pool[0].tier || free[0].time > unmoved*pool[0].time {
		return nil
	}
	return free
}

// groupsOf are the groups of candidates, each once.
func groupsOf(band []candidate) []*group {
	var groups []*group
	for _, c := range band {
		if !slices.Contains(groups, c.p.group) {
			groups = append(groups, c.p.group)
		}
	}
	return groups
}

// drawOf takes one of the groups at random, and one of its candidates.
func (r *Ranker) drawOf(band []candidate, groups []*group) candidate {
	g := groups[r.rng.IntN(len(groups))]
	n := 0
	var out candidate
	for _, c := range band {
		if c.p.group != g {
			continue
		}
		if n++; r.rng.IntN(n) == 0 {
			out = c
		}
	}
	return out
}

// pick makes a part of a plan: what is expected, and the claim that the audit will hold against it.
func (r *Ranker) pick(now time.Duration, c candidate, role Role, offset, bytes int64) Pick {
	p := c.p
	k := p.conn()
	path := r.path(p, k, now)
	out := Pick{
		Peer: p.id, Conn: k.id, Group: p.group.name, Role: role, Offset: offset, Bytes: bytes, bytes: bytes,
		Predicted: duration(c.time), expected: c.plain, path: path, coverage: p.estimation.Coverage,
	}
	all := bytes + p.outstanding
	out.claim, out.claimed = claimFor(all, path)
	out.claimFor = all
	return out
}

// addCopies asks more peers at once where one is not enough: for a critical fetch, and where the one
// is not to be relied on alone.
func (r *Ranker) addCopies(a *ask, p *Plan, chosen candidate) {
	copies, what := 1, redundant
	if a.Critical {
		copies = r.cfg.Copies
		if chosen.p.verdict.Kinds.Has(audit.NeverAlone) {
			copies = max(copies, 2)
		}
	} else if chosen.tier != sound && p.Why.Disputed {
		copies, what = 2, ordinary
	}
	groups := []*group{chosen.p.group}
	for _, c := range a.candidates {
		if len(groups) >= copies || r.budget.left(a.now, what) < a.size*int64(len(groups)) {
			break
		}
		if c.p == chosen.p || c.tier == outcast || slices.Contains(groups, c.p.group) {
			continue
		}
		groups = append(groups, c.p.group)
		k := r.pick(a.now, c, Redundant, 0, a.size)
		k.Bytes = 0
		p.Redundant = append(p.Redundant, k)
	}
}

// addTrials adds a copy for a peer to be tried, or for a demoted one, now and then. Both are copies:
// nobody waits for them, and what they send can be compared.
func (r *Ranker) addTrials(a *ask, p *Plan, chosen candidate) {
	left := r.budget.left(a.now, ordinary)
	asked := func(id string) *peer {
		q := r.peers[id]
		if q == nil || q == chosen.p || !a.may(q) || !r.holds(a, q) {
			return nil
		}
		return q
	}
	if !a.Critical {
		x, ok := r.firstTrial(a, chosen, asked)
		if !ok {
			x, ok = r.explorer.explore(func(id string) bool { return left > 0 && asked(id) != nil })
		}
		if ok {
			left -= r.addExploration(a, p, x, left)
		}
	}
	if id, _, ok := r.explorer.cast(a.now, func(id string) bool { return left > 0 && asked(id) != nil }); ok {
		r.addTrial(a, p, r.peers[id], Shadow, min(a.size, left))
	}
}

// firstTrial looks for a peer that is owed its first trial. Where the fetch itself goes to a stranger
// there is none, nor for one that we await something from: where many fetches at once need all peers, those
// tell enough.
func (r *Ranker) firstTrial(a *ask, chosen candidate, asked func(string) *peer) (exploration, bool) {
	left := r.budget.left(a.now, discovery)
	if chosen.measured < provenAt || left < min(a.size, r.explorer.limits.firstBytes) {
		return exploration{}, false
	}
	return r.explorer.first(r.strangersOf(a), func(id string) bool {
		q := asked(id)
		return q != nil && len(q.active) == 0 && q.group.untried(a.now, &r.cfg)
	})
}

// strangersOf is an urn of those of the holders that are owed a first trial, all of those if anybody
// will do: a draw of all looks at a few only, and would hardly meet one that has the datum.
func (r *Ranker) strangersOf(a *ask) *urn {
	if len(a.holders) == 0 {
		return r.explorer.fresh
	}
	var few *urn
	for _, q := range a.holders {
		if !r.explorer.fresh.has(q.id) {
			continue
		}
		if few == nil {
			few = newUrn()
		}
		few.add(q.id, q.group.name)
	}
	return few
}

// addExploration adds a trial to a plan, and returns how many bytes it is for.
func (r *Ranker) addExploration(a *ask, p *Plan, x exploration, left int64) int64 {
	bytes := min(a.size, left)
	if x.bytes > 0 {
		bytes = min(bytes, x.bytes)
	}
	if x.first {
		bytes = min(bytes, r.budget.left(a.now, discovery))
	}
	r.addTrial(a, p, r.peers[x.peer], Exploration, bytes)
	p.Shadow[len(p.Shadow)-1].first = x.first
	r.hold(a.now, p.id, x.peer)
	return bytes
}

func (r *Ranker) addTrial(a *ask, p *Plan, q *peer, role Role, bytes int64) {
	k := r.pick(a.now, candidate{p: q, expectation: r.expect(q, bytes, a.now)}, role, 0, bytes)
	if bytes == a.size {
		k.Bytes = 0
	}
	p.Shadow = append(p.Shadow, k)
}

// holds says whether a peer has what is asked for, as far as is known.
func (r *Ranker) holds(a *ask, p *peer) bool {
	return len(a.holders) == 0 || slices.Contains(a.holders, p)
}
