package fetcher

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// trialLimit is how long a copy that nobody waits for may take. Longer learns
// more of slow peers and holds a stream for longer.
const trialLimit = time.Minute

// try fetches a copy that nobody waits for, to learn of its peer; it is checked
// and dropped.
func (f *Fetcher) try(fetch *ranking.Fetch, p ranking.Pick, hash wire.Hash, size int64) {
	more, err := fetch.Add(f.Now(), p)
	if err != nil {
		f.cfg.Log.Debug("no trial", "peer", p.Peer, "err", err)
		return
	}
	f.wg.Go(func() { f.trial(more, hash, size) })
}

func (f *Fetcher) trial(fetch *ranking.Fetch, hash wire.Hash, size int64) {
	ctx, cancel := context.WithTimeout(f.ctx, trialLimit)
	defer cancel()
	defer func() { fetch.Abort(f.Now()) }() // does nothing once the outcome is told
	peer, leave, err := f.enter(fetch.Pick().Conn)
	if err != nil {
		fetch.Fail(f.Now(), ranking.Disconnected)
		return
	}
	defer leave()
	sp, err := newSpool()
	if err != nil {
		return
	}
	defer sp.close()
	t := &transfer{fetch: fetch, pick: fetch.Pick(), peer: peer, size: size, spool: sp}
	f.wg.Go(func() { f.oversee(ctx, cancel, fetch) })
	if t.read(ctx, hash, f.Now) != nil {
		return
	}
	if t.pick.Bytes > 0 || t.pick.Offset > 0 {
		fetch.Done(f.Now(), 0)
		return
	}
	switch size, err := verify(hash, "", []io.Reader{io.NewSectionReader(sp.file, 0, sp.n)}); {
	case err == nil:
		f.verified(hash, size) // before the ranker forgets what was offered
		fetch.Done(f.Now(), size)
	case errors.Is(err, store.ErrMismatch):
		fetch.Fail(f.Now(), ranking.Corrupt)
	}
}

// oversee asks for advice on a trial, for only so its silences are seen, and ends
// it if that is the advice. Nobody is asked in its place.
func (f *Fetcher) oversee(ctx context.Context, cancel func(), fetch *ranking.Fetch) {
	for {
		a := fetch.Advice(f.Now())
		if (a.Kind == ranking.Cancel || a.Kind == ranking.ResetConn) && a.Trouble != ranking.Delivered {
			fetch.Abort(f.Now())
			cancel()
			return
		}
		t := time.NewTimer(max(a.Again, time.Millisecond))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
	}
}
