package speedtest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/mux"
)

var us = policy.Who{Identity: "tester", Group: "192.0.2.0/24"}

// quiet is a session's configuration; slow links are the subject here.
func quiet() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.ConnectionWriteTimeout = time.Hour
	c.StreamOpenTimeout = 0
	c.StreamCloseTimeout = time.Hour
	return c
}

// options keep yamux from stopping the virtual clock.
func options() []mux.Option {
	return []mux.Option{
		mux.WithTap(func(c net.Conn) net.Conn { return lab.WholeFrames(c) }),
		mux.WithWatcher(mux.NewWatcher()),
	}
}

// target is a responder with the sessions of those who test it.
type target struct {
	*Responder
	t      *testing.T
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	sessions []*mux.Session
	errs     []error
}

// newTarget starts a target, which ends with stop.
func newTarget(t *testing.T, cfg ResponderConfig) *target {
	t.Helper()
	r, err := NewResponder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := &target{Responder: r, t: t}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// connect joins a tester to the target over a link, and returns its session.
func (g *target) connect(l lab.Link, who policy.Who) *mux.Session {
	g.t.Helper()
	a, b := lab.Pair(l)
	return g.join(a, b, who)
}

func (g *target) join(a, b net.Conn, who policy.Who) *mux.Session {
	g.t.Helper()
	near, err1 := mux.Client(a, quiet(), options()...)
	far, err2 := mux.Server(b, quiet(), options()...)
	if err1 != nil || err2 != nil {
		g.t.Fatal(err1, err2)
	}
	g.mu.Lock()
	g.sessions = append(g.sessions, near, far)
	g.mu.Unlock()
	g.wg.Go(func() { g.accept(far, who) })
	return near
}

func (g *target) accept(s *mux.Session, who policy.Who) {
	for {
		st, err := s.AcceptStream()
		if err != nil {
			return
		}
		g.wg.Go(func() {
			defer st.Close()
			err := g.Serve(g.ctx, st, who)
			g.mu.Lock()
			defer g.mu.Unlock()
			g.errs = append(g.errs, err)
		})
	}
}

// stop ends all and waits for it.
func (g *target) stop() {
	g.cancel()
	g.mu.Lock()
	sessions := g.sessions
	g.mu.Unlock()
	for _, s := range sessions {
		s.Close()
	}
	g.wg.Wait()
}

// free is a policy without quotas.
func free() policy.Policy {
	p := policy.Default()
	p.Bytes, p.DayBytes, p.GroupBytes = 1<<40, 1<<50, 1<<50
	p.Interval = 0
	p.GroupTests, p.DayTests = 1000, 1000
	return p
}

// off is the relative difference.
func off(got, want float64) float64 { return got/want - 1 }
