package fetcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// chunk is how much is read at a time. Larger saves calls; beyond 64 KiB that is
// not noticed.
const chunk = 64 << 10

// transfer is the part of one peer in a job.
type transfer struct {
	fetch  *ranking.Fetch
	pick   ranking.Pick
	peer   *node.Peer
	size   int64     // that the datum is thought to have
	parent *transfer // whose missing range it brings; nil if it begins at 0
	cancel context.CancelCauseFunc
	began  time.Duration

	spool *spool        // written until ended is closed, then read
	ended chan struct{} // closed when it reads no more
	err   error         // why it ended short; set before ended is closed
	got   atomic.Int64
	last  atomic.Int64 // the instant of the last byte, a time.Duration

	troubles []ranking.Trouble // that advice was given for, each once; the job's
}

// errLost says that a transfer is not needed any more.
var errLost = errors.New("another copy came first")

// errGivenUp says that a transfer was given up on advice.
var errGivenUp = errors.New("given up")

const (
	// overMost is how many times what was expected a reply may have, for a datum may be larger than
	// all said who advertise it, and its hash proves them liars.
	overMost = 16
	// replyLeast is what any reply may have.
	replyLeast = 64 << 20
)

// errEndless is a reply that would fill the disk before its hash could say anything of it.
var errEndless = errors.New("the peer would send far more than anybody says the datum has, nothing was kept; ask another")

// endless says that a reply is not worth to be waited for.
func endless(reply, size int64) bool { return reply > replyLeast && reply/overMost > size }

// read fetches until the end of the range, and tells the ranker's fetch of all
// but success, which takes a hash.
func (t *transfer) read(ctx context.Context, hash wire.Hash, now func() time.Duration) error {
	reply, err := t.peer.Get(ctx, hash, t.pick.Offset)
	if err != nil {
		t.tell(ctx, now(), err)
		return err
	}
	defer reply.Close()
	if endless(reply.Size, t.size) {
		t.fetch.Fail(now(), ranking.Corrupt)
		return fmt.Errorf("%w (%d bytes of %d)", errEndless, reply.Size, t.size)
	}
	r := t.fetch.Reader(telling{reply, func(err error) { t.tell(ctx, now(), err) }}, now)
	buf := make([]byte, chunk)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			t.got.Add(int64(n))
			t.last.Store(int64(now()))
			if _, werr := t.spool.Write(buf[:n]); werr != nil {
				t.fetch.Abort(now())
				return werr
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// telling says why a read failed before the ranker's reader does, for the
// error's meaning is known here: the first to say it counts.
type telling struct {
	reply *node.Reply
	tell  func(error)
}

func (r telling) Read(p []byte) (int, error) {
	n, err := r.reply.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.tell(err)
	}
	return n, err
}

// tell says how it failed, or that we gave it up.
func (t *transfer) tell(ctx context.Context, now time.Duration, err error) {
	var refusal *wire.Refusal
	switch {
	case ctx.Err() != nil:
		t.fetch.Abort(now)
	case errors.Is(err, wire.ErrNotFound):
		t.fetch.Fail(now, ranking.NotFound)
	case errors.As(err, &refusal):
		t.fetch.Fail(now, ranking.Reset)
	case errors.Is(err, node.ErrStalled):
		t.fetch.Fail(now, ranking.TimedOut)
	case errors.Is(err, node.ErrVanished):
		t.fetch.Fail(now, ranking.Disconnected)
	default:
		t.fetch.Fail(now, ranking.Reset)
	}
}
