package fetcher

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// job is one plan on its way, in as many transfers as it takes.
type job struct {
	f    *Fetcher
	req  Request
	hash wire.Hash
	size int64 // that it is thought to have
	ctx  context.Context

	all    []*transfer // in the order in which they began
	live   int         // those whose end has not been taken
	ends   chan *transfer
	halted bool // no transfer is to begin any more
}

// mostTransfers bounds the transfers of one plan: copies, hedges and trials.
const mostTransfers = 64

// run carries out a plan. The size is that of the datum, verified. Where it
// returns an error the transfers say whom it was with.
func (f *Fetcher) run(ctx context.Context, req Request, plan ranking.Plan) (*job, int64, error) {
	j := &job{f: f, req: req, hash: req.Hash, size: plan.Size.Bytes, ctx: ctx, ends: make(chan *transfer, mostTransfers)}
	defer j.close()
	fetch, err := f.cfg.Ranker.Begin(f.Now(), plan)
	if err != nil {
		return j, 0, theirs{err} // its peer has left since
	}
	if err := j.start(fetch, nil); err != nil {
		return j, 0, err
	}
	for _, p := range plan.Redundant {
		_ = j.add(fetch, p, nil)
	}
	for _, p := range plan.Shadow {
		f.try(fetch, p, req.Hash, plan.Size.Bytes)
	}
	size, err := j.watch()
	return j, size, err
}

// start begins a transfer.
func (j *job) start(fetch *ranking.Fetch, parent *transfer) error {
	pick := fetch.Pick()
	peer, leave, err := j.f.enter(pick.Conn)
	if err != nil {
		fetch.Fail(j.f.Now(), ranking.Disconnected)
		return theirs{err}
	}
	sp, err := newSpool()
	if err != nil {
		leave()
		fetch.Abort(j.f.Now())
		return err
	}
	now := j.f.Now()
	t := &transfer{fetch: fetch, pick: pick, peer: peer, size: j.size, parent: parent, began: now, spool: sp, ended: make(chan struct{})}
	t.last.Store(int64(now))
	ctx, cancel := context.WithCancelCause(j.ctx)
	t.cancel = cancel
	j.all = append(j.all, t)
	j.live++
	j.f.wg.Go(func() {
		t.err = t.read(ctx, j.hash, j.f.Now)
		leave()
		close(t.ended)
		j.ends <- t
	})
	return nil
}

// add begins another part of the same fetch.
func (j *job) add(fetch *ranking.Fetch, p ranking.Pick, parent *transfer) error {
	if j.halted || len(j.all) == mostTransfers {
		return ranking.ErrEnded
	}
	more, err := fetch.Add(j.f.Now(), p)
	if err != nil {
		return err
	}
	return j.start(more, parent)
}

// watch waits for the datum, acting on advice meanwhile.
func (j *job) watch() (int64, error) {
	timer := time.NewTimer(j.advise())
	defer timer.Stop()
	var first error
	for j.live > 0 {
		select {
		case t := <-j.ends:
			j.live--
			size, err := j.took(t)
			if err == nil {
				return size, nil
			}
			if fatal(err) || j.ctx.Err() != nil {
				return 0, err
			}
			if first == nil {
				first = err
			}
		case <-timer.C:
			timer.Reset(j.advise())
		}
	}
	return 0, first
}

// fatal says that another peer would not help.
func fatal(err error) bool {
	return !errors.Is(err, store.ErrMismatch) && !errors.Is(err, errPeer)
}

// errPeer marks an error that is a peer's, or that of the way to it.
var errPeer = errors.New("")

// took takes the end of a transfer: an error, or the datum if it is right.
func (j *job) took(t *transfer) (int64, error) {
	if t.err != nil {
		return 0, theirs{t.err}
	}
	parts := j.parts(t)
	size, err := verify(j.hash, j.f.cfg.Dir, parts)
	now := j.f.Now()
	switch {
	case err == nil:
		j.f.verified(j.hash, size) // before the ranker forgets what was offered
		t.fetch.Done(now, size)
	case !errors.Is(err, store.ErrMismatch):
		t.fetch.Abort(now)
	case t.parent == nil:
		t.fetch.Fail(now, ranking.Corrupt)
		t.err = err
	default: // one of several peers, and it can't be told which
		t.fetch.Abort(now)
		t.err = err
	}
	return size, err
}

// theirs is an error that another peer may do better than.
type theirs struct{ error }

func (t theirs) Is(target error) bool { return target == errPeer }
func (t theirs) Unwrap() error        { return t.error }

// parts are the readers that make the datum: what its ancestors brought of it,
// which are ended for that, and the transfer's own.
func (j *job) parts(t *transfer) []io.Reader {
	var parts []io.Reader
	for end := t.pick.Offset + t.spool.n; t != nil; t = t.parent {
		j.giveUp(t, errLost)
		<-t.ended
		parts = append(parts, io.NewSectionReader(t.spool.file, 0, end-t.pick.Offset))
		end = t.pick.Offset
	}
	slices.Reverse(parts)
	return parts
}

// giveUp ends a transfer that has not ended by itself.
func (j *job) giveUp(t *transfer, why error) {
	select {
	case <-t.ended:
		return
	default:
	}
	t.fetch.Abort(j.f.Now())
	t.cancel(why)
}

// close ends all transfers, waits for them and drops what they brought.
func (j *job) close() {
	j.halted = true
	for _, t := range j.all {
		j.giveUp(t, errLost)
		<-t.ended
		t.fetch.Abort(j.f.Now()) // does nothing where the outcome is told
		t.cancel(nil)
		t.spool.close()
	}
}

// reset ends a connection that is dead by all signs.
func (j *job) reset(t *transfer) {
	t.fetch.Fail(j.f.Now(), ranking.TimedOut)
	t.cancel(errGivenUp)
	t.peer.Disconnect()
}
