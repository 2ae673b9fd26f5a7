package cast

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/ranking"
)

// Config is what a cast is run with.
type Config struct {
	// Length is how long it all takes, about. Shorter than 40 s gives the audit
	// too few fetches of the slow peers.
	Length time.Duration
	// Live is told of each change, a line each.
	Live io.Writer
	// Joined and Left are told of each peer, and Ranked of the ranker with its
	// clock and the size of datum it is asked about. Nil is not called.
	Joined func(name string, p *node.Peer)
	Left   func(p *node.Peer)
	Ranked func(r *ranking.Ranker, clock func() time.Duration, size int64)
	// Event is told of what the ranker reports. Nil is not called.
	Event func(ranking.Event)
	// Rest is called at the end, when nothing is fetched any more and all peers
	// are still there. What it waits for is not played on. Nil is not called.
	Rest func(ctx context.Context)
	Log  *slog.Logger

	last bool // whatever comes of it, it is not played again
}

// normal fills in what may be left out.
func (c Config) normal() Config {
	if c.Live == nil {
		c.Live = io.Discard
	}
	if c.Joined == nil {
		c.Joined = func(string, *node.Peer) {}
	}
	if c.Left == nil {
		c.Left = func(*node.Peer) {}
	}
	if c.Ranked == nil {
		c.Ranked = func(*ranking.Ranker, func() time.Duration, int64) {}
	}
	if c.Event == nil {
		c.Event = func(ranking.Event) {}
	}
	if c.Rest == nil {
		c.Rest = func(context.Context) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// surveyShare is the survey's share of the time. More gives the audit more
// fetches of slow peers, less shows more of the ranker's choices.
const surveyShare = 0.65

// Errors of a run.
var (
	// ErrBars says that it did not end as it must; the text after it says how.
	ErrBars = errors.New("the cast did not end as it must")
	// ErrBusy says that nothing can be told of the peers on this machine now.
	ErrBusy = errors.New("this machine is too busy, its own standing still voids what is measured; try again when it has less to do")
)
