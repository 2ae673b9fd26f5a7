package fetcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// pollEvery is how often the ranker does what is due, as it asks for.
const pollEvery = time.Second

// Errors of a Fetcher.
var (
	// ErrNobody says that no peer is left that may be asked.
	ErrNobody = errors.New("no peer is left to fetch it from")
	// ErrUnwatched says that a peer has no session with this fetcher.
	ErrUnwatched = errors.New("fetcher: no session with this peer, let it join first")
)

// Config is what a Fetcher is made from.
type Config struct {
	// Ranker chooses; it must have no other host.
	Ranker *ranking.Ranker
	// Window is the receive window of a stream in bytes, for predictions.
	Window uint32
	// Dir is where data are kept, each under its hash; empty keeps none.
	Dir string
	// DropPeers ends the sessions of peers that the ranker wants dropped at once.
	DropPeers bool
	// Events is told what the ranker reports. Nil is not called. It must not block.
	Events func(ranking.Event)
	// Log takes what an operator wants to know; nil is discarded.
	Log *slog.Logger
}

// Fetcher is the host of a ranker. Safe for concurrent use.
type Fetcher struct {
	cfg    Config
	base   time.Time
	ctx    context.Context // ends with the fetcher
	cancel context.CancelFunc
	wg     sync.WaitGroup // of all goroutines

	mu    sync.Mutex
	conns map[ranking.Conn]*session // guarded by mu
	sizes map[wire.Hash]int64       // of verified data, in bytes; guarded by mu
}

// session is a connection to a peer.
type session struct {
	id     string
	peer   *node.Peer
	users  int  // transfers under way
	doomed bool // to be ended once there are none
}

// mostSizes bounds what is remembered of verified data.
const mostSizes = 1 << 16

// New returns a fetcher, to be ended with Close.
func New(cfg Config) *Fetcher {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Events == nil {
		cfg.Events = func(ranking.Event) {}
	}
	f := &Fetcher{cfg: cfg, base: time.Now(), conns: make(map[ranking.Conn]*session), sizes: make(map[wire.Hash]int64)}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.wg.Go(f.poll)
	return f
}

// Now is an instant of the ranker's base.
func (f *Fetcher) Now() time.Duration { return time.Since(f.base) }

// Ranker is the one it hosts.
func (f *Fetcher) Ranker() *ranking.Ranker { return f.cfg.Ranker }

// poll does what is due.
func (f *Fetcher) poll() {
	t := time.NewTicker(pollEvery)
	defer t.Stop()
	for {
		select {
		case <-f.ctx.Done():
			f.drain()
			return
		case <-t.C:
			f.cfg.Ranker.Poll(f.Now())
			f.drain()
		}
	}
}

// drain passes the ranker's events on.
func (f *Fetcher) drain() {
	for _, e := range f.cfg.Ranker.Events() {
		f.cfg.Log.Debug("ranking", "event", e.String())
		f.cfg.Events(e)
		if e.Kind == ranking.DropNow && f.cfg.DropPeers && !e.Dry {
			f.drop(e.Peer)
		}
	}
}

// drop ends the sessions of a peer once nothing comes over them any more: if
// nobody else has what it sends, late is better than never.
func (f *Fetcher) drop(id string) {
	f.cfg.Log.Warn("peer to be dropped, it did not deliver in time", "peer", id)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.conns {
		if s.id == id {
			s.doomed = true
			f.endDoomed(s)
		}
	}
}

// endDoomed ends a session that is to be dropped and is idle. Needs mu.
func (f *Fetcher) endDoomed(s *session) {
	if s.doomed && s.users == 0 {
		f.wg.Go(s.peer.Disconnect)
	}
}

// Join takes a connected peer in under an identity and an address, and asks it
// what it offers. The peer leaves when its session ends.
func (f *Fetcher) Join(ctx context.Context, id string, addr netip.Addr, p *node.Peer) ([]wire.Offer, error) {
	conn, err := f.cfg.Ranker.Join(f.Now(), ranking.Peer{ID: id, Addr: addr, Meter: p.Meter(), StreamWindow: int64(f.cfg.Window)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	f.mu.Lock()
	f.conns[conn] = &session{id: id, peer: p}
	f.mu.Unlock()
	f.wg.Go(func() { f.await(conn, p) })
	offers, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range offers {
		size := ranking.Size{Bytes: o.Size, Provenance: ranking.Advertised}
		if err := f.cfg.Ranker.Offer(f.Now(), id, o.Hash.String(), size); err != nil {
			f.cfg.Log.Warn("offer ignored", "peer", id, "hash", o.Hash.Short(), "err", err)
		}
	}
	return offers, nil
}

// await takes a peer out once its session has ended.
func (f *Fetcher) await(conn ranking.Conn, p *node.Peer) {
	select {
	case <-f.ctx.Done():
	case <-p.Gone():
		f.cfg.Log.Debug("peer left", "peer", p.Name())
	}
	f.mu.Lock()
	delete(f.conns, conn)
	f.mu.Unlock()
	_ = f.cfg.Ranker.Leave(f.Now(), conn)
}

// enter is the peer at the other end of a connection, for a transfer: call leave
// when that has ended.
func (f *Fetcher) enter(conn ranking.Conn) (p *node.Peer, leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.conns[conn]
	if s == nil {
		return nil, nil, ErrUnwatched
	}
	s.users++
	return s.peer, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		s.users--
		f.endDoomed(s)
	}, nil
}

// size is that of a datum that was verified before, 0 of others: the ranker
// forgets what was offered once the datum is here.
func (f *Fetcher) size(h wire.Hash) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sizes[h]
}

func (f *Fetcher) verified(h wire.Hash, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sizes) >= mostSizes {
		clear(f.sizes)
	}
	f.sizes[h] = size
}

// Close ends what is under way, shadows and trials too, and waits for it. The
// sessions are their owner's to close.
func (f *Fetcher) Close() {
	f.cancel()
	f.wg.Wait()
}
