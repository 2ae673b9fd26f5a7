package fetcher

import (
	"slices"
	"time"

	"github.com/assay-mux/assay/ranking"
)

// slowest is how long a transfer that nobody could replace may be silent before
// it is given up all the same. Longer bears with worse paths.
const slowest = 10 * time.Second

// advise asks for advice on each transfer, acts on it and returns when to ask
// again.
func (j *job) advise() time.Duration {
	again := time.Second
	for _, t := range j.all {
		select {
		case <-t.ended:
			continue
		default:
		}
		a := t.fetch.Advice(j.f.Now())
		if a.Trouble != ranking.NoTrouble && a.Trouble != ranking.Delivered && !slices.Contains(t.troubles, a.Trouble) {
			t.troubles = append(t.troubles, a.Trouble)
		}
		if a.Again > 0 {
			again = min(again, a.Again)
		}
		j.act(t, a)
	}
	return again
}

func (j *job) act(t *transfer, a ranking.Advice) {
	if a.Kind == ranking.Wait {
		return
	}
	j.f.cfg.Log.Debug("advice", "peer", t.pick.Peer, "advice", a.String())
	if a.To.Peer != "" && !j.req.Alone {
		// What can't be added now is asked for by the next plan.
		if err := j.add(t.fetch, a.To, t); err != nil {
			j.f.cfg.Log.Debug("not hedged", "peer", a.To.Peer, "err", err)
		}
	}
	switch a.Kind {
	case ranking.ResetConn:
		j.reset(t)
	case ranking.Cancel:
		// Nobody else, and it still comes: late is better than never.
		silent := j.f.Now() - time.Duration(t.last.Load())
		if a.To.Peer != "" || j.req.Alone || silent > slowest || j.others(t) {
			j.giveUp(t, errGivenUp)
		}
	case ranking.Wait, ranking.AddHedge:
	}
}

// others says whether another transfer is under way.
func (j *job) others(t *transfer) bool {
	for _, o := range j.all {
		select {
		case <-o.ended:
		default:
			if o != t {
				return true
			}
		}
	}
	return false
}
