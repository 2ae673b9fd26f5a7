package speedtestdemo

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/pair"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/internal/lab"
)

const (
	// window is the receive window of ordinary traffic in bytes: more than any
	// link here holds.
	window = 4 << 20
	// dataSize is that of the datum that ordinary traffic fetches, again and
	// again.
	dataSize = 8 << 20
)

// stage is the network. End it with close.
type stage struct {
	dir    string
	store  *store.Store
	offer  wire.Offer
	user   *node.Node // whose traffic keeps targets busy
	cancel context.CancelFunc
	wg     sync.WaitGroup
	relays []*lab.Relay

	targets []*target
}

// target is a member on stage.
type target struct {
	Member
	addr  string
	node  *node.Node
	began atomic.Int64 // runs of tests
	peer  chan *node.Peer
}

func setUp(ctx context.Context, members []Member) (_ *stage, err error) {
	s := &stage{}
	ctx, s.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "demo-node-"); err != nil {
		return nil, fmt.Errorf("cannot make a temporary directory, set TMPDIR: %w", err)
	}
	if err = pair.MakeFile(filepath.Join(s.dir, "data.bin"), 1, dataSize); err != nil {
		return nil, err
	}
	if s.store, err = store.Open(ctx, s.dir, nil); err != nil {
		return nil, err
	}
	s.offer = s.store.Offers()[0]
	s.user = node.New(node.Config{Store: s.store, Window: window, Relayed: true})
	for _, m := range members {
		if err = s.enter(ctx, m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return s, nil
}

// policy is that of all members: the quotas are for networks whose tests are half a day apart.
func (m Member) policy() *policy.Policy {
	p := policy.Default()
	p.OptOut = m.OptOut
	p.Interval, p.GroupTests, p.DayTests = 0, 1000, 1000
	p.GroupBytes, p.DayBytes = 64<<30, 64<<30
	return &p
}

// enter starts a member behind its link.
func (s *stage) enter(ctx context.Context, m Member) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen on loopback: %w", err)
	}
	t := &target{Member: m, peer: make(chan *node.Peer, 1)}
	t.node = node.New(node.Config{
		Store: s.store, Window: window, Relayed: true, Speedtest: m.policy(), Claim: int64(m.Claim) / 8,
		SpeedtestEvent: func(e speedtest.Event) {
			if e.Kind == speedtest.RunBegan {
				t.began.Add(1)
			}
		},
		Joined: func(p *node.Peer) {
			select {
			case t.peer <- p:
			default:
			}
		},
	})
	s.wg.Go(func() { t.node.Serve(ctx, l) })
	relay, err := lab.StartRelay(ctx, "127.0.0.1:0", l.Addr().String(), m.link())
	if err != nil {
		return err
	}
	s.relays = append(s.relays, relay)
	t.addr = relay.Addr().String()
	s.targets = append(s.targets, t)
	return nil
}

// live gives all targets the traffic that they have had before: those that were
// busy for long all at once, the others one after the other, so that this machine
// keeps up.
func (s *stage) live(ctx context.Context) error {
	var wg sync.WaitGroup
	var failed atomic.Value
	busy := func(t *target) {
		if err := s.busy(ctx, t); err != nil {
			failed.Store(err)
		}
	}
	for _, t := range s.targets {
		if t.Busy >= full {
			wg.Go(func() { busy(t) })
		}
	}
	wg.Wait()
	for _, t := range s.targets {
		if t.Busy > 0 && t.Busy < full {
			busy(t)
		}
	}
	if err, ok := failed.Load().(error); ok && ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// busy lets a target serve and fetch for as long as it was busy.
func (s *stage) busy(ctx context.Context, t *target) error {
	p, err := s.user.Dial(ctx, t.addr)
	if err != nil {
		return err
	}
	defer p.Close()
	// The session is the target's once a stream has come over it.
	if _, err := p.List(ctx); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, t.Busy)
	defer cancel()
	var wg sync.WaitGroup
	for _, side := range []*node.Peer{p, <-t.peer} {
		wg.Go(func() {
			for short.Err() == nil {
				_, err := side.Fetch(short, s.offer, 0, io.Discard, nil)
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// close ends all and waits for it.
func (s *stage) close() {
	s.cancel()
	for _, r := range s.relays {
		r.Close()
	}
	s.wg.Wait()
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// rest waits, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
