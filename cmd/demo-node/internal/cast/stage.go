package cast

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/assay-mux/assay/cmd/demo-node/internal/fetcher"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/pair"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/ranking"
)

const (
	// window is the receive window of a stream in bytes: larger than any datum,
	// so that our own credit limits nobody.
	window = 4 << 20
	// data is how many data there are of each size.
	data = 4
)

// stage is where the cast plays: what the members serve, their nodes and relays,
// and a node that is a peer of all. End it with close.
type stage struct {
	dir    string
	store  *store.Store
	wanted []wire.Hash
	filler []wire.Hash

	cancel context.CancelFunc
	wg     sync.WaitGroup // of the members' nodes
	relays []*lab.Relay
	peers  []*node.Peer // as the members are ordered
	fetch  *fetcher.Fetcher
}

// setUp makes the data, starts the members and connects to them.
func setUp(ctx context.Context, cfg Config, members []Member, events func(ranking.Event)) (_ *stage, err error) {
	s := &stage{}
	ctx, s.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.make(ctx, cfg); err != nil {
		return nil, err
	}
	rc := ranking.DefaultConfig()
	rc.StreamWindow = window
	ranker, err := ranking.New(rc)
	if err != nil {
		return nil, err
	}
	s.fetch = fetcher.New(fetcher.Config{Ranker: ranker, Window: window, Events: events, Log: cfg.Log})
	cfg.Ranked(ranker, s.fetch.Now, wantedSize)
	us := node.New(node.Config{Window: window, Relayed: true, Left: cfg.Left, Log: cfg.Log})
	for _, m := range members {
		if err := s.enter(ctx, cfg, us, m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return s, nil
}

// make writes the data that all members serve.
func (s *stage) make(ctx context.Context, cfg Config) (err error) {
	if s.dir, err = os.MkdirTemp("", "demo-node-"); err != nil {
		return fmt.Errorf("cannot make a temporary directory, set TMPDIR: %w", err)
	}
	for i, size := range []int64{wantedSize, fillerSize} {
		for n := range data {
			path := filepath.Join(s.dir, fmt.Sprintf("%d-%d.bin", i, n))
			if err := pair.MakeFile(path, uint64(100*i+n), size); err != nil {
				return err
			}
		}
	}
	if s.store, err = store.Open(ctx, s.dir, cfg.Log); err != nil {
		return err
	}
	for _, o := range s.store.Offers() {
		if o.Size == wantedSize {
			s.wanted = append(s.wanted, o.Hash)
		} else {
			s.filler = append(s.filler, o.Hash)
		}
	}
	return nil
}

// enter starts a member and joins it.
func (s *stage) enter(ctx context.Context, cfg Config, us *node.Node, m Member) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen on loopback: %w", err)
	}
	n := node.New(node.Config{Store: s.store, Window: window, Relayed: true, Behave: m.Behave})
	s.wg.Go(func() { n.Serve(ctx, l) })
	relay, err := lab.StartRelay(ctx, "127.0.0.1:0", l.Addr().String(), m.link())
	if err != nil {
		return err
	}
	s.relays = append(s.relays, relay)
	p, err := us.Dial(ctx, relay.Addr().String())
	if err != nil {
		return err
	}
	s.peers = append(s.peers, p)
	cfg.Joined(m.Name, p)
	_, err = s.fetch.Join(ctx, m.Name, m.Addr, p)
	return err
}

// close ends all and waits for it.
func (s *stage) close() {
	if s.fetch != nil {
		s.fetch.Close()
	}
	for _, p := range s.peers {
		p.Close()
	}
	s.cancel()
	for _, r := range s.relays {
		r.Close()
	}
	s.wg.Wait()
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}
