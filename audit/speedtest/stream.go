package speedtest

import (
	"context"
	"crypto/rand"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/message"
)

// newKey draws a key.
func newKey() (k keystream.Key) {
	_, _ = rand.Read(k[:]) // it never fails, by its documentation
	return k
}

// add opens so many more streams and waits until all of them are open, so that
// none starts before another. Half of them will do.
func (r *run) add(ctx context.Context, n int) error {
	var opening sync.WaitGroup
	var opened atomic.Int64
	for i := range n {
		a := message.Attach{Token: r.grant.Token, Run: r.index, Index: uint16(r.tried + i)}
		opening.Add(1)
		r.wg.Go(func() { r.lane(ctx, a, &opened, &opening) })
	}
	opening.Wait()
	r.tried += n
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if opened.Load() < int64(n+1)/2 {
		return ErrStreams
	}
	r.streams += int(opened.Load())
	return nil
}

// lane opens a stream, with its far end if there is one, says so, and carries
// payload until the end.
func (r *run) lane(ctx context.Context, a message.Attach, opened *atomic.Int64, opening *sync.WaitGroup) {
	ready := sync.OnceFunc(opening.Done)
	defer ready()
	var far net.Conn
	if r.way.Through() {
		to := a
		to.Side = message.Far
		c, err := attach(r.cfg.Far, to)
		if err != nil {
			return
		}
		far = c
		defer c.Close()
	}
	near, err := attach(r.cfg.Near, a)
	if err != nil {
		return
	}
	defer near.Close()
	// At the end what the target still sends is read, so that it is not in the way of what comes
	// next, and what we write stops at once.
	unhook := context.AfterFunc(ctx, func() { expire(near, far) })
	defer unhook()
	opened.Add(1)
	ready()
	switch r.way {
	case message.FromTarget:
		r.check(near, a.Index)
	case message.ToTarget:
		r.receipted(near, a.Index)
	case message.ThroughIn:
		r.both(near, far, a.Index)
	case message.ThroughOut:
		r.both(far, near, a.Index)
	}
}

// expire ends all waiting on some streams.
func expire(conns ...net.Conn) {
	for _, c := range conns {
		if c != nil {
			_ = c.SetDeadline(time.Now())
		}
	}
}

// attach opens a stream for a run's payload.
func attach(o Opener, a message.Attach) (net.Conn, error) {
	st, err := o.Open()
	if err != nil {
		return nil, err
	}
	_ = st.SetDeadline(time.Now().Add(patience))
	if err = message.Write(st, a); err == nil {
		_, err = message.Expect[message.Attached](st)
	}
	if err != nil {
		st.Close()
		return nil, err
	}
	_ = st.SetDeadline(time.Time{})
	return st, nil
}

// broke notes why a stream failed, once for all.
func (r *run) broke(err error) {
	select {
	case r.fail <- err:
	default:
	}
}

// check reads payload and counts what the key vouches for. Its end is the
// target's, or a deadline.
func (r *run) check(st net.Conn, index uint16) {
	defer r.bound(st)()
	src := keystream.NewSource(r.key, index)
	buf := make([]byte, 4*chunk)
	for {
		n, err := st.Read(buf)
		if n > 0 {
			if forged := src.Check(buf[:n]); forged != nil {
				r.broke(forged)
				return
			}
			r.came(n)
		}
		if err != nil {
			return
		}
	}
}

// bound gives reading a stream an end once the run has one.
func (r *run) bound(st net.Conn) (release func()) {
	done := make(chan struct{})
	r.wg.Go(func() {
		select {
		case <-done:
		case <-r.stop:
			_ = st.SetReadDeadline(time.Now().Add(patience))
		}
	})
	return func() { close(done) }
}

// both writes payload into one of our streams, and checks what comes out of the
// other.
func (r *run) both(out, in net.Conn, index uint16) {
	var wg sync.WaitGroup
	wg.Go(func() { r.write(in, index, nil) })
	r.check(out, index)
	expire(in)
	wg.Wait()
}

// write writes payload until the run is over. marks, if not nil, notes it before.
func (r *run) write(st net.Conn, index uint16, marks *marks) {
	release := make(chan struct{})
	defer close(release)
	r.wg.Go(func() {
		select {
		case <-release:
		case <-r.stop:
			_ = st.SetWriteDeadline(time.Now())
		}
	})
	src := keystream.NewSource(r.key, index)
	buf := make([]byte, chunk)
	for !isClosed(r.stop) {
		src.Fill(buf)
		if marks != nil && !marks.note(buf) {
			r.broke(ErrReceipt)
			return
		}
		if !r.pace.wait(r.now(), len(buf), r.stop) {
			return
		}
		if _, err := st.Write(buf); err != nil {
			return
		}
	}
}

// receipted writes payload and counts what the target proves to have received.
func (r *run) receipted(st net.Conn, index uint16) {
	defer r.bound(st)()
	var m marks
	var wg sync.WaitGroup
	wg.Go(func() { r.write(st, index, &m) })
	defer wg.Wait()
	defer func() { _ = st.SetWriteDeadline(time.Now()) }()
	for {
		c, err := message.Expect[message.Receipt](st)
		if err != nil {
			return
		}
		n, ok := m.settle(c)
		if !ok {
			r.broke(ErrReceipt)
			return
		}
		r.came(n)
	}
}
