package node

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/passive"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	yamux "github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// maxTesting is how many streams of a speed test one peer may have open: both ends of as many as the
// policy allows, and a few to talk on. More lets a peer hold more of our memory.
const maxTesting = 2*256 + 16

// goodput observes what a node carries. Safe for concurrent use.
type goodput struct {
	base time.Time

	mu       *sync.Mutex
	meter    *passive.Meter // guarded by mu
	ordinary *int64         // bytes sent that were no test; guarded by mu
}

func newGoodput() goodput {
	m, err := passive.New(passive.DefaultConfig(), 0)
	if err != nil {
		panic(err) // the defaults are valid
	}
	return goodput{base: time.Now(), mu: new(sync.Mutex), meter: m, ordinary: new(int64)}
}

func (g goodput) count(read, written int, test bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !test {
		*g.ordinary += int64(written)
	}
	g.meter.Add(time.Since(g.base), passive.Traffic{Read: int64(read), Written: int64(written), Test: test})
}

func (g goodput) figures() passive.Figures {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.meter.Figures(time.Since(g.base))
}

func (g goodput) sent() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return *g.ordinary
}

// counted is a writer whose bytes are goodput.
type counted struct {
	io.Writer
	node *Node
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.node.good.count(0, n, false)
	return n, err
}

// Figures are what the node publishes of itself.
func (n *Node) Figures() passive.Figures {
	f := n.good.figures().WithLimit(n.cfg.Limit)
	if n.cfg.Claim > 0 {
		f.Advertised, f.Observed, f.Limit = n.cfg.Claim, max(f.Observed, n.cfg.Claim), 0
	}
	return f
}

// responder makes what answers testers, nil if there is no policy or it makes no sense.
func (n *Node) responder() *speedtest.Responder {
	if n.cfg.Speedtest == nil {
		return nil
	}
	pol := *n.cfg.Speedtest
	pol.Limit = n.cfg.Limit
	r, err := speedtest.NewResponder(speedtest.ResponderConfig{
		Policy: pol, Figures: n.Figures, Ordinary: n.good.sent, Event: n.cfg.SpeedtestEvent,
		Moved: func(read, written int) { n.good.count(read, written, true) },
	})
	if err != nil {
		n.cfg.Log.Warn("no speed tests", "err", err)
		return nil
	}
	return r
}

// Speedtest answers testers; nil if none are answered.
func (n *Node) Speedtest() *speedtest.Responder { return n.test }

// Descriptor is what the node publishes.
func (n *Node) Descriptor() message.Descriptor {
	if n.test == nil {
		return message.Descriptor{Figures: n.Figures()}
	}
	return n.test.Descriptor()
}

// speedtest serves a stream of a speed test. Without a responder its end is the answer.
func (p *Peer) speedtest(st *yamux.Stream) {
	if p.node.test == nil {
		return
	}
	if err := p.node.test.Serve(context.Background(), st, p.who()); err != nil {
		p.node.cfg.Log.Debug("speed test", "peer", p.name, "err", err)
	}
}

// who is a tester to quotas. The demo knows no better identity than an address, whose port says
// nothing.
func (p *Peer) who() policy.Who {
	id := p.name
	if a := p.Addr(); a.IsValid() {
		id = a.Unmap().String()
	}
	return policy.Who{Identity: id, Group: string(ranking.GroupOf(id, p.Addr(), nil))}
}

// Tested opens streams for a speed test of this peer.
func (p *Peer) Tested() speedtest.Opener { return opener{p} }

type opener struct{ peer *Peer }

func (o opener) Open() (net.Conn, error) {
	st, err := o.peer.session.OpenStream()
	if err != nil {
		return nil, o.peer.explain(context.Background(), err)
	}
	_ = st.SetWriteDeadline(time.Now().Add(requestLimit))
	if _, err := st.Write(wire.AppendSpeedtest(nil)); err != nil {
		st.Close()
		return nil, o.peer.explain(context.Background(), err)
	}
	_ = st.SetWriteDeadline(time.Time{})
	return st, nil
}

// Group is the peer's network location.
func (p *Peer) Group() string { return p.who().Group }
