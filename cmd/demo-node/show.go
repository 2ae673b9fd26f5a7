package main

import (
	"context"
	"net/http"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/livepage"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/ranking"
)

// hold waits for so long, or until interrupted, for someone to look at what is
// served.
func (e *env) hold(d time.Duration) {
	if d <= 0 {
		return
	}
	e.log.Info("held for a look, interrupt to end", "for", d)
	sleep(e.ctx, d)
}

// served is where a command serves what it shows.
type served struct {
	HTTP string `name:"http" help:"Where to serve the live page, /metrics, /healthz and /debug/pprof/ meanwhile; by default on a free port of this machine, which is logged." default:"127.0.0.1:0" placeholder:"HOST:PORT"`
}

// show is what a command tells of its peers while it runs: as metrics, and on the
// live page. The zero value has none. Safe for concurrent use.
type show struct {
	peers  status.Peers
	ranked status.Ranking
	feed   livepage.Feed
}

func (w *show) add(name string, p *node.Peer) {
	w.peers.Add(name, p.Meter())
	w.feed.Add(name, p.Meter())
}

func (w *show) remove(p *node.Peer) {
	w.peers.Remove(p.Meter())
	w.feed.Remove(p.Meter())
}

// rank shows what a ranker, whose base clock tells the time on, thinks of the
// peers for a datum of size bytes.
func (w *show) rank(r *ranking.Ranker, clock func() time.Duration, size int64) {
	w.ranked.Set(r, clock, size)
	w.feed.Rank(r, clock, size)
}

// serve serves the live page, and the figures beside it, until it is closed.
func (w *show) serve(ctx context.Context, addr string, figures http.Handler) (*site, error) {
	page := livepage.New(&w.feed)
	web, err := status.Start(ctx, addr, page.Over(figures))
	if err != nil {
		page.Close()
		return nil, err
	}
	return &site{web, page}, nil
}

// site is where there is something to see.
type site struct {
	*status.Server
	page *livepage.Page
}

// Close ends it.
func (s *site) Close() {
	s.Server.Close()
	s.page.Close()
}

// places are its addresses, for the log.
func (s *site) places() []any {
	return []any{"page", "http://" + s.Addr() + "/", "metrics", "http://" + s.Addr() + "/metrics"}
}
