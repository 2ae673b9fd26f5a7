package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/burst"
	yamux "github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
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
	ended  func() error // not nil once we hang up ourselves
	leave  sync.Once

	outstanding atomic.Int64 // bytes asked for and not yet here

	mu     sync.Mutex
	sender sender // guarded by mu
}

// sender is what is believed of the peer's end from one fetch to the next.
type sender struct {
	window int64         // that it may have in flight, in bytes; 0 cold
	rounds float64       // round trips that a window of ours takes
	last   time.Duration // when the last answer was due
}

// join makes a session a peer, which ends with ctx.
func (n *Node) join(ctx context.Context, s *yamux.Session, name string) *Peer {
	p := &Peer{name: name, node: n, session: s, began: time.Now(), ended: ctx.Err, busy: make(chan struct{}, maxServing), open: make(chan struct{}, maxServing+maxTesting)}
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
func (p *Peer) arrived(n int) {
	p.outstanding.Add(-int64(n))
	p.node.good.count(n, 0, false)
}

// reach is how many times the coverage a prediction may be for. Larger predicts
// sooner, from bursts too short to say much: the list's few bytes would do.
const reach = 4

// Predict says how long a fetch of so many bytes would take if it began now, by
// what this node itself has measured; false while it has not measured enough.
func (p *Peer) Predict(n int64) (time.Duration, bool) {
	r := p.Meter().Reading()
	return p.predict(n, &r, p.path(&r))
}

func (p *Peer) predict(n int64, r *burst.Reading, path ranking.Path) (time.Duration, bool) {
	if n < 0 || n > reach*r.Estimation.Coverage || path.BaseRTT <= 0 || path.Rate <= 0 {
		return 0, false
	}
	return ranking.Predict(n+p.outstanding.Load(), path).Total, true
}

// path is the way to the peer for a fetch that begins now.
func (p *Peer) path(r *burst.Reading) ranking.Path {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := ranking.Path{
		BaseRTT: r.BaseRTT, HighRTT: r.P95RTT, Rate: r.Estimation.Rate,
		StreamWindow: int64(p.node.session().MaxStreamWindowSize), WindowRounds: p.sender.rounds,
		LastWindow: p.sender.window,
	}
	if p.outstanding.Load() == 0 {
		path.Idle = p.now() - p.sender.last
	}
	return path
}

// learn takes in what a fetch of n bytes showed of the sender, which began over
// a path when the meter read so. Where fetches overlap, the last to end has its
// way.
func (p *Peer) learn(path ranking.Path, before *burst.Reading, n int64) {
	r := p.Meter().Reading()
	if path.Rate <= 0 { // as of the first fetch
		path.BaseRTT, path.Rate = r.BaseRTT, r.Estimation.Rate
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sender = sender{window: path.WindowAfter(n), rounds: path.RoundsAfter(n, r.Credit-before.Credit), last: p.now()}
}
