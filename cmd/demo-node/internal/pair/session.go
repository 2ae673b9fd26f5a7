package pair

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/internal/lab"
)

// names are what the two nodes are called.
var names = [2]string{"a", "b"}

const (
	// hellos is how often each node asks for the other's list before the
	// transfer: round trips of a link that nothing loads, for the quantiles.
	hellos = 8

	// helloPause is between them. Without it each request comes one round trip
	// after the reply to the last, and the meter of the node that replies takes it
	// for the answer to that reply, served slowly.
	helloPause = 15 * time.Millisecond
)

// session is one connection between the nodes, through the relay.
type session struct {
	peers  [2]*node.Peer // as each node sees the other
	relay  *lab.Relay
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// connect starts both nodes and the relay: a dials, b accepts.
func (p *Pair) connect(ctx context.Context, pl plan) (_ *session, err error) {
	s := &session{}
	ctx, s.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen on loopback: %w", err)
	}
	joined := make(chan *node.Peer, 1)
	a, err := p.node(0, pl, nil)
	if err != nil {
		l.Close()
		return nil, err
	}
	b, err := p.node(1, pl, joined)
	if err != nil {
		l.Close()
		return nil, err
	}
	s.wg.Go(func() { b.Serve(ctx, l) })
	if s.relay, err = lab.StartRelay(ctx, "127.0.0.1:0", l.Addr().String(), p.cfg.link()); err != nil {
		return nil, err
	}
	if s.peers[0], err = a.Dial(ctx, s.relay.Addr().String()); err != nil {
		return nil, err
	}
	select {
	case s.peers[1] = <-joined:
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// node makes one of the two. Its peer goes to joined, if that is not nil.
func (p *Pair) node(i int, pl plan, joined chan<- *node.Peer) (*node.Node, error) {
	cfg := node.Config{
		Store:   p.stores[i],
		Window:  pl.window,
		Relayed: true,
		Left:    p.cfg.Left,
		Log:     p.cfg.Log.With("node", names[i]),
		Joined: func(peer *node.Peer) {
			p.cfg.Joined(fmt.Sprintf("%s as %s sees it, %s", names[1-i], names[i], pl.name), peer)
			select {
			case joined <- peer:
			default: // not asked for, or a stranger on our loopback port
			}
		},
	}
	if i == 1 {
		cfg.Speedtest = p.cfg.policy()
	}
	if p.cfg.TLS {
		cert, err := node.NewTLS()
		if err != nil {
			return nil, err
		}
		cfg.TLS = cert
	}
	return node.New(cfg), nil
}

// close ends the session and waits.
func (s *session) close() {
	if s.peers[0] != nil {
		s.peers[0].Close()
	}
	s.cancel()
	if s.relay != nil {
		s.relay.Close()
	}
	s.wg.Wait()
}

// exchange greets both ways, then fetches both ways, at once or in turns.
func (s *session) exchange(ctx context.Context, pl plan, add func(int)) (fetches [2][]report.Fetch, err error) {
	greet := func(ctx context.Context, i int) error { return greet(ctx, s.peers[i]) }
	fetch := func(ctx context.Context, i int) (err error) {
		fetches[i], err = fetchAll(ctx, s.peers[i], pl, i, add)
		return err
	}
	if err := inTurn(ctx, greet); err != nil {
		return fetches, err
	}
	if pl.turns {
		return fetches, inTurn(ctx, fetch)
	}
	return fetches, atOnce(ctx, fetch)
}

// inTurn does the same for one node after the other.
func inTurn(ctx context.Context, f func(context.Context, int) error) error {
	for i := range names {
		if err := f(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// atOnce does the same for both nodes at once. The first to fail ends the other.
func atOnce(ctx context.Context, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range names {
		wg.Go(func() {
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func greet(ctx context.Context, p *node.Peer) error {
	for range hellos {
		if _, err := p.List(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(helloPause):
		}
	}
	return nil
}

func fetchAll(ctx context.Context, p *node.Peer, pl plan, i int, add func(int)) ([]report.Fetch, error) {
	fetches := make([]report.Fetch, 0, len(pl.offers[i]))
	for _, o := range pl.offers[i] {
		t, err := p.Download(ctx, o, filepath.Join(pl.out, names[i]), add)
		if err != nil {
			return nil, fmt.Errorf("node %s, file %s: %w", names[i], o.Hash.Short(), err)
		}
		fetches = append(fetches, report.NewFetch(o, t.Predicted, t.FirstByte, t.Whole))
	}
	return fetches, nil
}
