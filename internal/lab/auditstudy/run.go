package main

import (
	"math/rand/v2"
	"time"

	"github.com/assay-mux/assay/audit"
)

// standing counts how often one verdict befell peers of one kind.
type standing struct {
	Onsets int // each time it fell
	Ever   int // peers it fell on
}

// count is what befell the peers of one kind.
type count struct {
	Peers, Fetches int
	By             [audit.ProvenLie + 1]standing
	residuals      sample
}

func (c *count) add(o count) {
	c.Peers += o.Peers
	c.Fetches += o.Fetches
	for k := range c.By {
		c.By[k].Onsets += o.By[k].Onsets
		c.By[k].Ever += o.By[k].Ever
	}
	c.residuals.values = append(c.residuals.values, o.residuals.values...)
}

// result is what one seed of one scenario gave.
type result struct {
	counts [kinds]count
	strata []audit.Stratum
	// without is what the strata would have been, had the hostile not voted.
	without []audit.Stratum
	delays  [][]int // by attack
}

// run feeds fetches (honest ones; the hostile come on top) of a scenario to an auditor, then has the
// attackers try themselves on it.
func run(s scenario, seed uint64, fetches, attempts int) result {
	rng := rand.New(rand.NewPCG(seed, 0))
	c := newCrowd(s, rng)
	a := audit.New(audit.DefaultConfig())
	w := newWatch(c)
	now, step := time.Duration(0), interval(int(float64(fetches)/(1-s.hostile)))
	for honest := 0; honest < fetches; {
		i := c.pick(rng)
		now += step
		v := a.Observe(now, c.fetch(rng, s, i))
		w.see(i, v)
		if c.peers[i].kind == hostile {
			continue
		}
		honest++
		if v.Kinds.Has(audit.Withholding) {
			// A repeat is to count as one more.
			a.Pardon(now, v.Peer)
			w.before[i] = 0
		}
	}
	r := result{counts: w.counts, strata: a.Strata()}
	for _, t := range attacks {
		r.delays = append(r.delays, t.try(a, now, s.pop, rng, attempts))
	}
	for i := range c.peers {
		if c.peers[i].kind == hostile {
			a.Forget(now, c.peers[i].name)
		}
	}
	r.without = a.Strata()
	return r
}

// watch sees verdicts fall.
type watch struct {
	crowd  *crowd
	counts [kinds]count
	before []audit.Kinds // what stood against each peer
	ever   []audit.Kinds
}

func newWatch(c *crowd) *watch {
	w := &watch{crowd: c, before: make([]audit.Kinds, len(c.peers)), ever: make([]audit.Kinds, len(c.peers))}
	for i := range c.peers {
		w.counts[c.peers[i].kind].Peers++
	}
	return w
}

// see takes the verdict after a fetch of peer i.
func (w *watch) see(i int, v audit.Verdict) {
	n := &w.counts[w.crowd.peers[i].kind]
	n.Fetches++
	n.residuals.add(v.Latest.Residual)
	if v.Kinds == w.before[i] {
		return
	}
	for k := audit.SlowToStart; k <= audit.ProvenLie; k++ {
		if !v.Kinds.Has(k) || w.before[i].Has(k) {
			continue
		}
		n.By[k].Onsets++
		if !w.ever[i].Has(k) {
			n.By[k].Ever++
		}
	}
	w.before[i] = v.Kinds
	w.ever[i] |= v.Kinds
}
