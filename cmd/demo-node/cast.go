package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/cast"
	"github.com/assay-mux/assay/cmd/demo-node/internal/livepage"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/ranking"
)

type castCmd struct {
	Seconds int           `help:"How long to play, about." default:"55"`
	Hold    time.Duration `help:"Stay at the end for so long or until interrupted, at rest, with all figures served." placeholder:"TIME"`
	HTTP    string        `name:"http" help:"Where to serve the live page, /metrics, /debug/snapshot, /healthz and /debug/pprof/ meanwhile." default:"127.0.0.1:0" placeholder:"ADDR"`
	JSON    bool          `name:"json" help:"Print one JSON document instead of what happens and the table."`
}

// Run plays the cast and prints how it ended, and fails if that is not as it
// must be.
func (c *castCmd) Run(e *env) error {
	if c.Seconds < 5 || c.Seconds > 3600 {
		return usageError{errors.New("--seconds must be from 5 to 3600")}
	}
	cfg := cast.Config{Length: time.Duration(c.Seconds) * time.Second, Live: e.stdout, Log: e.log}
	if c.JSON {
		cfg.Live = io.Discard
	}
	var peers status.Peers
	var ranked status.Ranking
	snaps := status.NewSnapshots(&peers, &ranked)
	var feed livepage.Feed
	page := livepage.New(&feed)
	defer page.Close()
	pages := http.NewServeMux()
	pages.Handle("GET /debug/snapshot", snaps)
	pages.Handle("/", status.Handler(&peers, metrics.WithRanker(&ranked), metrics.WithTop(len(cast.Members()))))
	web, err := status.Start(e.ctx, c.HTTP, page.Over(pages))
	if err != nil {
		return err
	}
	defer web.Close()
	e.log.Info("live figures", "page", "http://"+web.Addr()+"/", "metrics", "http://"+web.Addr()+"/metrics")
	cfg.Joined = func(name string, p *node.Peer) {
		peers.Add(name, p.Meter())
		feed.Add(name, p.Meter())
	}
	cfg.Left = func(p *node.Peer) {
		peers.Remove(p.Meter())
		feed.Remove(p.Meter())
	}
	cfg.Ranked = func(r *ranking.Ranker, clock func() time.Duration, size int64) {
		ranked.Set(r, clock, size)
		feed.Rank(r, clock, size)
	}
	cfg.Event = feed.Tell
	cfg.Rest = func(ctx context.Context) {
		snaps.Rest()
		if c.Hold > 0 {
			e.log.Info("at rest", "for", c.Hold)
			sleep(ctx, c.Hold)
		}
	}
	doc, bars := cast.Run(e.ctx, cfg)
	if doc == nil {
		return bars
	}
	if bars != nil {
		text := bars.Error()
		doc.Failed = &text
	}
	write := doc.WriteTable
	if c.JSON {
		write = doc.WriteJSON
	}
	return errors.Join(write(e.stdout), bars)
}
