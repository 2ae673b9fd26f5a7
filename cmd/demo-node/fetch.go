package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

type fetchCmd struct {
	Addr     string        `arg:"" optional:"" help:"HOST:PORT of the peer."`
	Peers    []string      `help:"Fetch from whichever of these delivers soonest, by their ranking." placeholder:"HOST:PORT"`
	Critical bool          `help:"Ask peers of distinct networks for the same data at once."`
	State    string        `help:"Remember what is known of the peers here." placeholder:"FILE"`
	Out      string        `help:"Where to keep the files, each under its hash; by default in ${default}." default:"fetched" placeholder:"DIR"`
	Hash     []wire.Hash   `help:"Fetch only these; may be given more than once." placeholder:"SHA256"`
	TLS      bool          `name:"tls" help:"Encrypt. The peer may be anyone unless pinned."`
	Pin      *wire.Hash    `name:"peer-fingerprint" help:"Encrypt, and take no certificate but this, which serve --tls logs." placeholder:"SHA256"`
	Window   size          `help:"Receive window of a stream." default:"16MiB"`
	HTTP     string        `name:"http" help:"With --peers, where to serve the live page and /metrics meanwhile; by default nowhere." placeholder:"HOST:PORT"`
	Hold     time.Duration `help:"With --http, stay at the end for so long or until interrupted, with all figures served." placeholder:"TIME"`
	JSON     bool          `name:"json" help:"Print one JSON document instead of the table."`
}

// errPartly says that some files could not be had.
var errPartly = errors.New("files could not be had")

// Run fetches the peer's files, verifies and keeps each.
func (c *fetchCmd) Run(e *env) error {
	if err := c.checkPeers(); err != nil {
		return err
	}
	if len(c.Peers) > 0 {
		return c.fromPeers(e)
	}
	n, err := c.node(e)
	if err != nil {
		return err
	}
	p, err := n.Dial(e.ctx, c.Addr)
	if err != nil {
		return err
	}
	defer p.Close()
	offers, err := p.List(e.ctx)
	if err != nil {
		return err
	}
	if offers, err = c.choose(offers); err != nil {
		return err
	}
	doc := &report.Fetched{Schema: report.FetchSchema, Failed: []report.Failure{}}
	failed := c.fetch(e, p, offers, doc)
	doc.Peer = report.NewPeer("", p.Name(), p.Meter().Snapshot(), doc.Peer.Fetches)
	if err := c.print(e, doc); err != nil {
		return err
	}
	return failed
}

// node makes the node that fetches; it serves nothing.
func (c *fetchCmd) node(e *env) (*node.Node, error) {
	win, err := window(c.Window)
	if err != nil {
		return nil, err
	}
	cfg := node.Config{Window: win, Log: e.log}
	if c.TLS || c.Pin != nil {
		if cfg.TLS, err = node.NewTLS(); err != nil {
			return nil, err
		}
	}
	if c.Pin != nil {
		cfg.TLS.Pin = *c.Pin
	}
	return node.New(cfg), nil
}

// choose keeps the offers asked for.
func (c *fetchCmd) choose(offers []wire.Offer) ([]wire.Offer, error) {
	if len(c.Hash) == 0 {
		return offers, nil
	}
	var chosen []wire.Offer
	for _, h := range c.Hash {
		i := slices.IndexFunc(offers, func(o wire.Offer) bool { return o.Hash == h })
		if i < 0 {
			return nil, fmt.Errorf("%s: %w", h.Short(), wire.ErrNotFound)
		}
		chosen = append(chosen, offers[i])
	}
	return chosen, nil
}

// fetch downloads what is not there yet. A file that fails does not stop the
// others, unless the peer is gone or we were interrupted.
func (c *fetchCmd) fetch(e *env, p *node.Peer, offers []wire.Offer, doc *report.Fetched) error {
	var total int64
	for _, o := range offers {
		total += o.Size
	}
	add, end := e.bar(c.Addr, total)
	defer end()
	var first error
	failures := 0
	for _, o := range offers {
		err := c.one(e.ctx, p, o, add, doc)
		if err == nil {
			continue
		}
		if failures++; first == nil {
			first = fmt.Errorf("%s: %w", o.Hash.Short(), err)
		}
		if e.ctx.Err() != nil || errors.Is(err, node.ErrVanished) {
			break
		}
	}
	if failures > 1 {
		return fmt.Errorf("%d %w; the first: %w", failures, errPartly, first)
	}
	return first
}

// one downloads a file, unless it is there.
func (c *fetchCmd) one(ctx context.Context, p *node.Peer, o wire.Offer, add func(int), doc *report.Fetched) error {
	if store.Has(ctx, c.Out, o.Hash) {
		add(int(o.Size))
		doc.Kept++
		return nil
	}
	start := time.Now()
	t, err := p.Download(ctx, o, c.Out, add)
	if err != nil {
		doc.Failed = append(doc.Failed, report.Failure{Hash: o.Hash, Bytes: o.Size, Seconds: report.Seconds(time.Since(start)), Error: err.Error()})
		return err
	}
	doc.Peer.Fetches = append(doc.Peer.Fetches, report.NewFetch(o, t.Predicted, t.FirstByte, t.Whole))
	return nil
}

func (c *fetchCmd) print(e *env, doc *report.Fetched) error {
	if c.JSON {
		return doc.WriteJSON(e.stdout)
	}
	return errors.Join(doc.WriteTable(e.stdout), c.where(e, doc.Kept+len(doc.Peer.Fetches)))
}

// where says where the files are that there are.
func (c *fetchCmd) where(e *env, files int) error {
	if files == 0 {
		return nil
	}
	_, err := fmt.Fprintf(e.stdout, "In %s, each under its hash.\n", c.Out)
	return err
}
