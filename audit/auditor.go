package audit

import "time"

// An Auditor keeps the baseline of a population and the charts of its peers. It is a pure state
// machine: not safe for concurrent use, the caller locks. An instant is a time.Duration since a base
// the caller chooses, and must not run backwards.
//
// It has a record for every peer it was told of until [Auditor.Forget]; how many there may be is the
// caller's to bound. A peer takes 12 KiB at most, a typical one 4.
type Auditor struct {
	cfg    Config
	steps  [chartCount]steps
	peers  map[string]*peer
	list   []*peer // the same, for the sweep
	groups map[string]*group
	strata [keyCount]*stratum
	ids    uint64
	sweep  int
	turns  uint64
}

// New returns an empty auditor. A config that [Config.Validate] refuses is replaced by the default
// one.
func New(cfg Config) *Auditor {
	cfg = cfg.orDefault()
	a := &Auditor{
		cfg:    cfg,
		peers:  make(map[string]*peer),
		groups: make(map[string]*group),
	}
	for i, c := range cfg.charts() {
		a.steps[i] = c.ready()
	}
	return a
}

// charts returns the charts in the order of a peer's.
func (c *Config) charts() [chartCount]Chart {
	return [chartCount]Chart{c.SlowToStart, c.Path, c.Overclaims, c.Critical, c.Withholding, c.EchoHolding}
}

// Observe folds in a finished fetch and returns what stands against its peer, with the figures of
// this fetch. Cost is amortised constant: a voice moves within its group's list, a vote within the
// stratum's. It allocates only where a peer, group or stratum is new, or a histogram comes of age.
func (a *Auditor) Observe(now time.Duration, r Record) Verdict {
	p := a.peer(now, r.Peer, r.Group)
	w := a.cfg.weigh(&r)
	k := keyOf(r.Size, r.BaseRTT, r.Loss)
	f := Finding{Outcome: w.outcome, Actual: w.actual, Claim: w.claim, Contradicts: r.contradicts()}
	if w.outcome.audited() {
		f.Threshold = a.threshold(k, p)
		f.Gross = a.gross(p, &w, f.Threshold.Value, k)
		f.Residual, f.Late = w.over(w.moved), float64(w.late)/float64(w.claim)
		a.chart(now, p, &w, &r, f)
	}
	if w.outcome == Judged {
		a.fold(now, p, k, f.Residual)
	}
	a.sweepOne(now)
	return p.verdict(f)
}

// gross returns the residual at which withholding begins. It rises with the peer's own median, so
// that a slow disk is held to what it usually does; but no further than the threshold could have
// risen, so that withholding always does not make itself usual. The median is looked up where it
// may matter.
func (a *Auditor) gross(p *peer, w *weighed, t float64, k key) float64 {
	limit := a.cfg.GrossFactor * t
	if w.over(w.served) <= limit {
		return limit
	}
	own := p.median(a.strata[k.at(coarsest).index()])
	return max(limit, a.cfg.GrossFactor*min(own, a.cfg.ThresholdMax))
}

// chart moves the peer's charts by one record.
func (a *Auditor) chart(now time.Duration, p *peer, w *weighed, r *Record, f Finding) {
	t, spoke := f.Threshold.Value, p.speaks()
	small := figures{actual: w.served, claim: w.claim, limit: t}
	large := figures{actual: w.served, claim: w.claim, limit: f.Gross}
	a.move(p, chartOverclaims, w.overclaims(t), small)
	a.move(p, chartWithholding, w.withholds(f.Gross, r), large)
	a.move(p, chartPath, w.stallsOnPath(t, f.Gross, r), small)
	a.move(p, chartSlowToStart, w.startsSlowly(t), figures{actual: w.late, claim: w.claim, limit: t})
	criticalLimit := a.cfg.GrossFactor * t
	a.move(p, chartCritical, w.misses(criticalLimit, r), figures{actual: w.actual, claim: w.claim, limit: criticalLimit})
	a.move(p, chartHolding, a.cfg.holdsEchoes(r), figures{actual: max(r.AppRTT, 0), claim: max(r.KernelRTT, 0)})
	if p.speaks() != spoke {
		p.speakUp(now, &a.cfg)
	}
}

