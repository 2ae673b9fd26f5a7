package ranking

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Departure is a peer proposed for replacement.
type Departure struct {
	Peer   string
	Group  Group
	Reason string
	// Dry says that it is only what would be proposed.
	Dry bool
}

const (
	// churnTie is how near to each other peers count as equally bad, as a share.
	churnTie = 0.1
	// churnYoung is how long a newcomer is left alone: it could not show anything yet.
	churnYoung = time.Hour
)

// leaver is a peer that may be proposed.
type leaver struct {
	p        *peer
	time     float64
	punitive bool
	crowd    int // connected peers of its group
}

// Churn proposes connected peers to disconnect: at most a fifth of them in an hour, at least one if
// there is anything to choose by, all reasons and the drop-now path together. Those that withheld or
// lied come first, then the slowest for a fetch of the usual size; of equals those of crowded groups,
// and the older ones. Draw their replacements at random, or peers that farm a rank will get the
// places. While verdicts are held none is proposed; while peers of several groups have become slower
// together, which is more likely our own doing, none for being slow, and what they were before counts
// for half an hour. A dry run proposes and counts nothing.
func (r *Ranker) Churn(now time.Duration) []Departure {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = now
	if _, held := r.us.held(now); held {
		return nil
	}
	r.population.renew(now, &r.cfg)
	all := r.leavers(now)
	connected := len(r.slots) - len(r.free)
	quota := max(int64(float64(connected)*r.cfg.ChurnShare), 1) - r.churned.sum(now)
	if r.cfg.ChurnShare == 0 || quota <= 0 || connected < 2 {
		return nil
	}
	sortLeavers(all)
	out := make([]Departure, 0, quota)
	for _, l := range all[:min(int64(len(all)), quota)] {
		out = append(out, Departure{Peer: l.p.id, Group: l.p.group.name, Reason: r.whyLeave(l), Dry: r.cfg.Dry})
	}
	if !r.cfg.Dry {
		r.churned.add(now, int64(len(out)))
	}
	return out
}

// leavers are those that may be proposed.
func (r *Ranker) leavers(now time.Duration) []leaver {
	crowd := map[*group]int{}
	for _, p := range r.slots {
		if p != nil {
			crowd[p.group]++
		}
	}
	size := r.usualSize()
	var all []leaver
	for _, p := range r.slots {
		if p == nil || p.pinned {
			continue
		}
		punitive := p.verdict.Kind.Punitive()
		known := p.completions > 0 || p.penalty.failures > 0
		if !punitive && !known && now-p.since < churnYoung {
			continue
		}
		if r.slump.lasts(now) && !punitive {
			continue
		}
		all = append(all, leaver{p, r.apart(p, size, now), punitive, crowd[p.group]})
	}
	return all
}

// sortLeavers puts the worst first. Times within a tenth of each other are equal, which is made
// transitive by rounding them in steps of that.
func sortLeavers(all []leaver) {
	step := func(l leaver) float64 { return math.Floor(math.Log(max(l.time, 1e-9)) / math.Log1p(churnTie)) }
	slices.SortFunc(all, func(a, b leaver) int {
		if a.punitive != b.punitive {
			if a.punitive {
				return -1
			}
			return 1
		}
		return cmp.Or(
			cmp.Compare(step(b), step(a)), cmp.Compare(b.crowd, a.crowd),
			cmp.Compare(a.p.since, b.p.since), cmp.Compare(a.p.id, b.p.id))
	})
}

func (r *Ranker) whyLeave(l leaver) string {
	if l.punitive {
		return l.p.verdict.Kind.String() + ": " + l.p.verdict.Reason()
	}
	size := r.usualSize()
	return fmt.Sprintf("among the slowest: %v expected for %d bytes", round(duration(l.time)), size)
}
