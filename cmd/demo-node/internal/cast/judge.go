package cast

import (
	"fmt"
	"slices"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
)

// report is the end of the play beside the truth.
func (p *play) report() *report.Cast {
	doc := &report.Cast{Schema: report.CastSchema, Seconds: p.cfg.Length.Seconds(), Bytes: wantedSize}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.standings() {
		m := p.member(s.Peer)
		t := p.tally[s.Peer]
		doc.Peers = append(doc.Peers, report.CastPeer{
			Rank: i + 1, Standing: report.NewStanding(s), Kind: m.Kind, Honest: m.Honest,
			TrueSeconds: report.Seconds(m.Takes()), UserFetches: p.picks[s.Peer],
			Cause: string(t.cause(s)), Reason: t.reason(s),
		})
	}
	return doc
}

func (p *play) member(name string) Member {
	i := slices.IndexFunc(p.members, func(m Member) bool { return m.Name == name })
	return p.members[i]
}

// judge holds the document against what must be. The error is ErrBars and says
// what the first failure is.
func (p *play) judge(doc *report.Cast) error {
	if len(doc.Peers) != len(p.members) {
		return fmt.Errorf("%w: %d of %d peers are ranked", ErrBars, len(doc.Peers), len(p.members))
	}
	for _, row := range doc.Peers {
		if err := p.judgeOne(row); err != nil {
			return err
		}
	}
	return judgeOrder(doc.Peers)
}

// judgeOne looks at verdict and cause.
func (p *play) judgeOne(row report.CastPeer) error {
	m := p.member(row.Peer)
	named := func(k audit.Kind) bool { return k.String() == row.Verdict }
	if m.Honest && !slices.ContainsFunc(m.Verdicts, named) {
		return fmt.Errorf("%w: honest %s is found %s: %s", ErrBars, row.Peer, row.Verdict, row.Reason)
	}
	if !m.Honest && !m.right(Cause(row.Cause)) {
		return fmt.Errorf("%w: %s (%s) is where it is for %s, which is not why: %s", ErrBars, row.Peer, m.Kind, row.Cause, row.Reason)
	}
	return nil
}

// judgeOrder wants honest peers in order of their true times, and bad ones below
// every honest one that is truly faster.
func judgeOrder(rows []report.CastPeer) error {
	for i, above := range rows {
		for _, below := range rows[i+1:] {
			if below.Honest && below.TrueSeconds < above.TrueSeconds {
				return fmt.Errorf("%w: %s (truly %.2f s) is ranked above honest %s (truly %.2f s)", ErrBars,
					above.Peer, above.TrueSeconds, below.Peer, below.TrueSeconds)
			}
		}
	}
	return nil
}