func (a *Auditor) move(p *peer, chart int, what sign, f figures) {
	p.charts[chart].move(a.steps[chart], what, f)
}

// fold makes a residual part of the baseline, in its stratum and in all that this may merge into.
func (a *Auditor) fold(now time.Duration, p *peer, k key, residual float64) {
	b := bucket(residual)
	for level := range uint8(levels) {
		s := a.stratum(k.at(level))
		s.tally.add(residual)
		c := p.cell(now, s, &a.cfg)
		if c.add(now, a.cfg.Span, b) {
			c.speak(now, p.id, p.speaks(), &a.cfg)
		}
	}
}

func (a *Auditor) stratum(k key) *stratum {
	s := &a.strata[k.index()]
	if *s == nil {
		*s = &stratum{key: k, panels: make(map[*group]*panel)}
	}
	return *s
}

// sweepEvery is how many fetches pay for a look at one peer.
const sweepEvery = 16

// sweepOne now and then looks at one peer for voices that are too old, so that a peer who is gone
// does not vote for ever.
func (a *Auditor) sweepOne(now time.Duration) {
	if a.turns++; a.turns%sweepEvery != 0 {
		return
	}
	a.sweep++
	if a.sweep >= len(a.list) {
		a.sweep = 0
	}
	a.list[a.sweep].giveUpStale(now, &a.cfg)
}

// peer returns the record of a peer, a new one if need be, in the group it now belongs to.
func (a *Auditor) peer(now time.Duration, name, groupName string) *peer {
	p := a.peers[name]
	if p == nil {
		p = &peer{name: name, id: a.nextID(), since: now, slot: len(a.list), place: groupName, group: a.group(now, groupName)}
		p.group.peers++
		a.peers[name] = p
		a.list = append(a.list, p)
		return p
	}
	if p.place != groupName {
		old := p.group
		p.place = groupName
		p.move(now, a.group(now, groupName), &a.cfg)
		a.dropIfEmpty(old)
	}
	return p
}

func (a *Auditor) group(now time.Duration, name string) *group {
	g := a.groups[name]
	if g == nil {
		g = &group{name: name, id: a.nextID(), since: now}
		a.groups[name] = g
	}
	return g
}

func (a *Auditor) dropIfEmpty(g *group) {
	if g.peers == 0 {
		delete(a.groups, g.name)
	}
}

func (a *Auditor) nextID() uint64 {
	a.ids++
	return a.ids
}

// Verdict returns what stands against a peer: nothing, of one it was not told of.
func (a *Auditor) Verdict(name string) Verdict {
	if p := a.peers[name]; p != nil {
		return p.verdict(Finding{})
	}
	return Verdict{Peer: name}
}

// Pardon clears all that stands against a peer, proven lies too, and says whether it knows the peer.
// Its samples stay.
func (a *Auditor) Pardon(now time.Duration, name string) bool {
	p := a.peers[name]
	if p == nil {
		return false
	}
	p.charts = [chartCount]ChartState{}
	p.lie, p.detail, p.forged = NoLie, "", 0
	p.speakUp(now, &a.cfg)
	return true
}

// Forget drops all it knows of a peer, its voice in the baseline too.
func (a *Auditor) Forget(now time.Duration, name string) {
	p := a.peers[name]
	if p == nil {
		return
	}
	for len(p.cells) > 0 {
		p.giveUp(now, len(p.cells)-1, &a.cfg)
	}
	p.group.peers--
	a.dropIfEmpty(p.group)
	delete(a.peers, name)
	last := len(a.list) - 1
	a.list[p.slot] = a.list[last]
	a.list[p.slot].slot = p.slot
	a.list[last] = nil
	a.list = a.list[:last]
}

// Len returns how many peers it has a record of.
func (a *Auditor) Len() int { return len(a.list) }
