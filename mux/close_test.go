package mux

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// soon is far more than anything takes that must return at once, and far less
// than a close may go on behind it.
const soon = 3 * time.Second

// pairs are the ways to be connected that a test goes through.
var pairs = map[string]func(testing.TB) (net.Conn, net.Conn){
	"tcp":  func(t testing.TB) (net.Conn, net.Conn) { return loopback(t) },
	"unix": unixPair,
	"tls":  tlsPair,
	"pipe": func(testing.TB) (net.Conn, net.Conn) { return net.Pipe() },
}

func TestCloseUnblocksAReadAtOnce(t *testing.T) {
	for name, pair := range pairs {
		for mode, opts := range modes {
			t.Run(name+"/"+mode, func(t *testing.T) {
				a, b := pair(t)
				defer b.Close()
				c := Wrap(a, opts...)
				go io.Copy(io.Discard, struct{ io.Reader }{b}) // reads, and never closes
				mustWrite(t, c, wireHead(wireWindow, wireSYN, 1, 0))
				failed := make(chan error, 1)
				go func() {
					_, err := c.Read(make([]byte, 9))
					failed <- err
				}()
				time.Sleep(10 * time.Millisecond)
				within(t, soon, "close", func() { c.Close() })
				within(t, soon, "read", func() {
					if err := <-failed; !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
						t.Errorf("read: %v", err)
					}
				})
			})
		}
	}
}

func TestCloseUnblocksAWriteAtOnce(t *testing.T) {
	for name, pair := range pairs {
		for mode, opts := range modes {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				a, b := pair(t)
				defer b.Close()
				c := Wrap(a, opts...)
				failed := make(chan error, 1)
				go func() {
					frame := wireFrame(0, 1, pattern(64<<10, 1))
					for {
						if _, err := c.Write(frame); err != nil {
							failed <- err
							return
						}
					}
				}()
				time.Sleep(50 * time.Millisecond) // the peer reads nothing: it is stuck
				// TLS waits five seconds for a write that is stuck, bare too.
				within(t, soon+5*time.Second, "close", func() { c.Close() })
				within(t, soon, "write", func() { <-failed })
			})
		}
	}
}

var modes = map[string][]Option{"sync": nil, "async": {WithAsyncWrites()}}

