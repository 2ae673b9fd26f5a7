package lab_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/internal/lab"
)

// relayTo starts a relay and dials it. All is closed at the end, and no
// goroutine of it may be left.
func relayTo(t *testing.T, target string, link lab.Link) (*lab.Relay, *net.TCPConn) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	r, err := lab.StartRelay(t.Context(), "127.0.0.1:0", target, link)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		r.Close()
		goleak.VerifyNone(t, ignore)
	})
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return r, c.(*net.TCPConn)
}

// target listens and hands each accepted conn to f.
func target(t *testing.T, f func(*net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(20 * time.Second))
				f(c.(*net.TCPConn))
			})
		}
	}()
	t.Cleanup(func() { l.Close(); <-done; wg.Wait() })
	return l.Addr().String()
}

func echo(c *net.TCPConn) { io.Copy(c, c) }

// TestRelayDelays holds the relay to what no noise can undo: nothing arrives
// early, and the best of several round trips is not far off.
func TestRelayDelays(t *testing.T) {
	_, c := relayTo(t, target(t, echo), lab.Link{Rate: 50 * lab.Mbit, OneWay: 20 * time.Millisecond})
	best := time.Hour
	for range 5 {
		start := time.Now()
		c.Write([]byte("x"))
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	t.Logf("best round trip %v", best)
	if best < 40*time.Millisecond || best > 400*time.Millisecond {
		t.Errorf("best round trip %v, want 40 ms and little more", best)
	}
}

// TestRelayRate: the lower bound is exact, the upper one only tells the shaped
// link from a stalled one.
func TestRelayRate(t *testing.T) {
	const n = 2 << 20
	at := target(t, func(c *net.TCPConn) {
		c.Read(make([]byte, 1))
		c.Write(make([]byte, n))
	})
	link := lab.Link{Rate: 50 * lab.Mbit, OneWay: 20 * time.Millisecond}
	_, c := relayTo(t, at, link)
	start := time.Now()
	c.Write([]byte{1})
	if got, err := io.Copy(io.Discard, c); got != n || err != nil {
		t.Fatalf("got %d bytes and %v, want %d", got, err, n)
	}
	took, ideal := time.Since(start), 2*link.OneWay+link.Rate.Time(n)
	t.Logf("took %v, ideal %v", took, ideal)
	if took < ideal || took > 5*ideal {
		t.Errorf("took %v, ideal is %v", took, ideal)
	}
}

// TestRelayCarriesManyAtOnce: both directions of several connections are full at
// once, and every byte comes back to whom it belongs.
func TestRelayCarriesManyAtOnce(t *testing.T) {
	at := target(t, echo)
	r, first := relayTo(t, at, lab.Link{Rate: 200 * lab.Mbit, OneWay: time.Millisecond, SlowStart: true})
	first.Close()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			c, err := net.Dial("tcp", r.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			sent := bytes.Repeat([]byte{'a' + byte(i), 'b', 'c'}, 100_000)
			go func() {
				c.Write(sent)
				c.(*net.TCPConn).CloseWrite()
			}()
			if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, sent) {
				t.Errorf("connection %d: %d bytes came back, %v; or they differ", i, len(got), err)
			}
		})
	}
	wg.Wait()
}

func TestRelayPassesHalfCloseOn(t *testing.T) {
	at := target(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c)
		c.Write(append(all, " and all of it"...))
	})
	_, c := relayTo(t, at, lab.Link{OneWay: time.Millisecond})
	c.Write([]byte("some"))
	c.CloseWrite()
	got, err := io.ReadAll(c)
	if want := "some and all of it"; string(got) != want || err != nil {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
}

// TestRelayWithoutTarget dials a port that nobody listens on any more.
func TestRelayWithoutTarget(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	r, err := lab.StartRelay(t.Context(), "127.0.0.1:0", l.Addr().String(), lab.Link{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := net.Dial("tcp", r.Addr().String())
	if err == nil { // else the reset was faster than the dial
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
}

func TestRelayPassesResetOn(t *testing.T) {
	at := target(t, func(c *net.TCPConn) {
		c.Read(make([]byte, 1))
		c.SetLinger(0)
	})
	_, c := relayTo(t, at, lab.Link{OneWay: time.Millisecond})
	c.Write([]byte("x"))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v, want a reset", err)
	}
}

// TestRelayDeliversBeforeReset: what a peer wrote before it vanished comes
// first, though it waits in the link's queue when the peer goes.
func TestRelayDeliversBeforeReset(t *testing.T) {
	const n = 100e3
	at := target(t, func(c *net.TCPConn) {
		c.Write(make([]byte, n))
		c.Read(make([]byte, 1))
		c.SetLinger(0)
	})
	_, c := relayTo(t, at, lab.Link{Rate: 10 * lab.Mbit, OneWay: time.Millisecond})
	c.Write([]byte("x"))
	got, err := io.Copy(io.Discard, c)
	if got != n || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %d bytes, then %v; want %v, then a reset", got, err, n)
	}
}

// TestRelayToAVanishedReader: the sender learns that its reader is gone.
func TestRelayToAVanishedReader(t *testing.T) {
	at := target(t, func(c *net.TCPConn) {
		c.Read(make([]byte, 1))
		c.SetLinger(0)
	})
	_, c := relayTo(t, at, lab.Link{OneWay: time.Millisecond})
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(time.Millisecond) {
		if _, err := c.Write(make([]byte, 1000)); err != nil {
			return
		}
	}
	t.Error("writes went on for 10 s though nobody reads")
}

func TestRelayCloseCutsConnections(t *testing.T) {
	r, c := relayTo(t, target(t, echo), lab.Link{Rate: lab.Mbit, OneWay: time.Second})
	c.Write(make([]byte, 1<<20))
	done := make(chan error, 1)
	go func() { done <- r.Close() }()
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection outlived the relay: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("close: %v", err)
	}
	if c, err := net.Dial("tcp", r.Addr().String()); err == nil {
		c.Close()
		t.Error("the relay still listens")
	}
	if err := r.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestRelayEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := lab.StartRelay(ctx, "127.0.0.1:0", "127.0.0.1:1", lab.Link{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	r.Close()
	if _, err := net.Dial("tcp", r.Addr().String()); err == nil {
		t.Error("the relay still listens")
	}
}

func TestStartRelayErrors(t *testing.T) {
	if _, err := lab.StartRelay(t.Context(), "127.0.0.1:0", "x", lab.Link{Rate: -1}); !errors.Is(err, lab.ErrBadLink) {
		t.Errorf("bad link: %v, want ErrBadLink", err)
	}
	r, err := lab.StartRelay(t.Context(), "127.0.0.1:0", "x", lab.Link{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := lab.StartRelay(t.Context(), r.Addr().String(), "x", lab.Link{}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("port in use: %v, want EADDRINUSE", err)
	}
}
