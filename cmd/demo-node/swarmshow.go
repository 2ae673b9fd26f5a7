package main

import (
	"github.com/assay-mux/assay/cmd/demo-node/internal/livepage"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/metrics"
)

// show is what a fetch from several peers tells while it runs. Peers stay on it
// until the end, since what they did is what one wants to see.
type show struct {
	peers  status.Peers
	ranked status.Ranking
	feed   livepage.Feed
}

func (w *show) add(name string, p *node.Peer) {
	w.peers.Add(name, p.Meter())
	w.feed.Add(name, p.Meter())
}

// usual is the size in bytes by which the peers are shown in order: that of what a
// node fetches by default in pair.
const usual = 12_000_000

// serve serves what there is to show, if that was asked for, until end is called.
func (s *swarm) serve() (end func(), err error) {
	if s.cmd.HTTP == "" {
		return func() {}, nil
	}
	s.show.ranked.Set(s.ranker, s.fetch.Now, usual)
	s.show.feed.Rank(s.ranker, s.fetch.Now, usual)
	page := livepage.New(&s.show.feed)
	figures := status.Handler(&s.show.peers, metrics.WithRanker(&s.show.ranked), metrics.WithTop(len(s.cmd.Peers)))
	web, err := status.Start(s.env.ctx, s.cmd.HTTP, page.Over(figures))
	if err != nil {
		page.Close()
		return nil, err
	}
	s.env.log.Info("live figures", "page", "http://"+web.Addr()+"/", "metrics", "http://"+web.Addr()+"/metrics")
	return func() {
		web.Close()
		page.Close()
	}, nil
}
