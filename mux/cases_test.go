package mux

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
)

// Reports of yamux sessions that hang, lose bytes or fail oddly, each run on a
// bare session and on wrapped ones: the wrapped must end no worse.

// ends are the ways in which the client's end may be had.
var ends = map[string]func(t testing.TB, conn net.Conn, cfg *Config) anySession{
	"bare": func(t testing.TB, conn net.Conn, cfg *Config) anySession {
		return must(yamux.Client(conn, cfg))(t)
	},
	"wrapped": func(t testing.TB, conn net.Conn, cfg *Config) anySession {
		return must(Client(conn, cfg, eager()))(t)
	},
	"async": func(t testing.TB, conn net.Conn, cfg *Config) anySession {
		return must(Client(conn, cfg, WithAsyncWrites()))(t)
	},
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// hole is a conn whose writes, once it is shut, go nowhere and never return.
type hole struct {
	net.Conn
	shut   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newHole(conn net.Conn) *hole {
	return &hole{Conn: conn, shut: make(chan struct{}), closed: make(chan struct{})}
}

func (h *hole) Write(p []byte) (int, error) {
	select {
	case <-h.shut:
		<-h.closed
		return 0, net.ErrClosed
	default:
		return h.Conn.Write(p)
	}
}

func (h *hole) Close() error {
	h.once.Do(func() { close(h.closed) })
	return h.Conn.Close()
}

// streamPair opens a stream and accepts it.
func streamPair(t testing.TB, client, server anySession) (near, far *yamux.Stream) {
	t.Helper()
	near = must(client.OpenStream())(t)
	return near, must(server.AcceptStream())(t)
}

func TestCaseReversePathBlackHoled(t *testing.T) {
	// hashicorp/yamux issue 142: what we write vanishes. The write times out,
	// and Close does not hang.
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := loopback(t)
			h := newHole(a)
			cfg := config(io.Discard)
			cfg.ConnectionWriteTimeout = 300 * time.Millisecond
			client := end(t, h, cfg)
			wide := config(io.Discard)
			wide.MaxStreamWindowSize = 16 << 20 // more than the queue takes
			server := must(yamux.Server(b, wide))(t)
			defer server.Close()
			near, _ := streamPair(t, client, server)
			close(h.shut)
			within(t, 10*time.Second, "the write", func() {
				var err error
				for range 100 { // an asynchronous writer takes some at first
					if _, err = near.Write(pattern(100_000, 1)); err != nil {
						break
					}
				}
				if !errors.Is(err, ErrConnectionWriteTimeout) {
					t.Errorf("got %v", err)
				}
			})
			within(t, soon, "close", func() { client.Close() })
		})
	}
}

func TestCaseDeadPeerIsFoundByKeepalive(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := loopback(t) // nobody answers
			cfg := config(io.Discard)
			cfg.EnableKeepAlive = true
			cfg.KeepAliveInterval = 50 * time.Millisecond
			cfg.ConnectionWriteTimeout = 200 * time.Millisecond
			client := end(t, a, cfg)
			stream := must(client.OpenStream())(t)
			within(t, soon, "the read", func() {
				if _, err := stream.Read(make([]byte, 1)); err == nil {
					t.Error("no error")
				}
			})
			within(t, soon, "close", func() { client.Close() })
		})
	}
}

func TestCaseFourMegabytesQueuedUpload(t *testing.T) {
	// Issue 38 and 39: a slow upload must not look like a dead peer, and all
	// of it arrives.
	want := pattern(4<<20, 1)
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := loopback(t)
			client := end(t, a, config(io.Discard))
			server := must(yamux.Server(&slow{b}, config(io.Discard)))(t)
			defer server.Close()
			near, far := streamPair(t, client, server)
			go func() {
				near.Write(want)
				near.Close()
			}()
			within(t, 30*time.Second, "the upload", func() {
				if got, err := io.ReadAll(far); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
			within(t, soon, "close", func() { client.Close() })
		})
	}
}

// slow is a conn that reads 16 KiB a millisecond at most.
type slow struct{ net.Conn }

func (s *slow) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return s.Conn.Read(p[:min(len(p), 16<<10)])
}

