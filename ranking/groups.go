package ranking

import (
	"math"
	"slices"
	"time"
)

const (
	// agedAfter is how long a group must be known before it votes. Longer makes it dearer to conjure
	// voters up. An hour, like the audit's.
	agedAfter = time.Hour
	// convictionCost is what one conviction adds to what its group is held for, as a multiple of the
	// time; it is shared among the group's proven peers.
	convictionCost = 9
	// firstEvery is the least time between two first trials of a group. Shorter finds the good ones of a large
	// place sooner, which are left to chance otherwise, and makes a flood of identities dearer.
	firstEvery = time.Hour
	// priorEvery is how old the prior may be, for it takes a look at all groups.
	priorEvery = 10 * time.Second
	// fewestVotes is the least number of votes the prior is made of. With four the worst of one group
	// alone does not pass the quantile, that of two does. Fewer let the first slow peer speak for everyone.
	fewestVotes = 4
	// priorQuantile over the groups of their median rate is the prior: worse than most, so that no
	// crumb of fast service beats an honest peer that is at it.
	priorQuantile = 0.75
)

// group is a network location.
type group struct {
	name  Group
	since time.Duration
	peers []*peer

	proven      int     // of them have completed a fetch or were convicted
	convictions float64 // aged to convictedAt
	convictedAt time.Duration
	firstAt     time.Duration // the last first trial of one of them
	firstEver   bool

	median   float64 // s/B of its peers that have one; 0 none
	distance float64 // base round trip of those, in seconds
	stale    bool    // both are to be made anew
}

// forgettable says that it has no peers, nor anything to be held for: neither convictions nor a first trial
// of late, or the next identity from there would get another.
func (g *group) forgettable(now time.Duration, c *Config) bool {
	return len(g.peers) == 0 && g.rested(now) && g.convictions*decay(now-g.convictedAt, c.HalfGroup) < 0.05
}

func (g *group) aged(now time.Duration) bool { return now-g.since >= agedAfter }

// penalty is what its newcomers are held for, as a share of their time: what its members did, on
// average over those that are known. Identities that did nothing yet dilute nothing.
func (g *group) penalty(now time.Duration, c *Config) float64 {
	if g.convictions == 0 {
		return 0
	}
	left := g.convictions * decay(now-g.convictedAt, c.HalfGroup)
	return convictionCost * min(left/float64(max(g.proven, 1)), 1)
}

// tried notes that one of its peers gets its first trial, and untried says whether one may: identities
// of one place are cheap, and those of a place with convictions are held for them.
func (g *group) tried(now time.Duration) { g.firstAt, g.firstEver = now, true }

func (g *group) untried(now time.Duration, c *Config) bool {
	return g.rested(now) && g.penalty(now, c) < 0.05
}

// rested says that its last first trial is long enough ago.
func (g *group) rested(now time.Duration) bool { return !g.firstEver || now-g.firstAt >= firstEvery }

// convict counts a conviction of one of its peers.
func (g *group) convict(now time.Duration, c *Config) {
	g.convictions = g.convictions*decay(now-g.convictedAt, c.HalfGroup) + 1
	g.convictedAt = now
}

// harbour is convict for a peer that was convicted elsewhere. It makes one conviction of none, and adds
// to none that is there, so that moving to and fro makes no group worse than that.
func (g *group) harbour(now time.Duration, c *Config) {
	g.convictions = max(g.convictions*decay(now-g.convictedAt, c.HalfGroup), 1)
	g.convictedAt = now
}

func (g *group) add(p *peer) {
	p.group, p.place = g, len(g.peers)
	g.peers = append(g.peers, p)
}

func (g *group) drop(p *peer) {
	last := len(g.peers) - 1
	g.peers[p.place] = g.peers[last]
	g.peers[p.place].place = p.place
	g.peers[last] = nil
	g.peers = g.peers[:last]
}

// population is the prior over groups.
type population struct {
	groups map[Group]*group
	stale  []*group     // whose median is to be made anew
	told   func(*group) // of one that has moved, by which its strangers are taken

	prior              float64
	distance           time.Duration // the round trip that a stranger is taken for at least; 0 where too few have served
	priorAt            time.Duration
	scratch, distances []float64
}

// vote says that a peer's rate has changed.
func (o *population) vote(p *peer, rate float64) {
	if p.voteOf == rate {
		return
	}
	p.voteOf = rate
	if !p.group.stale {
		p.group.stale = true
		o.stale = append(o.stale, p.group)
	}
}

// renew brings the prior up to date if it is too old. The configured one votes like a group, which is
// all there is in the beginning, and stands in for those that are missing to fewestVotes: one group alone
// makes no prior.
func (o *population) renew(now time.Duration, cfg *Config) {
	configured := float64(cfg.Prior)
	if o.prior > 0 && now-o.priorAt < priorEvery {
		return
	}
	o.priorAt = now
	if o.prior > 0 && len(o.stale) == 0 {
		return
	}
	for _, g := range o.stale {
		was := g.median
		g.median, g.stale = g.medianOf(o.scratch, func(p *peer) float64 { return p.voteOf }), false
		if moved(g.median, was) {
			o.told(g)
		}
		g.distance = g.medianOf(o.scratch, func(p *peer) float64 { return p.base.Seconds() })
	}
	o.stale = o.stale[:0]
	all := append(o.scratch[:0], configured)
	distances := o.distances[:0]
	for name, g := range o.groups {
		if g.forgettable(now, cfg) {
			delete(o.groups, name)
		} else if g.median > 0 {
			all = append(all, g.median)
			distances = append(distances, g.distance)
		}
	}
	for len(all) < fewestVotes {
		all = append(all, configured)
	}
	o.scratch, o.distances = all, distances
	o.prior, o.distance = quantile(all, priorQuantile), 0
	if len(distances) >= cfg.MinGroups && len(distances) > 0 {
		o.distance = seconds(quantile(distances, priorQuantile))
	}
}

// medianOf is the median of something over its peers that have served.
func (g *group) medianOf(scratch []float64, of func(*peer) float64) float64 {
	all := scratch[:0]
	for _, p := range g.peers {
		if p.voteOf > 0 {
			all = append(all, of(p))
		}
	}
	if len(all) == 0 {
		return 0
	}
	return quantile(all, 0.5)
}

// quantile sorts values and returns the least of them that q of all are not above.
func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	i := int(math.Ceil(q*float64(len(values)))) - 1
	return values[max(i, 0)]
}
