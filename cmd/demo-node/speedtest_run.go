package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedtester"
)

type speedtestRunCmd struct {
	speedtestFlags
	JSON      bool `name:"json" help:"Print one JSON document instead of the table; speedtest report reads it."`
	JSONLines bool `name:"json-lines" help:"Print one line of JSON for each peer, as it is done."`
}

// failures are peers that could not be tested; the exit code is their number.
type failures struct{ n, of int }

func (f failures) Error() string {
	return fmt.Sprintf("%d of %d peers could not be tested; their errors are in the output", f.n, f.of)
}

// mostCode is the largest exit code for failures: shells use those above.
const mostCode = 125

// Run tests peers now.
func (c *speedtestRunCmd) Run(e *env) error {
	targets, err := c.targets()
	if err != nil {
		return err
	}
	if c.JSON && c.JSONLines {
		return usageError{errors.New("--json or --json-lines, not both")}
	}
	bar := e.rateBar()
	t, err := c.tester(e, bar.show)
	if err != nil {
		return err
	}
	doc := report.Document{Format: report.Format, Shortened: c.shortened(), Peers: look(e.ctx, t, targets)}
	failed := 0
	for i := range doc.Peers {
		p := &doc.Peers[i]
		if p.Outcome == "" {
			c.test(e.ctx, t, p)
		}
		bar.clear()
		if e.ctx.Err() != nil {
			return context.Cause(e.ctx)
		}
		p.Settle()
		if p.Outcome == report.Failed {
			failed++
		}
		if c.JSONLines {
			if err := json.NewEncoder(e.stdout).Encode(p); err != nil {
				return err
			}
		}
	}
	if err := c.print(e.stdout, &doc); err != nil {
		return err
	}
	if failed > 0 {
		return failures{failed, len(doc.Peers)}
	}
	return nil
}

// look reads what all peers publish, and orders them: the largest first, those
// that say nothing last.
func look(ctx context.Context, t *speedtester.Tester, targets []named) []report.Peer {
	var peers []report.Peer
	for _, n := range targets {
		p := report.Peer{Name: n.name, Address: n.addr}
		l, err := t.Look(ctx, n.addr)
		if err != nil {
			p.Outcome, p.Runs = report.Failed, []report.Run{{Outcome: report.Failed, Setup: report.Direct, Error: err.Error()}}
		} else {
			p.Group, p.OptedOut = l.Group, l.Descriptor.Policy.OptedOut
			p.Published = append(p.Published, l.Published(report.Before))
		}
		peers = append(peers, p)
	}
	slices.SortStableFunc(peers, func(a, b report.Peer) int { return cmp.Compare(advertised(b), advertised(a)) })
	return peers
}

func advertised(p report.Peer) int64 {
	if len(p.Published) == 0 {
		return -1
	}
	return p.Published[len(p.Published)-1].Advertised
}

// test tests one peer.
func (c *speedtestRunCmd) test(ctx context.Context, t *speedtester.Tester, p *report.Peer) {
	runs, after, _ := t.Test(ctx, p.Name, p.Address, 0) // what went wrong is in the runs
	p.Runs = append(p.Runs, runs...)
	if after != nil {
		p.OptedOut = after.Descriptor.Policy.OptedOut
		p.Published = append(p.Published, after.Published(report.During))
	}
}

// print prints what was found.
func (c *speedtestRunCmd) print(w io.Writer, doc *report.Document) error {
	switch {
	case c.JSONLines:
		return nil
	case c.JSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(doc)
	}
	return speedTable(w, doc)
}

// speedTable prints a line for each peer.
func speedTable(w io.Writer, doc *report.Document) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "PEER\tADVERTISED\tMEASURED\tBEST 10 S\tLIMITED BY\tRTT IDLE\tLOADED\tMOVED\tOUTCOME")
	for _, p := range doc.Peers {
		fmt.Fprintln(tab, speedRow(p))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if doc.Shortened {
		fmt.Fprintln(w, "Shortened tests: under 20 s a way they prove less.")
	}
	return nil
}

func speedRow(p report.Peer) string {
	adv := "-"
	if f, ok := p.Claim(); ok {
		adv = mbit(float64(f.Advertised))
	}
	measured, best, by := "-", "-", "-"
	var r report.Run
	if len(p.Runs) > 0 {
		r = p.Runs[len(p.Runs)-1]
	}
	for _, one := range p.Runs {
		if one.Outcome == report.Measured && one.Capacity == p.Capacity {
			r = one
		}
	}
	if p.Outcome == report.Measured {
		measured, by = mbit(p.Capacity), string(p.LimitedBy)
		if p.LowerBound {
			measured = ">= " + measured
		}
		best = bestOf(r)
	}
	var bytes int64
	for _, one := range p.Runs {
		bytes += one.Bytes
	}
	outcome := string(p.Outcome)
	if r.Refusal != nil {
		outcome += ": " + r.Refusal.Text
	}
	if r.Error != "" {
		outcome += ": " + r.Error
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%.1f ms\t%.1f ms\t%.1f MB\t%s",
		p.Name, adv, measured, best, by, 1e3*r.RTTIdle, 1e3*r.RTTLoaded, float64(bytes)/1e6, outcome)
}

// bestOf is the best window of the slower direction.
func bestOf(r report.Run) string {
	best := 0.0
	for _, f := range []*report.Flow{r.FromTarget, r.ToTarget} {
		if f != nil && (best == 0 || f.Best < best) {
			best = f.Best
		}
	}
	return mbit(best)
}

func mbit(bytes float64) string { return fmt.Sprintf("%.2f Mbit/s", bytes*8/1e6) }