func TestCaseCloseOfAConnThatIsSlow(t *testing.T) {
	// Issue 149: Session.Close hung on a conn whose Close did not unblock Read.
	const d = 300 * time.Millisecond
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := loopback(t)
			client := end(t, &tardy{a, d}, config(io.Discard))
			server := must(yamux.Server(b, config(io.Discard)))(t)
			defer server.Close()
			streamPair(t, client, server)
			within(t, d+soon, "close", func() { client.Close() })
		})
	}
}

type tardy struct {
	net.Conn
	d time.Duration
}

func (c *tardy) Close() error {
	time.Sleep(c.d)
	return c.Conn.Close()
}

func TestCaseConnCutInMidWrite(t *testing.T) {
	// Issue 45: all that wait return, with an error.
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := loopback(t)
			client := end(t, a, config(io.Discard))
			server := must(yamux.Server(b, config(io.Discard)))(t)
			defer server.Close()
			var wg sync.WaitGroup
			for range 4 {
				near, _ := streamPair(t, client, server)
				wg.Go(func() {
					if _, err := near.Write(pattern(8<<20, 1)); err == nil {
						t.Error("8 MB were written, which nobody read")
					}
				})
				wg.Go(func() {
					if _, err := near.Read(make([]byte, 1)); err == nil {
						t.Error("a read came back without an error")
					}
				})
			}
			time.Sleep(20 * time.Millisecond)
			b.SetLinger(0) // cut, not ended
			b.Close()
			within(t, 10*time.Second, "all writes and reads", wg.Wait)
			within(t, soon, "close", func() { client.Close() })
			if _, err := client.OpenStream(); !errors.Is(err, ErrSessionShutdown) {
				t.Errorf("open: %v", err)
			}
		})
	}
}

// metered counts what is read.
type metered struct {
	net.Conn
	read atomic.Int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	m.read.Add(int64(n))
	return n, err
}

// closeRightAfterWrite sends body, ends stream and session at once, and says
// whether all of it reached the peer. The stream is accepted before: in AcceptStream
// a session's end may come before a stream that waits there. A peer whose yamux had
// all and closed, before its reader had taken it and given the credit back, fails by
// itself.
func closeRightAfterWrite(t *testing.T, end func(testing.TB, net.Conn, *Config) anySession, body []byte) bool {
	a, b := loopback(t)
	defer b.Close()
	client := end(t, a, config(io.Discard))
	wire := &metered{Conn: b}
	server := must(yamux.Server(wire, config(io.Discard)))(t)
	defer server.Close()
	near, far := streamPair(t, client, server)
	far.SetReadDeadline(time.Now().Add(10 * time.Second))
	before := wire.read.Load()
	got := make(chan bool, 1)
	go func() {
		all, err := io.ReadAll(far)
		got <- len(all) == len(body) || errors.Is(err, net.ErrClosed) && wire.read.Load()-before > int64(len(body))
	}()
	if _, err := near.Write(body); err != nil {
		t.Fatal(err)
	}
	near.Close()
	client.Close()
	return <-got
}

func TestCaseCloseRightAfterWrite(t *testing.T) {
	// Issue 86. Bare, some runs lose the stream's tail: the peer's window
	// updates meet a closed socket. Wrapped loses none.
	body := pattern(256<<10, 1)
	runs := 300
	if underRace {
		runs = 40
	}
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		lost := 0
		for range runs {
			if !closeRightAfterWrite(t, ends[name], body) {
				lost++
			}
		}
		t.Logf("%s: %d of %d runs lost bytes", name, lost, runs)
		if name != "bare" && lost > 0 {
			t.Errorf("%s: %d of %d runs lost bytes", name, lost, runs)
		}
	}
}

func TestCaseBothEndsClosedAtOnce(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			for range 30 {
				a, b := loopback(t)
				client := end(t, a, config(io.Discard))
				server := must(Server(b, config(io.Discard)))(t)
				near, far := streamPair(t, client, server)
				go near.Write(pattern(100_000, 1))
				go far.Write(pattern(100_000, 1))
				var wg sync.WaitGroup
				wg.Go(func() { client.Close() })
				wg.Go(func() { server.Close() })
				within(t, 10*time.Second, "both", wg.Wait)
			}
		})
	}
}
