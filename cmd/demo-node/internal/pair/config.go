package pair

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/internal/lab"
)

// DefaultWindow is yamux's own receive window of a stream, which the second run
// uses.
const DefaultWindow = 256 << 10

// Config is what a pair is run with.
type Config struct {
	Rate   lab.BitRate   // of the link, each way
	RTT    time.Duration // of the link, both ways together
	Window uint32        // of a stream in the first run, in bytes
	TLS    bool          // encrypt

	DirA, DirB string // what each node serves; empty makes files
	Files      int    // how many large files to make for each node
	FileSize   int64  // and their size in bytes
	Out        string // where the fetched files of the first run stay; empty keeps none

	// Speedtest is how long a tests b each way after the runs, 0 for not at all, and
	// OptOut that b lets nobody.
	Speedtest time.Duration
	OptOut    bool
	// Tested is told how that goes. Nil is not called.
	Tested func(name string, p speedtest.Progress)

	Limit time.Duration // how long all may take

	// Joined and Left are told of each peer, under a name for people.
	Joined func(name string, p *node.Peer)
	Left   func(p *node.Peer)
	// Progress is given each run's name and bytes, and returns what is told of
	// bytes as they come, and of the run's end.
	Progress func(name string, bytes int64) (add func(int), end func())
	Log      *slog.Logger
}

// ErrTooSlow says that the files would not come in time.
var ErrTooSlow = errors.New("too much to carry in time, raise --rate or --limit, or carry less (--files, --file-size)")

// normal fills in what may be left out.
func (c Config) normal() Config {
	if c.Joined == nil {
		c.Joined = func(string, *node.Peer) {}
	}
	if c.Left == nil {
		c.Left = func(*node.Peer) {}
	}
	if c.Progress == nil {
		c.Progress = func(string, int64) (func(int), func()) { return func(int) {}, func() {} }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// link is the simulated path: half the round trip each way.
func (c Config) link() lab.Link {
	return lab.Link{Rate: c.Rate, OneWay: c.RTT / 2, SlowStart: true, IdleRestart: true}
}

// fits says whether so many bytes one way can come in time, at best.
func (c Config) fits(bytes int64) error {
	if best := c.Rate.Time(int(bytes)); c.Limit > 0 && best > c.Limit {
		return fmt.Errorf("%w: %.0f MB at %.3g Mbit/s take %v at best, the limit is %v", ErrTooSlow,
			float64(bytes)/1e6, float64(c.Rate/lab.Mbit), best.Round(time.Second), c.Limit)
	}
	return nil
}
