package engine

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/ranking"
)

// chunk is how much is read at a time, in bytes.
const chunk = 64 << 10

// Why a transfer ended short.
var (
	errLost      = errors.New("another copy came first")
	errGivenUp   = errors.New("given up on advice")
	errTimeout   = errors.New("timed out")
	errNotFound  = errors.New("not found")
	errCorrupt   = errors.New("wrong bytes")
	errShort     = errors.New("ended short")
	errGone      = errors.New("not connected")
	errCancelled = errors.New("the run ended")
)

// transfer is one peer's part in a fetch.
type transfer struct {
	w      *world
	t      Transfer
	pick   ranking.Pick
	datum  *datum
	parent *transfer // whose missing range it brings
	rec    *TransferRecord
	began  time.Duration

	conn   *connection
	stream atomic.Pointer[yamux.Stream]
	cause  atomic.Pointer[error] // why we end it
	got    atomic.Int64
	last   atomic.Int64 // instant of the last byte
	// Reading is put off while we deal with what came, the last time until resumed.
	paused  atomic.Bool
	resumed atomic.Int64
	wrong   atomic.Bool

	ended chan struct{}
	err   error // set before ended is closed
}

// run reads the reply to its end.
func (t *transfer) run() {
	t.err = t.read()
	if c := t.cause.Load(); c != nil && t.err != nil {
		t.err = *c
	}
	t.tell()
	close(t.ended)
}

func (t *transfer) read() error {
	if t.conn == nil {
		return errGone
	}
	st, err := t.conn.client.OpenStream()
	if err != nil {
		return errGone
	}
	defer st.Close()
	t.stream.Store(st)
	if t.cause.Load() != nil {
		return errLost
	}
	ask := request{
		datum: uint32(t.datum.n), critical: t.datum.critical, size: t.datum.size,
		offset: t.pick.Offset, want: t.pick.Bytes,
	}
	if _, err := st.Write(ask.append(nil)); err != nil {
		return err
	}
	var status [1]byte
	if _, err := io.ReadFull(st, status[:]); err != nil {
		return err
	}
	if status[0] == statusNotFound {
		return errNotFound
	}
	return t.body(st)
}

// body reads the payload and checks it.
func (t *transfer) body(st *yamux.Stream) error {
	buf := make([]byte, chunk)
	for want := t.want(); t.got.Load() < want; {
		n, err := st.Read(buf[:min(int64(len(buf)), want-t.got.Load())])
		t.w.handed(t.conn.a.index)
		now := t.w.now()
		if n > 0 && t.cause.Load() == nil {
			t.arrived(now, buf[:n])
			t.digest(now, n)
		}
		switch {
		case t.got.Load() == want:
		case errors.Is(err, io.EOF):
			return errShort
		case err != nil:
			return err
		}
	}
	return nil
}

// digest deals with what has been read, and reads no more meanwhile.
func (t *transfer) digest(now time.Duration, bytes int) {
	t.paused.Store(true)
	t.t.Pause(now)
	t.w.digest(bytes)
	now = t.w.now()
	t.t.Resume(now)
	t.resumed.Store(int64(now))
	t.paused.Store(false)
}

// silent is how long it has waited for the next byte.
func (t *transfer) silent(now time.Duration) time.Duration {
	if t.paused.Load() {
		return 0
	}
	return now - time.Duration(max(t.last.Load(), t.resumed.Load()))
}

// want is how many bytes it is to bring.
func (t *transfer) want() int64 {
	n := t.datum.size - t.pick.Offset
	if t.pick.Bytes > 0 {
		n = min(n, t.pick.Bytes)
	}
	return n
}

func (t *transfer) arrived(now time.Duration, p []byte) {
	if t.got.Load() == 0 {
		t.w.log.first(t, now)
	}
	if !t.w.content.right(t.datum.n, t.pick.Offset+t.got.Load(), p) {
		if !t.wrong.Swap(true) && !t.conn.a.corrupts() {
			t.w.log.violate(t.pick.Peer, "datum %d is not what was sent, after %d bytes", t.datum.n, t.got.Load())
		}
	}
	t.conn.got.Add(int64(len(p)))
	t.got.Add(int64(len(p)))
	t.last.Store(int64(now))
	t.t.Progress(now, len(p))
	if t.got.Load() == t.want() {
		t.t.Received(now)
		t.conn.a.served(now, t.want())
	}
}

// tell tells the chooser of any end but a whole one, which a hash decides on.
func (t *transfer) tell() {
	if t.err == nil {
		return
	}
	switch {
	case errors.Is(t.err, errLost), errors.Is(t.err, errGivenUp), errors.Is(t.err, errCancelled):
		t.conclude(t.err, t.t.Abort)
	case errors.Is(t.err, errTimeout):
		t.conclude(t.err, t.failing(ranking.TimedOut))
	case errors.Is(t.err, errNotFound):
		t.conclude(t.err, t.failing(ranking.NotFound))
	case errors.Is(t.err, errGone), t.conn.client.IsClosed():
		t.conclude(errGone, t.failing(ranking.Disconnected))
	default:
		t.conclude(t.err, t.failing(ranking.Reset))
	}
}

// failing and done are what conclude tells.
func (t *transfer) failing(how ranking.Failure) func(time.Duration) audit.Verdict {
	return func(now time.Duration) audit.Verdict { return t.t.Fail(now, how) }
}

func (t *transfer) done(size int64) func(time.Duration) audit.Verdict {
	return func(now time.Duration) audit.Verdict { return t.t.Done(now, size) }
}

// end makes it end soon, for a reason.
func (t *transfer) end(why error) {
	if !t.cause.CompareAndSwap(nil, &why) {
		return
	}
	st := t.stream.Load()
	if st == nil || t.conn == nil {
		return
	}
	_ = t.conn.client.Reset(st) // fails where the session has ended, and it with that
	_ = st.SetReadDeadline(time.Unix(1, 0))
}

// over says whether it has ended.
func (t *transfer) over() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}
