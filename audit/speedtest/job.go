package speedtest

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
)

// job is a test that was granted, at the target.
type job struct {
	policy.Grant
	responder *Responder
	who       policy.Who
	token     message.Token
	legs      []*leg
	out       chan message.Message // to be written on the control stream
	over      chan struct{}        // closed when the control stream ends
}

// checkEvery is how often the bounds are looked at that nothing else would:
// those of a test in which nothing moves. Shorter stops sooner.
const checkEvery = 200 * time.Millisecond

// control grants a test, or refuses it, and serves its control stream.
func (r *Responder) control(ctx context.Context, st net.Conn, who policy.Who, m message.Propose) error {
	j, err := r.grant(who, m)
	if f, ok := errors.AsType[*policy.Refusal](err); ok {
		return r.refuse(st, who, *f)
	}
	if err != nil {
		return err
	}
	r.cfg.Event(Event{Kind: Granted, Who: who, Bytes: j.Bytes})
	var wg sync.WaitGroup
	wg.Go(func() { j.write(st) })
	wg.Go(func() { j.watch(st) })
	// Reading ends by the peer, or by a deadline that watch sets.
	_ = st.SetReadDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { _ = st.SetDeadline(time.Now()) })
	defer stop()
	j.say(message.Grant{
		Token: j.token, Runs: uint8(j.Runs), Streams: uint16(j.Streams), Length: j.Length, Bytes: j.Bytes, Rate: j.Rate,
	})
	err = j.read(st)
	close(j.over)
	for _, l := range j.legs {
		l.finish(policy.Withdrawn)
	}
	r.mu.Lock()
	r.gate.End(j.Test)
	r.mu.Unlock()
	wg.Wait()
	return err
}

// say queues a message for the tester. What a tester does not read is dropped.
func (j *job) say(m message.Message) {
	select {
	case j.out <- m:
	default:
	}
}

// write writes what was queued, alone, until the test is over.
func (j *job) write(st net.Conn) {
	for {
		select {
		case <-j.over:
			return
		case m := <-j.out:
			_ = st.SetWriteDeadline(time.Now().Add(patience))
			if message.Write(st, m) != nil {
				_ = st.SetReadDeadline(time.Now())
				return
			}
		}
	}
}

// read serves the control stream until it ends, or has no more right to its
// place.
func (j *job) read(st net.Conn) error {
	for {
		m, err := message.Read(st)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case message.Ping:
			j.say(message.Pong(m))
		case message.Start:
			if !j.start(m) {
				return errUnexpected
			}
		case message.Stop:
			for _, l := range j.legs {
				if l.begun() {
					l.finish(policy.Stopped)
				}
			}
		default:
			return errUnexpected
		}
	}
}

// start begins a run; false if it is not to begin now.
func (j *job) start(m message.Start) bool {
	if int(m.Run) >= len(j.legs) {
		return false
	}
	r := j.responder
	r.mu.Lock()
	ok := r.gate.Begin(r.now(), j.Test)
	r.mu.Unlock()
	if ok {
		ok = j.legs[m.Run].begin(m.Way, m.Key)
	}
	if ok {
		j.legs[m.Run].expect()
		r.cfg.Event(Event{Kind: RunBegan, Who: j.who, Way: m.Way})
	}
	return ok
}

// watch keeps the bounds of time.
func (j *job) watch(st net.Conn) {
	t := time.NewTicker(checkEvery)
	defer t.Stop()
	r := j.responder
	for {
		select {
		case <-j.over:
			return
		case <-t.C:
		}
		var sent int64
		if r.cfg.Ordinary != nil {
			sent = r.cfg.Ordinary()
		}
		r.mu.Lock()
		now := r.now()
		if r.cfg.Ordinary != nil {
			r.gate.Ordinary(now, sent)
		}
		why, alive := r.gate.Check(now, j.Test), r.gate.Alive(now, j.Test)
		r.mu.Unlock()
		if l := j.running(); l != nil {
			l.expect()
			if why != policy.Going {
				l.finish(why)
			}
		}
		if !alive {
			_ = st.SetReadDeadline(time.Now())
			return
		}
	}
}

// running is the run under way, nil if none.
func (j *job) running() *leg {
	for _, l := range j.legs {
		if l.begun() && !l.ended() {
			return l
		}
	}
	return nil
}
