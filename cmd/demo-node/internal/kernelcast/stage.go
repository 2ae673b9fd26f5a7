package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/assay-mux/assay/cmd/demo-node/internal/fetcher"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/pair"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/ranking"
)

// The sizes of the data in bytes: what users fetch, 512 kB on average, and the
// fillers that a padder serves fast so that its rate looks good. With half as
// much filler it was seen to stay clear of a verdict, and was found slow by
// delivery alone.
const (
	smallest = 256_000
	usual    = 512_000
	largest  = 768_000
	filler   = 3_000_000
)

// each is how many data there are of each size.
const each = 4

// window is the receive window of a stream in bytes: larger than any datum, so
// that our own credit limits nobody.
const window = 4 << 20

// stage is where it plays. End it with close.
type stage struct {
	net    *kernelpath.Net
	dir    string
	store  *store.Store
	data   map[int64][]wire.Hash // by size
	cancel context.CancelFunc
	wg     sync.WaitGroup
	peers  []*node.Peer
	fetch  *fetcher.Fetcher
}

func setUp(ctx context.Context, cast []member) (_ *stage, err error) {
	s := &stage{data: make(map[int64][]wire.Hash)}
	ctx, s.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.make(ctx); err != nil {
		return nil, err
	}
	cfg := kernelpath.Config{Seed: 1}
	for _, m := range cast {
		cfg.Paths = append(cfg.Paths, m.path())
	}
	if s.net, err = kernelpath.Start(cfg); err != nil {
		return nil, err
	}
	rc := ranking.DefaultConfig()
	rc.StreamWindow = window
	ranker, err := ranking.New(rc)
	if err != nil {
		return nil, err
	}
	s.fetch = fetcher.New(fetcher.Config{Ranker: ranker, Window: window})
	us := node.New(node.Config{Window: window})
	for i, m := range cast {
		if err := s.enter(ctx, us, i, m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return s, nil
}

// make writes the data that all serve.
func (s *stage) make(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "kernelcast-"); err != nil {
		return err
	}
	for _, size := range []int64{smallest, usual, largest, filler} {
		for n := range each {
			if err := pair.MakeFile(filepath.Join(s.dir, fmt.Sprintf("%d-%d.bin", size, n)), uint64(size)+uint64(n), size); err != nil {
				return err
			}
		}
	}
	if s.store, err = store.Open(ctx, s.dir, nil); err != nil {
		return err
	}
	for _, o := range s.store.Offers() {
		s.data[o.Size] = append(s.data[o.Size], o.Hash)
	}
	return nil
}

// enter starts a member on its host and joins it from the hub.
func (s *stage) enter(ctx context.Context, us *node.Node, i int, m member) error {
	l, err := s.net.Peer(i).Listen(ctx, m.control)
	if err != nil {
		return err
	}
	n := node.New(node.Config{Store: s.store, Window: window, Behave: m.behave})
	s.wg.Go(func() { n.Serve(ctx, l) })
	var p *node.Peer
	if err := s.net.Hub().Do(func() (err error) { p, err = us.Dial(ctx, l.Addr().String()); return err }); err != nil {
		return err
	}
	s.peers = append(s.peers, p)
	_, err = s.fetch.Join(ctx, m.name, addr(i), p)
	return err
}

func (s *stage) close() {
	if s.fetch != nil {
		s.fetch.Close()
	}
	for _, p := range s.peers {
		p.Close()
	}
	s.cancel()
	s.wg.Wait()
	if s.net != nil {
		s.net.Close()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}
