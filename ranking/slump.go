package ranking

import (
	"slices"
	"time"
)

const (
	// slumpExcess is from which excess over what was expected before a peer is slower. Larger takes one
	// that was slow anyway, and feels our limit less, for a sign that all is well; smaller calls the
	// scatter of good fetches a slump: where times scatter by a factor of 1.6 three in a row are slower
	// in 0.6 % of cases with a half, in 3 % with a quarter.
	slumpExcess = 0.5
	// slumpGroups is of how many groups peers must have become slower in a row. More misses an ingress
	// that fails where few are asked; with two a pair could bring it about between two other fetches.
	slumpGroups = 3
	// slumpFor is how long after a slump a peer is taken for what it was before. Longer keeps a place for
	// one that has become slow for good; shorter forgets the order among them before all have been asked
	// again.
	slumpFor = holdEvery
	// slumpPart is of what part of the usual size a fetch must at least be to say anything: a small one
	// is over in a round trip, however slow the link.
	slumpPart = 0.25
)

// slump is when peers of several groups, one after the other, are slower than they were, and nobody in
// between is as good as before. Then most likely our own ingress is, and nobody is replaced for it.
// That is all it does: it convicts and acquits nobody and leaves the ranking alone, so that those who
// make common cause to be slow are asked no more and whoever is asked instead ends it. The zero value
// is none.
type slump struct {
	low []*peer // slower than before, since somebody was not
	on  bool
}

// former is what was expected of a peer before it became slower. The zero value is nothing.
type former struct {
	since, until time.Duration
	size         int64
	time         float64 // seconds at that size, without penalties
	factor       float64 // those
}

// holds says whether it still counts.
func (b *former) holds(now time.Duration) bool { return now < b.until }

// of is the time of then for so many bytes, in seconds and without penalties.
func (b *former) of(n int64, base time.Duration) float64 {
	w := completed{bytes: b.size, time: duration(b.time), first: min(base, duration(b.time))}.sample()
	return w.at(n, Path{BaseRTT: base})
}

// fared takes in how a fetch went, before anything else learns of it.
func (r *Ranker) fared(now time.Duration, f *Fetch, took time.Duration, failed bool) {
	p := f.peer
	if !r.slump.hears(now, p) || float64(f.pick.bytes) < slumpPart*float64(r.usualSize()) {
		return
	}
	usual := f.expected()
	if p.former.holds(now) {
		usual = min(usual, p.former.of(f.pick.bytes, p.base))
	}
	if !failed && took.Seconds() < (1+slumpExcess)*usual {
		r.slump.end(now)
		return
	}
	if !p.former.holds(now) {
		p.former = former{
			since: now, until: now + r.cfg.HalfWait,
			size: f.pick.bytes, time: usual, factor: p.penalty.factor(now, r.tally.Completions, &r.cfg),
		}
	}
	r.slump.slower(now, p, r.cfg.HalfWait)
}

// hears says whether a peer can tell: it was good enough to be something before, and not in the slump.
func (s *slump) hears(now time.Duration, p *peer) bool {
	return p.completions >= 3 && !p.verdict.Kind.Punitive() && !(s.lasts(now) && p.since >= s.low[0].former.since)
}

// slower counts a peer that is slower than it was. Until the slump has ended what it was counts, but no
// longer than for a time: what goes on for that long is how things are.
func (s *slump) slower(now time.Duration, p *peer, most time.Duration) {
	if slices.Contains(s.low, p) {
		return
	}
	s.low = slices.DeleteFunc(s.low, func(q *peer) bool { return !q.former.holds(now) })
	s.low = append(s.low, p)
	groups := map[*group]bool{}
	for _, q := range s.low {
		groups[q.group] = true
	}
	if s.on = len(groups) >= slumpGroups; s.on {
		for _, q := range s.low {
			q.former.until = q.former.since + most
		}
	}
}

// end says that somebody is as good as before. If there was no slump, those who were slower have
// become so by themselves.
func (s *slump) end(now time.Duration) {
	for _, p := range s.low {
		if s.on {
			p.former.until = min(p.former.until, now+slumpFor)
		} else {
			p.former = former{}
		}
	}
	s.low, s.on = nil, false
}

// lasts says whether there is one. It ends with what its peers were, if nobody is left who could end it.
func (s *slump) lasts(now time.Duration) bool {
	return s.on && slices.ContainsFunc(s.low, func(p *peer) bool { return p.former.holds(now) })
}

// drop forgets a peer.
func (s *slump) drop(p *peer) {
	s.low = slices.DeleteFunc(s.low, func(q *peer) bool { return q == p })
	s.on = s.on && len(s.low) > 0
}

// apart is what is expected of a peer, but for what a slump did to it; in seconds.
func (r *Ranker) apart(p *peer, size int64, now time.Duration) float64 {
	t := r.expect(p, size, now).time
	if b := &p.former; b.holds(now) {
		t = min(t, b.of(size, p.base)*b.factor)
	}
	return t
}
