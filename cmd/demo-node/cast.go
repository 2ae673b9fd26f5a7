package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/cast"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/metrics"
)

type castCmd struct {
	Seconds int           `help:"How long to play, about." default:"55"`
	Hold    time.Duration `help:"Stay at the end for so long or until interrupted, at rest, with all figures served." placeholder:"TIME"`
	served
	JSON bool `name:"json" help:"Print one JSON document instead of what happens and the table."`
}

// Help is below the first line of the command's help.
func (castCmd) Help() string {
	return "Beside the rest it serves /debug/snapshot, all figures of one instant."
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
	var w show
	snaps := status.NewSnapshots(&w.peers, &w.ranked)
	figures := http.NewServeMux()
	figures.Handle("GET /debug/snapshot", snaps)
	figures.Handle("/", status.Handler(&w.peers, metrics.WithRanker(&w.ranked), metrics.WithTop(len(cast.Members()))))
	web, err := w.serve(e.ctx, c.HTTP, figures)
	if err != nil {
		return err
	}
	defer web.Close()
	e.log.Info("live figures", web.places()...)
	cfg.Joined, cfg.Left, cfg.Ranked, cfg.Event = w.add, w.remove, w.rank, w.feed.Tell
	cfg.Rest = func(context.Context) {
		snaps.Rest()
		e.hold(c.Hold)
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
