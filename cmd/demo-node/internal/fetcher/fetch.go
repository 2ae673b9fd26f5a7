package fetcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// Request is what to fetch.
type Request struct {
	Hash wire.Hash
	// Critical asks for copies from distinct groups at once.
	Critical bool
	// Exclude names peers not to ask.
	Exclude []string
	// Alone asks one peer and no other: no hedge, no second try.
	Alone bool
	// Limit is how long it may take; 0 is no limit.
	Limit time.Duration
}

// Part is one peer's part in a fetch.
type Part struct {
	Peer     string
	Role     ranking.Role
	Offset   int64
	Bytes    int64             // that came
	Took     time.Duration     // until it ended, or until the datum was there
	Troubles []ranking.Trouble // that advice was given for, each once
	Err      error             // why it brought nothing; nil if it did
}

// Result is how a fetch went.
type Result struct {
	Size      int64 // of the datum, verified
	Took      time.Duration
	Predicted time.Duration // by the first plan
	Why       ranking.Why   // of the first plan
	Parts     []Part        // in the order in which they began
}

// From names the peer that completed it.
func (r Result) From() string {
	for _, p := range slices.Backward(r.Parts) {
		if p.Err == nil {
			return p.Peer
		}
	}
	return ""
}

// Fetch fetches a datum: from the peer that the ranker chooses, from others where
// that one is in trouble, and again where it fails, until the datum is there or
// no peer is left that has not failed. The result tells of the attempts in
// either case. The error is ErrNobody, that of a peer, of storing, or of ctx.
func (f *Fetcher) Fetch(ctx context.Context, req Request) (Result, error) {
	if req.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, req.Limit, node.ErrStalled)
		defer cancel()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	var res Result
	var last error
	began := f.Now()
	exclude := slices.Clone(req.Exclude)
	for {
		size, failed, err := f.attempt(ctx, req, exclude, &res)
		res.Took = f.Now() - began
		if err == nil {
			res.Size = size
			return res, nil
		}
		if errors.Is(err, ranking.ErrNoPeer) && last != nil {
			return res, fmt.Errorf("%w; the last that was asked: %w", ErrNobody, last)
		}
		last = err
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		if req.Alone || len(failed) == 0 || fatal(err) {
			return res, plain(err)
		}
		exclude = append(exclude, failed...)
	}
}

// plain says what the ranker's errors mean to who asked.
func plain(err error) error {
	switch {
	case errors.Is(err, ranking.ErrNoPeer):
		return ErrNobody
	case errors.Is(err, ranking.ErrNoSize):
		return wire.ErrNotFound
	}
	return err
}

// attempt makes a plan and carries it out. Failed are whom not to ask again.
func (f *Fetcher) attempt(ctx context.Context, req Request, exclude []string, res *Result) (size int64, failed []string, err error) {
	plan, err := f.choose(req, exclude)
	if err != nil {
		return 0, nil, err
	}
	if len(res.Parts) == 0 {
		res.Predicted, res.Why = plan.Predicted, plan.Why
	}
	f.cfg.Log.Debug("plan", "hash", req.Hash.Short(), "peer", plan.Primary.Peer, "why", plan.Why.String())
	j, size, err := f.run(ctx, req, plan)
	for _, t := range j.all {
		p := t.part(f.Now())
		res.Parts = append(res.Parts, p)
		if p.Err != nil {
			f.cfg.Log.Debug("transfer ended short", "hash", req.Hash.Short(), "peer", p.Peer, "role", p.Role, "bytes", p.Bytes, "took", p.Took,
				"silent", f.Now()-time.Duration(t.last.Load()), "troubles", fmt.Sprint(p.Troubles), "err", p.Err)
		}
		failed = append(failed, t.pick.Peer)
	}
	if len(j.all) == 0 {
		failed = append(failed, plan.Primary.Peer)
	}
	if errors.Is(err, store.ErrMismatch) {
		// Where the bytes of several were wrong together it is not known whose:
		// only the last is not asked again, so that it ends.
		failed = failed[len(failed)-1:]
	}
	return size, failed, err
}

// choose makes a plan. Another fetch may bring the datum, with which the ranker
// forgets the offers of it, between our look for its size and the choice: then
// its size is known at the second look.
func (f *Fetcher) choose(req Request, exclude []string) (ranking.Plan, error) {
	q := ranking.Query{Datum: req.Hash.String(), Size: f.size(req.Hash), Critical: req.Critical, Exclude: exclude}
	plan, err := f.cfg.Ranker.Choose(f.Now(), q)
	if errors.Is(err, ranking.ErrNoSize) {
		if q.Size = f.size(req.Hash); q.Size > 0 {
			return f.cfg.Ranker.Choose(f.Now(), q)
		}
	}
	return plan, err
}

func (t *transfer) part(now time.Duration) Part {
	p := Part{
		Peer: t.pick.Peer, Role: t.pick.Role, Offset: t.pick.Offset, Bytes: t.got.Load(),
		Took: max(time.Duration(t.last.Load()), t.began) - t.began, Troubles: t.troubles, Err: t.err,
	}
	if t.err != nil {
		p.Took = now - t.began
	}
	return p
}
