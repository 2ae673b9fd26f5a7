package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/predict"
	yamux "github.com/assay-mux/assay/mux"
)

// Peer is the other end of a session. Safe for concurrent use.
type Peer struct {
	name    string
	node    *Node
	session *yamux.Session
	began   time.Time

	wg     sync.WaitGroup // of the goroutines that serve it
	busy   chan struct{}  // a slot for each request being served
	open   chan struct{}  // and for each stream of the peer's, those of a speed test among them
	unhook func() bool
	leave  sync.Once

	outstanding atomic.Int64 // bytes asked for and not yet here

	mu     sync.Mutex
	growth predict.Growth // the sender's window; guarded by mu
}

// join makes a session a peer, which ends with ctx.
func (n *Node) join(ctx context.Context, s *yamux.Session, name string) *Peer {
	p := &Peer{name: name, node: n, session: s, began: time.Now(), busy: make(chan struct{}, maxServing), open: make(chan struct{}, maxServing+maxTesting)}
	p.unhook = context.AfterFunc(ctx, func() { s.Close() })
	n.cfg.Joined(p)
	n.cfg.Log.Debug("peer connected", "peer", name)
	return p
}

// Name is the peer's address.
func (p *Peer) Name() string { return p.name }

// Meter measures the peer.
func (p *Peer) Meter() *yamux.Meter { return p.session.Meter() }

// Close ends the session and waits until nothing of it is being served.
func (p *Peer) Close() {
	p.session.Close()
	p.unhook()
	p.wg.Wait()
	p.leave.Do(func() {
		p.node.cfg.Left(p)
		p.node.cfg.Log.Debug("peer gone", "peer", p.name)
	})
}

// now is an instant on the peer's own clock.
func (p *Peer) now() time.Duration { return time.Since(p.began) }

// arrived notes bytes of a file that came.
func (p *Peer) arrived(now time.Duration, n int) {
	p.outstanding.Add(-int64(n))
	p.node.good.count(n, 0, false)
	p.mu.Lock()
	p.growth.Arrived(now, n)
	p.mu.Unlock()
}

// reach is how many times the coverage a prediction may be for. Larger predicts
// sooner, from bursts too short to say much: the list's few bytes would do.
const reach = 4

// Predict says how long a fetch of so many bytes would take if it began now, by
// what this node itself has measured; false while it has not measured enough.
func (p *Peer) Predict(n int64) (time.Duration, bool) {
	s := p.Meter().Snapshot()
	if n > reach*s.Estimate.Coverage {
		return 0, false
	}
	p.mu.Lock()
	window := p.growth.Ask(p.now(), s.RTT.Base)
	p.mu.Unlock()
	return predict.Fetch(predict.Path{
		BaseRTT:        s.RTT.Base,
		Waiting:        s.RTT.P95 - s.RTT.Base,
		SecondsPerByte: float64(s.Estimate.Rate),
		Window:         window,
		StreamWindow:   int64(p.node.session().MaxStreamWindowSize),
		Outstanding:    p.outstanding.Load(),
	}, n)
}
