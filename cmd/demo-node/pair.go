package main

import (
	"errors"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/pair"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/internal/lab"
)

type pairCmd struct {
	Rate     rate          `help:"Rate of the link, each way." default:"50Mbit"`
	RTT      time.Duration `name:"rtt" help:"Round trip of the link." default:"40ms"`
	Window   size          `help:"Receive window of a stream in the first run; the second has yamux's 256KiB." default:"16MiB"`
	TLS      bool          `name:"tls" help:"Encrypt."`
	DirA     string        `help:"Directory that node a serves; made up if not given." placeholder:"DIR"`
	DirB     string        `help:"Directory that node b serves; made up if not given." placeholder:"DIR"`
	Files    int           `help:"How many large files to make up for each node." default:"4"`
	FileSize size          `help:"Size of those files." default:"12MB"`
	Out      string        `help:"Keep what the first run fetched, in DIR/a and DIR/b." placeholder:"DIR"`
	JSON     bool          `name:"json" help:"Print one JSON document instead of the table."`
	served
	Hold      time.Duration `help:"Keep the sessions and HTTP open for so long afterwards." default:"0s"`
	Speedtest time.Duration `help:"Let node a test node b's speed afterwards, for so long each way; 0s does not." default:"4s"`
	OptOut    bool          `help:"Node b takes no speed tests."`
	Limit     time.Duration `help:"Give up after so long." default:"60s"`
}

// config checks the flags.
func (c *pairCmd) config() (pair.Config, error) {
	win, err := window(c.Window)
	switch {
	case err != nil:
		return pair.Config{}, err
	case c.RTT < 0 || c.RTT > 5*time.Second:
		return pair.Config{}, usageError{errors.New("--rtt must be from 0s to 5s")}
	case c.Files < 1 || c.Files > 1000:
		return pair.Config{}, usageError{errors.New("--files must be from 1 to 1000")}
	case c.FileSize < 1000 || c.FileSize > 1e9:
		return pair.Config{}, usageError{errors.New("--file-size must be from 1kB to 1GB")}
	case c.Speedtest != 0 && (c.Speedtest < 2*time.Second || c.Speedtest > 20*time.Second):
		return pair.Config{}, usageError{errors.New("--speedtest must be 0s, or from 2s to 20s")}
	case c.Limit <= 0 || c.Hold < 0:
		return pair.Config{}, usageError{errors.New("--limit must be more than 0s, and --hold not less")}
	}
	return pair.Config{
		Rate: lab.BitRate(c.Rate), RTT: c.RTT, Window: win, TLS: c.TLS,
		DirA: c.DirA, DirB: c.DirB, Files: c.Files, FileSize: int64(c.FileSize), Out: c.Out, Limit: c.Limit,
		Speedtest: c.Speedtest, OptOut: c.OptOut,
	}, nil
}

// Run runs the pair and prints what it found.
func (c *pairCmd) Run(e *env) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	var w show
	web, err := w.serve(e.ctx, c.HTTP, status.Handler(&w.peers))
	if err != nil {
		return err
	}
	defer web.Close()
	cfg.Joined, cfg.Left = w.add, w.remove
	bar := e.rateBar()
	cfg.Progress, cfg.Tested, cfg.Log = e.bar, bar.show, e.log
	p, err := pair.Open(e.ctx, cfg)
	if err != nil {
		return err
	}
	defer p.Close()
	e.log.Info("live figures", append(web.places(), "profiles", "http://"+web.Addr()+"/debug/pprof/")...)
	doc, err := p.Run(e.ctx)
	bar.clear()
	if err != nil {
		return err
	}
	doc.HTTPAddress = web.Addr()
	if err := c.print(e, doc); err != nil {
		return err
	}
	e.hold(c.Hold)
	return nil
}

func (c *pairCmd) print(e *env, doc *report.Pair) error {
	if c.JSON {
		return doc.WriteJSON(e.stdout)
	}
	return doc.WriteTable(e.stdout)
}
