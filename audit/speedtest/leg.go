package speedtest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
)

// chunk is how much payload is moved at a time, in bytes: a frame of package mux.
// Larger saves calls, and lets a multiplexer without the shim send frames that
// show nothing before they are whole.
const chunk = 16 << 10

// leg is one run of a test, at the target.
type leg struct {
	job   *job
	index uint8
	moved atomic.Int64

	started chan struct{} // closed when it begins
	stopped chan struct{} // closed when it ends

	mu       sync.Mutex
	way      message.Way              // guarded by mu until started
	key      keystream.Key            // likewise
	on, done bool                     // started and stopped are closed; guarded by mu
	streams  map[message.Attach]*plug // guarded by mu
	since    time.Duration            // when it began; guarded by mu
	owed     int64                    // told to Outstanding; guarded by mu
}

// plug is a stream attached to a run.
type plug struct {
	conn   net.Conn
	unused chan struct{} // closed when nobody uses it any more
}

func newLeg(j *job, index uint8) *leg {
	return &leg{
		job: j, index: index, streams: make(map[message.Attach]*plug),
		started: make(chan struct{}), stopped: make(chan struct{}),
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (l *leg) begun() bool { return isClosed(l.started) }
func (l *leg) ended() bool { return isClosed(l.stopped) }

// begin lets the streams go; false if it has begun or ended before.
func (l *leg) begin(w message.Way, k keystream.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.on || l.done {
		return false
	}
	l.on, l.way, l.key, l.since = true, w, k, l.job.responder.now()
	close(l.started)
	return true
}

// finish ends the run, once, and tells the tester why. Whoever waits on one of
// its streams waits no longer.
func (l *leg) finish(why policy.Ended) {
	l.mu.Lock()
	if l.done {
		l.mu.Unlock()
		return
	}
	l.done = true
	on, owed := l.on, l.owed
	l.owed = 0
	close(l.stopped)
	var conns []net.Conn
	for _, p := range l.streams {
		conns = append(conns, p.conn)
	}
	l.mu.Unlock()
	if on {
		r := l.job.responder
		r.cfg.Outstanding(l.job.who, -owed)
		r.mu.Lock()
		r.gate.Stop(r.now(), l.job.Test)
		r.mu.Unlock()
		l.job.say(message.Done{Reason: uint8(why), Bytes: l.moved.Load()})
		r.cfg.Event(Event{Kind: RunEnded, Who: l.job.who, Way: l.way, Ended: why, Bytes: l.moved.Load()})
	}
	for _, c := range conns {
		_ = c.SetDeadline(time.Now())
	}
}

// expect tells the host how many bytes are still to be moved: at first all that
// were granted, then what the rate so far makes of the time that is left.
func (l *leg) expect() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return
	}
	moved, past := l.moved.Load(), l.job.responder.now()-l.since
	left := l.job.Bytes - moved
	if moved > 0 && past > 0 {
		left = min(left, int64(float64(moved)*max(float64(l.job.Length-past), 0)/float64(past)))
	}
	l.job.responder.cfg.Outstanding(l.job.who, left-l.owed)
	l.owed = left
}

// attach adds a stream; nil if the run has ended, has as many as it may, or has
// this one.
func (l *leg) attach(a message.Attach, conn net.Conn) *plug {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done || int(a.Index) >= l.job.Streams || l.streams[a] != nil {
		return nil
	}
	p := &plug{conn: conn, unused: make(chan struct{})}
	l.streams[a] = p
	return p
}

// other is the far stream that belongs to a near one, nil if there is none.
func (l *leg) other(a message.Attach) *plug {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.Side = message.Far
	return l.streams[a]
}

// carry serves a stream that is to carry payload.
func (r *Responder) carry(ctx context.Context, st net.Conn, who policy.Who, a message.Attach) error {
	l := r.leg(who, a)
	var p *plug
	if l != nil {
		p = l.attach(a, st)
	}
	if p == nil {
		return r.refuse(st, who, policy.Refusal{Code: policy.BadRequest})
	}
	defer close(p.unused)
	if err := message.Write(st, message.Attached{}); err != nil {
		return err
	}
	select {
	case <-l.started:
	case <-l.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	// From here on the run's end bounds every wait.
	if l.ended() {
		return nil
	}
	_ = st.SetDeadline(time.Time{})
	if l.ended() || ctx.Err() != nil {
		_ = st.SetDeadline(time.Now())
	}
	switch {
	case a.Side == message.Far:
		l.lend(a)
		return nil
	case l.way == message.FromTarget:
		return l.send(st, a.Index)
	case l.way == message.ToTarget:
		return l.receive(st)
	}
	return l.splice(st, a)
}

// leg is the run that a stream is for, nil if that may not be. A far stream comes
// from whoever was told the token.
func (r *Responder) leg(who policy.Who, a message.Attach) *leg {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.job
	if j == nil || j.token != a.Token || int(a.Run) >= len(j.legs) || isClosed(j.over) {
		return nil
	}
	if a.Side == message.Near && j.who != who {
		return nil
	}
	return j.legs[a.Run]
}

// take asks for leave to move n bytes, and waits for their time. It returns how
// many may be moved, 0 when the run is over.
func (l *leg) take(n int) int {
	if l.ended() {
		return 0
	}
	r := l.job.responder
	r.mu.Lock()
	granted, wait, why := r.gate.Take(r.now(), l.job.Test, n)
	r.mu.Unlock()
	if why != policy.Going {
		l.finish(why)
		return 0
	}
	l.moved.Add(int64(granted))
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-l.stopped:
			return 0
		}
	}
	return granted
}
