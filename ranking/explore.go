package ranking

import (
	"math/rand/v2"
	"time"
)

// exploreLimits are the knobs of an explorer.
type exploreLimits struct {
	// share of the non-critical fetches goes to peers we know too little of. Larger finds good ones
	// sooner; at 2 % fetches that take three times as long cost 4 %.
	share float64
	// firstBytes is the range a peer is first asked for. Larger tells more of it; a whole datum at
	// three times the cost makes exploring ten times as dear.
	firstBytes int64
	// shadows is the share of all fetches that a demoted peer gets a copy of, to redeem itself.
	shadows float64
	// shadowEvery is the least time between two shadows of one peer.
	shadowEvery time.Duration
}

func defaultExploreLimits() exploreLimits {
	return exploreLimits{share: 0.02, firstBytes: 1 << 20, shadows: 0.01, shadowEvery: 30 * time.Minute}
}

// exploration is a peer to try.
type exploration struct {
	peer  string
	group Group
	// bytes is how much to ask of it at most: the first range, or 0 for the whole datum where it has
	// delivered one.
	bytes int64
	first bool // trial it was owed
}

// trial is what the explorer knows of a peer it may try.
type trial struct {
	stale   bool // known once, not a newcomer
	served  bool // has delivered its first range
	running Group
	busy    bool
}

// shadowed is what it knows of a demoted peer.
type shadowed struct {
	last time.Duration
	ever bool
}

// explorer says when to try a peer that ranking would not choose. Its chances are random, so that
// nobody can tell which fetch is a trial. It is not safe for concurrent use.
type explorer struct {
	limits exploreLimits
	rng    *rand.Rand

	trials  *urn
	fresh   *urn // those of them that are owed a first trial
	trial   map[string]*trial
	busy    map[Group]string // the newcomer under trial of each group
	owed    bool             // a trial came up and nobody could be tried
	demoted *urn
	shadow  map[string]shadowed
}

func newExplorer(l exploreLimits, rng *rand.Rand) *explorer {
	return &explorer{
		limits: l, rng: rng,
		trials: newUrn(), fresh: newUrn(), trial: map[string]*trial{}, busy: map[Group]string{},
		demoted: newUrn(), shadow: map[string]shadowed{},
	}
}

// want says that too little is known of a peer: a newcomer, or one whose evidence is stale. Fresh says
// that it is owed a first trial.
func (e *explorer) want(peer string, g Group, stale, fresh bool) {
	e.trials.add(peer, g)
	if fresh {
		e.fresh.add(peer, g)
	} else {
		e.fresh.remove(peer)
	}
	if t := e.trial[peer]; t != nil {
		t.stale = stale
		return
	}
	e.trial[peer] = &trial{stale: stale}
}

// enough says that a peer needs no more trials, or is gone.
func (e *explorer) enough(peer string) {
	if e.trial[peer] == nil {
		return
	}
	e.done(peer, false)
	e.trials.remove(peer)
	e.fresh.remove(peer)
	delete(e.trial, peer)
}

// explore decides at the start of a non-critical fetch whether it goes to a peer to be tried, one
// that may says is fit for it. Every one given wants done.
func (e *explorer) explore(may func(peer string) bool) (exploration, bool) {
	due := e.rng.Float64() < e.limits.share
	if !due && !e.owed {
		return exploration{}, false
	}
	peer, g, ok := e.trials.draw(e.rng, func(p string) bool {
		return e.free(p) && may(p)
	})
	// The debt is one at most, so that a lack of candidates does not end in a wave of trials.
	e.owed = !ok || due && e.owed
	if !ok {
		return exploration{}, false
	}
	return e.begin(peer, g), true
}

// first is explore for first trials, which wait for no chance: nobody waits for a trial, so that it
// costs bytes alone, and each fetch until it is one that a better peer might have served. What they cost is
// bounded by the budget and by whom may lets through. A newcomer learns nothing by it, for whatever it is
// asked first is a trial. It is drawn of fresh ones; nil has none.
func (e *explorer) first(fresh *urn, may func(peer string) bool) (exploration, bool) {
	if fresh == nil {
		return exploration{}, false
	}
	peer, g, ok := fresh.draw(e.rng, func(p string) bool {
		return e.free(p) && may(p)
	})
	if !ok {
		return exploration{}, false
	}
	x := e.begin(peer, g)
	x.first = true
	return x, true
}

// begin notes that a peer is tried.
func (e *explorer) begin(peer string, g Group) exploration {
	t := e.trial[peer]
	t.busy, t.running = true, g
	if !t.stale {
		e.busy[g] = peer
	}
	x := exploration{peer: peer, group: g, bytes: e.limits.firstBytes}
	if t.served {
		x.bytes = 0
	}
	return x
}

// free says whether a peer may be tried now: not under trial, and for a newcomer no other of its
// group either.
func (e *explorer) free(peer string) bool {
	t := e.trial[peer]
	if t.busy {
		return false
	}
	_, taken := e.busy[e.trials.lots[peer].in.group]
	return t.stale || !taken
}

// done says that the trial of a peer has ended, and whether it delivered.
func (e *explorer) done(peer string, delivered bool) {
	t := e.trial[peer]
	if t == nil || !t.busy {
		return
	}
	t.busy = false
	t.served = t.served || delivered
	if e.busy[t.running] == peer {
		delete(e.busy, t.running)
	}
}

// demote says that a peer is to be chosen no more but may redeem itself. last is when it last had a
// shadow, ever whether it had one.
func (e *explorer) demote(peer string, g Group, last time.Duration, ever bool) {
	e.demoted.add(peer, g)
	if _, ok := e.shadow[peer]; !ok {
		e.shadow[peer] = shadowed{last, ever}
	}
}

// redeem says that a peer is demoted no more, or gone. It returns what demote wants if it comes back.
func (e *explorer) redeem(peer string) (last time.Duration, ever bool) {
	s := e.shadow[peer]
	e.demoted.remove(peer)
	delete(e.shadow, peer)
	return s.last, s.ever
}

// cast decides at the start of a fetch whether a demoted peer gets a copy of it, one that may says
// is fit.
func (e *explorer) cast(now time.Duration, may func(peer string) bool) (peer string, g Group, ok bool) {
	if e.rng.Float64() >= e.limits.shadows {
		return "", "", false
	}
	peer, g, ok = e.demoted.draw(e.rng, func(p string) bool {
		s := e.shadow[p]
		return (!s.ever || now-s.last >= e.limits.shadowEvery) && may(p)
	})
	if ok {
		e.shadow[peer] = shadowed{now, true}
	}
	return peer, g, ok
}
