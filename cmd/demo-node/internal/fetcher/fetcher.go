package fetcher

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

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
