package main

import (
	"github.com/assay-mux/assay/cmd/demo-node/internal/fetcher"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// datum reports a fetch.
func datum(o wire.Offer, res fetcher.Result, err error) report.Datum {
	d := report.Datum{Hash: o.Hash, Bytes: res.Size, Seconds: report.Seconds(res.Took), From: res.From(), Why: res.Why.String()}
	if res.Predicted > 0 {
		predicted := report.Seconds(res.Predicted)
		d.PredictedSeconds = &predicted
	}
	if err != nil {
		text := err.Error()
		d.Error, d.From = &text, ""
	}
	for _, p := range res.Parts {
		part := report.Part{Peer: p.Peer, Role: p.Role.String(), Offset: p.Offset, Bytes: p.Bytes, Seconds: report.Seconds(p.Took), Troubles: []string{}}
		for _, t := range p.Troubles {
			part.Troubles = append(part.Troubles, t.String())
		}
		if p.Err != nil {
			text := p.Err.Error()
			part.Error = &text
		}
		d.Parts = append(d.Parts, part)
	}
	return d
}

// standings reports the peers that were dialled, in the order of the ranking.
func (s *swarm) standings(doc *report.Swarm) {
	size := int64(1 << 20)
	if len(s.offers) > 0 {
		size = max(s.offers[0].Size, 1)
	}
	doc.Bytes = size
	for _, st := range s.ranker.Rank(s.fetch.Now(), size, len(s.peers)) {
		doc.Peers = append(doc.Peers, report.NewStanding(st))
	}
	for _, p := range s.peers {
		st, err := s.ranker.Standing(s.fetch.Now(), p.Name(), size)
		if err == nil && !st.Connected {
			doc.Peers = append(doc.Peers, report.NewStanding(st))
		}
	}
}
