package engine

import (
	"math"
	"slices"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/ranking"
)

// result makes the document of a run that is over.
func (w *world) result() *Result {
	r := w.log
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &Result{
		Chooser: w.chooser.Name(), Seed: w.o.Seed, Seconds: r.ended.Seconds(),
		UserFrom: r.from.Seconds(), UserTo: r.to.Seconds(), Makespan: (r.to - r.from).Seconds(),
		Fetches: r.fetches, Transfers: r.transfers, Events: r.events, Violations: r.broken,
	}
	out.Holds, out.HeldSeconds = r.holds, r.heldFor(r.ended).Seconds()
	out.waits()
	out.count()
	for _, a := range w.everyone() {
		out.Peers = append(out.Peers, w.peerResult(a, out))
	}
	return out
}

// waits sums the user's fetches up.
func (r *Result) waits() {
	var every, critical []float64
	for _, f := range r.Fetches {
		if !f.User {
			continue
		}
		every = append(every, f.Wait)
		if f.Critical {
			critical = append(critical, f.Wait)
		}
		if f.Failed {
			r.Failed++
		} else {
			r.Bytes.Wanted += f.Size
		}
		if f.Missed {
			r.Missed++
		}
		r.Hedges.add(f)
	}
	r.Wait, r.CriticalWait = spread(every), spread(critical)
}

func (h *Hedges) add(f *FetchRecord) {
	if f.HedgedAt > 0 {
		h.Count++
		h.Worst = max(h.Worst, ratio(f.HedgedAt, f.Predicted))
	}
	if f.From != "" && f.From != f.First {
		h.Rescued++
	}
}

func spread(v []float64) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	at := func(q float64) float64 { return v[int(math.Ceil(q*float64(len(v))))-1] }
	return Spread{Count: len(v), Mean: sum / float64(len(v)), P50: at(0.5), P95: at(0.95), Max: v[len(v)-1]}
}

// count adds up where bytes went.
func (r *Result) count() {
	b := &r.Bytes
	for _, t := range r.Transfers {
		if !t.User {
			continue
		}
		b.All += t.Got
		switch t.Role {
		case ranking.Hedge.String():
			b.Hedged += t.Got
		case ranking.Redundant.String():
			b.Redundant += t.Got
		case ranking.Exploration.String():
			b.Exploration += t.Got
		case ranking.Shadow.String():
			b.Shadow += t.Got
		}
	}
	if wanted := float64(b.Wanted); wanted > 0 {
		b.HedgedShare = float64(b.Hedged) / wanted
		b.TrialShare = float64(b.Exploration+b.Shadow) / wanted
		b.ExtraShare = float64(b.All)/wanted - 1
	}
}

// peerResult sums a peer up. Needs the recorder's mu.
func (w *world) peerResult(a *actor, r *Result) *PeerResult {
	t := w.log.tally(a.id)
	p := &PeerResult{
		Name: a.id, Group: string(ranking.GroupOf(a.id, a.addr, nil)), Bad: a.spec.Bad,
		Dropped: t.dropped, Churned: t.churned, Demoted: t.demoted, DemotedAt: t.demotedAt.Seconds(), DemotedAfter: t.demotedAfter,
		ConvictedAfterMisses: t.convicted, GrossMisses: t.gross, ProvenAfter: t.proven,
		Verdict: t.verdict.Kind.String(), Ours: t.ours.Seconds(), Theirs: t.theirs.Seconds(), Forged: t.forged,
		BaseRTT: t.last.RTT.Base.Seconds(), P95RTT: t.last.RTT.P95.Seconds(), LoadedRTT: t.last.RTT.LoadedP95.Seconds(),
		Rate: t.last.Estimate.Rate.BytesPerSecond() * 8, Coverage: t.last.Estimate.Coverage,
		Ever: Ever{
			SlowToStart: t.ever.Has(audit.SlowToStart), Path: t.ever.Has(audit.Path),
			Overclaims: t.ever.Has(audit.Overclaims), NeverAlone: t.ever.Has(audit.NeverAlone),
			Withholding: t.ever.Has(audit.Withholding), ProvenLie: t.ever.Has(audit.ProvenLie), EchoHolding: t.holding, EchoesMissing: t.missing,
		},
	}
	if t.verdict.Peer != "" {
		p.Reason = t.verdict.Reason()
	}
	p.tallyTransfers(r)
	p.bySize(&w.s.Workload, r, t.expected)
	return p
}

// tallyTransfers goes through the transfers of a peer.
func (p *PeerResult) tallyTransfers(r *Result) {
	users, late, predicted, asked := 0, 0, 0, 0
	worsened := 0.0
	copies := map[int]int{}
	for _, t := range r.Transfers {
		if t.Role == ranking.Redundant.String() {
			copies[t.Fetch]++
		}
	}
	for _, t := range r.Transfers {
		primary := t.Role == ranking.Primary.String()
		if t.User && primary {
			users++
		}
		if t.Peer != p.Name {
			continue
		}
		p.Bytes += t.Got
		if t.Outcome == audit.Judged.String() || t.Outcome == audit.Censored.String() {
			p.Threshold.add(t.Threshold)
		}
		p.pick(t, primary, late >= 2)
		switch {
		case t.End == "whole":
			p.Completed++
			if t.User {
				late++
			}
			if t.User && primary && t.Predicted > 0 {
				p.Error += t.Took/t.Predicted - 1
				predicted++
			}
		case t.End != errLost.Error():
			p.Failed++
			if primary {
				asked++
				worsened += worse(t)
			}
		}
		if t.User && primary && copies[t.Fetch] == 0 && r.critical(t.Fetch) {
			p.Picks.CriticalAlone++
		}
	}
	if p.Worsened = 1; asked > 0 {
		p.Worsened = worsened / float64(asked)
	}
	if users > 0 {
		p.UserShare = float64(p.Picks.User) / float64(users)
	}
	if predicted > 0 {
		p.Error /= float64(predicted)
	}
}

// worse is 1 if a peer is expected to take longer after a transfer than before.
func worse(t *TransferRecord) float64 {
	if t.Expected > t.Predicted {
		return 1
	}
	return 0
}

// pick counts one.
func (p *PeerResult) pick(t *TransferRecord, primary, late bool) {
	switch {
	case primary && t.User:
		p.Picks.User++
		if late {
			p.Picks.UserLate++
		}
	case primary:
		p.Picks.Warmup++
	case t.Role == ranking.Redundant.String():
		p.Picks.Redundant++
	case t.Role == ranking.Hedge.String():
		p.Picks.Hedge++
	case t.Role == ranking.Shadow.String():
		p.Picks.Shadow++
	case t.Role == ranking.Exploration.String():
		p.Picks.Exploration++
	}
}

// critical says whether a fetch was.
func (r *Result) critical(n int) bool {
	i := slices.IndexFunc(r.Fetches, func(f *FetchRecord) bool { return f.N == n })
	return i >= 0 && r.Fetches[i].Critical
}
