package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/fetcher"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/ranking"
	"github.com/assay-mux/assay/ranking/statefile"
)

// swarm is a fetch from several peers.
type swarm struct {
	cmd    *fetchCmd
	env    *env
	ranker *ranking.Ranker
	fetch  *fetcher.Fetcher
	peers  []*node.Peer
	show   show
	offers []wire.Offer // each datum once, in the order in which it was offered
}

// fromPeers fetches from several peers, by their ranking.
func (c *fetchCmd) fromPeers(e *env) (err error) {
	n, err := c.node(e)
	if err != nil {
		return err
	}
	s := &swarm{cmd: c, env: e}
	if s.ranker, err = s.rank(); err != nil {
		return err
	}
	s.fetch = fetcher.New(fetcher.Config{Ranker: s.ranker, Window: uint32(c.Window), Dir: c.Out, Log: e.log, DropPeers: true, Events: s.show.feed.Tell})
	defer s.close()
	end, err := s.serve()
	if err != nil {
		return err
	}
	defer end()
	if err := s.dial(n); err != nil {
		return err
	}
	if err := s.choose(); err != nil {
		return err
	}
	doc := &report.Swarm{Schema: report.SwarmSchema, Data: []report.Datum{}, Peers: []report.Standing{}}
	failed := s.all(doc)
	s.standings(doc)
	if err := s.save(); err != nil {
		return err
	}
	if c.JSON {
		err = doc.WriteJSON(e.stdout)
	} else {
		err = errors.Join(doc.WriteTable(e.stdout), c.where(e, doc.Kept+doc.Came()))
	}
	if e.ctx.Err() == nil {
		e.hold(c.Hold)
	}
	return errors.Join(err, failed)
}

// rank makes the ranker, with what it knew before if there is a state. A damaged
// one is set aside and said so: data can be had without it.
func (s *swarm) rank() (*ranking.Ranker, error) {
	cfg := ranking.DefaultConfig()
	cfg.Seed = uint64(time.Now().UnixNano())
	cfg.StreamWindow = int64(s.cmd.Window)
	r, err := ranking.New(cfg)
	if err != nil || s.cmd.State == "" {
		return r, err
	}
	loaded, err := statefile.Load(r, s.cmd.State, 0, time.Now())
	switch {
	case errors.Is(err, ranking.ErrDamagedState):
		s.env.log.Warn("starting without what was known of the peers", "err", err)
	case err != nil:
		return nil, fmt.Errorf("--state: %w", err)
	case loaded:
		s.env.log.Debug("state loaded", "file", s.cmd.State)
	}
	return r, nil
}

func (s *swarm) save() error {
	if s.cmd.State == "" {
		return nil
	}
	if err := statefile.Save(s.ranker, s.cmd.State, s.fetch.Now()); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	return nil
}

// dial connects to the peers. Those that can't be reached are left out, unless
// none is left.
func (s *swarm) dial(n *node.Node) error {
	var first error
	for _, addr := range s.cmd.Peers {
		if err := s.join(n, addr); err != nil {
			s.env.log.Warn("peer left out", "peer", addr, "err", err)
			if first == nil {
				first = err
			}
		}
		if s.env.ctx.Err() != nil {
			return context.Cause(s.env.ctx)
		}
	}
	if len(s.peers) == 0 {
		return fmt.Errorf("no peer can be reached; the first: %w", first)
	}
	return nil
}

// usual is the size in bytes by which the peers are shown in order: that of what a
// node fetches by default in pair.
const usual = 12_000_000

// serve shows the peers, if that was asked for, until end is called. They stay until
// then, since what they did is what one wants to see.
func (s *swarm) serve() (end func(), err error) {
	if s.cmd.HTTP == "" {
		return func() {}, nil
	}
	s.show.rank(s.ranker, s.fetch.Now, usual)
	web, err := s.show.serve(s.env.ctx, s.cmd.HTTP,
		status.Handler(&s.show.peers, metrics.WithRanker(&s.show.ranked), metrics.WithTop(len(s.cmd.Peers))))
	if err != nil {
		return nil, err
	}
	s.env.log.Info("live figures", web.places()...)
	return web.Close, nil
}

// join connects to one peer and takes its offers. A peer is known by its address:
// the demo has no better identity.
func (s *swarm) join(n *node.Node, addr string) error {
	p, err := n.Dial(s.env.ctx, addr)
	if err != nil {
		return err
	}
	offers, err := s.fetch.Join(s.env.ctx, addr, p.Addr(), p)
	if err != nil {
		p.Close()
		return err
	}
	s.peers = append(s.peers, p)
	s.show.add(addr, p)
	for _, o := range offers {
		s.add(o)
	}
	return nil
}

func (s *swarm) add(o wire.Offer) {
	if !slices.ContainsFunc(s.offers, func(had wire.Offer) bool { return had.Hash == o.Hash }) {
		s.offers = append(s.offers, o)
	}
}

// choose keeps the data asked for.
func (s *swarm) choose() (err error) {
	s.offers, err = s.cmd.choose(s.offers)
	return err
}

// all fetches all data, one after the other. One that fails does not stop the
// others.
func (s *swarm) all(doc *report.Swarm) error {
	var total int64
	for _, o := range s.offers {
		total += o.Size
	}
	add, end := s.env.bar(fmt.Sprintf("%d peers", len(s.peers)), total)
	defer end()
	var first error
	failures := 0
	for _, o := range s.offers {
		if store.Has(s.env.ctx, s.cmd.Out, o.Hash) {
			add(int(o.Size))
			doc.Kept++
			continue
		}
		res, err := s.fetch.Fetch(s.env.ctx, fetcher.Request{Hash: o.Hash, Critical: s.cmd.Critical})
		add(int(o.Size))
		doc.Data = append(doc.Data, datum(o, res, err))
		if err == nil {
			continue
		}
		if failures++; first == nil {
			first = fmt.Errorf("%s: %w", o.Hash.Short(), err)
		}
		if s.env.ctx.Err() != nil {
			return context.Cause(s.env.ctx)
		}
	}
	if failures > 1 {
		return fmt.Errorf("%d %w; the first: %w", failures, errPartly, first)
	}
	return first
}

func (s *swarm) close() {
	s.fetch.Close()
	for _, p := range s.peers {
		p.Close()
	}
}

// checkPeers says whether the arguments name either one peer or several.
func (c *fetchCmd) checkPeers() error {
	switch {
	case c.Addr == "" && len(c.Peers) == 0:
		return usageError{errors.New(`expected "<addr>" or --peers`)}
	case c.Addr != "" && len(c.Peers) > 0:
		return usageError{errors.New("name one peer, or several with --peers, not both")}
	case len(c.Peers) == 0 && (c.Critical || c.State != "" || c.HTTP != ""):
		return usageError{errors.New("--critical, --state and --http go with --peers: one peer leaves no choice")}
	case c.Hold != 0 && c.HTTP == "":
		return usageError{errors.New("--hold goes with --http: there is nothing else to look at")}
	case len(c.Peers) > 1 && c.Pin != nil:
		return usageError{errors.New("--peer-fingerprint pins one peer and --peers names several, use --tls")}
	}
	for i, addr := range c.Peers {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return usageError{fmt.Errorf("--peers: %q is not HOST:PORT", addr)}
		}
		if slices.Contains(c.Peers[:i], addr) {
			return usageError{fmt.Errorf("--peers: %s is given twice", addr)}
		}
	}
	return nil
}