func TestReadAfterCloseIsNotHeldUpByTheLinger(t *testing.T) {
	// The host was not in Read when it closed, and comes back.
	a, _ := loopback(t) // whose other end is silent
	c := Wrap(a)
	mustWrite(t, c, wireHead(wireWindow, wireSYN, 1, 0))
	within(t, soon, "close", func() { c.Close() })
	time.Sleep(20 * time.Millisecond)
	within(t, soon, "read", func() {
		if _, err := c.Read(make([]byte, 9)); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

// A write that comes while Close lets the queue leave is refused, and that is no
// reason to end with a reset.
func TestWriteThatMeetsCloseBreaksNothing(t *testing.T) {
	a, b := loopback(t)
	c := Wrap(a, WithAsyncWrites())
	sent := wireFrame(0, 1, pattern(100_000, 1))
	mustWrite(t, c, sent)
	c.async.drain() // as Close begins
	if n, err := c.Write(wireFrame(0, 1, pattern(100, 2))); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Fatalf("%d, %v", n, err)
	}
	mustWrite(t, b, pattern(1000, 3)) // which we do not read
	within(t, soon, "close", func() { c.Close() })
	if all, err := io.ReadAll(b); err != nil || len(all) < len(sent) {
		t.Errorf("the peer has %d bytes of %d, %v", len(all), len(sent), err)
	}
}

func TestCloseTwiceGivesTheSameResult(t *testing.T) {
	c := Wrap(&failingClose{fake: newFake()})
	for range 3 {
		if err := c.Close(); !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
	}
}

type failingClose struct{ *fake }

func (f *failingClose) Close() error { f.fake.Close(); return errBroken }

func TestCloseLosesNothingThoughThePeerIsStillTalking(t *testing.T) {
	// The kernel resets a socket closed with bytes unread, or that come later.
	want := pattern(1<<20, 1) // more than the peer's socket takes before it reads
	for range 10 {
		a, b := loopback(t)
		c := Wrap(a, WithoutCookies())
		mustWrite(t, b, wireHead(wireWindow, 0, 1, 1))
		mustWrite(t, c, wireFrame(wireFIN, 1, want))
		c.Close()
		mustWrite(t, b, wireHead(wireWindow, 0, 1, 1))
		b.SetReadDeadline(time.Now().Add(10 * time.Second))
		wire, err := io.ReadAll(struct{ io.Reader }{b})
		if err != nil {
			t.Fatalf("after %d bytes: %v", len(wire), err)
		}
		if err := checkWire(wireFrame(wireFIN, 1, want), wire, defaultSDU, false); err != nil {
			t.Fatal(err)
		}
		b.Close()
	}
}

func TestCloseDropsAHeaderThatHasNoBodyYet(t *testing.T) {
	c, f := wrapFake(t)
	mustWrite(t, c, wireHead(wireData, 0, 1, 5))
	c.Close()
	if len(f.wire()) != 0 {
		t.Errorf("%x was written", f.wire())
	}
}

func TestCloseFlushesTheQueue(t *testing.T) {
	var host []byte
	a, b := loopback(t)
	c := Wrap(a, WithAsyncWrites())
	got := make(chan []byte, 1)
	go func() {
		w, _ := io.ReadAll(struct{ io.Reader }{b})
		b.Close()
		got <- w
	}()
	for i := range uint32(40) {
		frame := wireFrame(0, i, pattern(6000, i))
		host = append(host, frame...)
		mustWrite(t, c, frame)
	}
	c.Close()
	within(t, soon, "the peer sees the end", func() {
		if err := checkWire(host, <-got, defaultSDU, true); err != nil {
			t.Error(err)
		}
	})
}

// slowClose is a conn whose Close takes its time, and unblocks nothing before.
type slowClose struct {
	*fake
	d      time.Duration
	closes atomic.Int32
}

func (s *slowClose) Close() error {
	s.closes.Add(1)
	time.Sleep(s.d)
	return s.fake.Close()
}

func TestReadReturnsBeforeASlowCloseDoes(t *testing.T) {
	s := &slowClose{fake: newFake(), d: 500 * time.Millisecond}
	c := Wrap(s)
	read := make(chan time.Time, 1)
	go func() {
		c.Read(make([]byte, 9))
		read <- time.Now()
	}()
	time.Sleep(10 * time.Millisecond)
	c.Close()
	closed := time.Now()
	// Bare, the read would be held up as long as the conn's own Close.
	if at := <-read; closed.Sub(at) < 100*time.Millisecond {
		t.Errorf("read returned %v before close", closed.Sub(at))
	}
	if n := s.closes.Load(); n != 1 {
		t.Errorf("inner conn closed %d times", n)
	}
}

func TestCloseEndsThePeersRead(t *testing.T) {
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			defer b.Close()
			c := Wrap(a)
			go func() {
				c.Write(wireHead(wireWindow, wireSYN, 1, 0))
				c.Close()
			}()
			within(t, soon, "the peer's read", func() {
				got, err := io.ReadAll(struct{ io.Reader }{b})
				if err != nil || !bytes.HasSuffix(got, wireHead(wireWindow, wireSYN, 1, 0)) {
					t.Errorf("%x, %v", got, err)
				}
			})
		})
	}
}

func TestDeadlinesSetAfterCloseDoNotProlongIt(t *testing.T) {
	a, b := loopback(t)
	c := Wrap(a)
	mustWrite(t, c, wireHead(wireWindow, wireSYN, 1, 0))
	c.Close()
	c.SetReadDeadline(time.Time{})
	c.deadlines.mu.Lock()
	ended := c.deadlines.ended
	c.deadlines.mu.Unlock()
	if !ended {
		t.Error("the read deadline is still the host's")
	}
	b.Close() // lets the linger end
}

func TestDeadlinesPassToTheConn(t *testing.T) {
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			defer b.Close()
			c := Wrap(a, WithoutCookies())
			defer c.Close()
			past := time.Now().Add(-time.Second)
			if err := c.SetReadDeadline(past); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(make([]byte, 9)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read: %v", err)
			}
			if err := c.SetDeadline(past); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write(wireHead(wirePing, wireSYN, 0, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("write: %v", err)
			}
			if name == "tls" {
				return // whose write timeouts last
			}
			c.SetDeadline(time.Time{})
			go c.Write(wireHead(wirePing, wireSYN, 0, 2))
			if got := mustRead(t, b, 12); !bytes.Equal(got, wireHead(wirePing, wireSYN, 0, 2)) {
				t.Errorf("%x", got)
			}
		})
	}
}

// deaf is a socket without read deadlines.
type deaf struct{ *net.TCPConn }

func (deaf) SetReadDeadline(time.Time) error { return errors.ErrUnsupported }

func TestCloseOfAConnWithoutDeadlinesUnblocksARead(t *testing.T) {
	a, _ := loopback(t)
	c := Wrap(deaf{a})
	mustWrite(t, c, wirePong(1))
	read := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 9))
		read <- err
	}()
	eventually(t, "a read waits", func() bool { return c.meter.reading.Load() })
	c.Close()
	within(t, soon, "the read", func() {
		if err := <-read; err == nil {
			t.Error("it read something")
		}
	})
}
