package kernelstudy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// Host fetches data that need no checking through a ranker. Safe for concurrent
// use.
type Host struct {
	Ranker *ranking.Ranker
	// Limit is how long a fetch may take; 0 is no limit. Set it before the first.
	Limit time.Duration
	base  time.Time
	end   chan struct{}
	wg    sync.WaitGroup

	mu    sync.Mutex
	conns map[ranking.Conn]*mux.Session // guarded by mu
}

// NewHost returns a host whose ranker is polled until Close.
func NewHost(cfg ranking.Config) (*Host, error) {
	r, err := ranking.New(cfg)
	if err != nil {
		return nil, err
	}
	h := &Host{Ranker: r, base: time.Now(), end: make(chan struct{}), conns: make(map[ranking.Conn]*mux.Session)}
	h.wg.Go(h.poll)
	return h, nil
}

// Now is an instant of the ranker's base.
func (h *Host) Now() time.Duration { return time.Since(h.base) }

func (h *Host) poll() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-h.end:
			return
		case <-t.C:
			h.Ranker.Poll(h.Now())
		}
	}
}

// Close ends the polling. Sessions are their owners' to close.
func (h *Host) Close() {
	close(h.end)
	h.wg.Wait()
}

// Join takes a session in.
func (h *Host) Join(id string, addr netip.Addr, s *mux.Session, window int64) (ranking.Conn, error) {
	c, err := h.Ranker.Join(h.Now(), ranking.Peer{ID: id, Addr: addr, Meter: s.Meter(), StreamWindow: window})
	if err == nil {
		h.mu.Lock()
		h.conns[c] = s
		h.mu.Unlock()
	}
	return c, err
}

// Leave takes it out.
func (h *Host) Leave(c ranking.Conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	_ = h.Ranker.Leave(h.Now(), c)
}

func (h *Host) session(c ranking.Conn) *mux.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conns[c]
}

// Outcome is how one fetch went.
type Outcome struct {
	Peer      string
	Predicted time.Duration
	Took      time.Duration
	Verdict   audit.Verdict
}

// errGone says that the chosen connection has left.
var errGone = errors.New("kernelstudy: the connection has left")

// Fetch fetches so many bytes from whom the ranker chooses, without copies.
func (h *Host) Fetch(q ranking.Query) (o Outcome, err error) {
	plan, err := h.Ranker.Choose(h.Now(), q)
	if err != nil {
		return o, err
	}
	o.Peer, o.Predicted = plan.Primary.Peer, plan.Predicted
	s := h.session(plan.Primary.Conn)
	if s == nil {
		return o, errGone
	}
	f, err := h.Ranker.Begin(h.Now(), plan)
	if err != nil {
		return o, err
	}
	st, err := s.OpenStream()
	if err != nil { // a session that has died would else be chosen again and again
		o.Verdict = f.Fail(h.Now(), ranking.Disconnected)
		if s.IsClosed() {
			h.Leave(plan.Primary.Conn)
		}
		return o, fmt.Errorf("%s: %w", o.Peer, err)
	}
	defer st.Close()
	began := time.Now()
	if h.Limit > 0 {
		_ = st.SetDeadline(began.Add(h.Limit))
	}
	err = follow(h, f, st, q.Size)
	o.Took = time.Since(began)
	if err != nil {
		how := ranking.Disconnected
		if errors.Is(err, yamux.ErrTimeout) {
			how = ranking.TimedOut
			_ = s.Reset(st)
		}
		o.Verdict = f.Fail(h.Now(), how)
		return o, fmt.Errorf("%s: %w", o.Peer, err)
	}
	o.Verdict = f.Done(h.Now(), 0)
	return o, nil
}

// follow makes the request and reads the reply.
func follow(h *Host, f *ranking.Fetch, st io.ReadWriter, bytes int64) error {
	request := binary.BigEndian.AppendUint64(nil, uint64(bytes))
	request = binary.BigEndian.AppendUint64(request, defaultWrite)
	if _, err := st.Write(request); err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for left := bytes; left > 0; {
		n, err := st.Read(buf[:min(left, int64(len(buf)))])
		f.Progress(h.Now(), n)
		if left -= int64(n); err != nil && left > 0 {
			return err
		}
	}
	f.Received(h.Now())
	return nil
}
