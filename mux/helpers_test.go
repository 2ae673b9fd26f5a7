package mux

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/cookie"
)

// The wire, written down a second time, so that a slip in the codec shows.
const (
	wireData, wireWindow, wirePing, wireGoAway = 0, 1, 2, 3
	wireSYN, wireACK, wireFIN, wireRST         = 1, 2, 4, 8
)

// wireHead is a frame header.
func wireHead(kind byte, flags uint16, stream, length uint32) []byte {
	b := make([]byte, 12)
	b[1] = kind
	binary.BigEndian.PutUint16(b[2:], flags)
	binary.BigEndian.PutUint32(b[4:], stream)
	binary.BigEndian.PutUint32(b[8:], length)
	return b
}

// wireFrame is a whole Data frame.
func wireFrame(flags uint16, stream uint32, body []byte) []byte {
	return append(wireHead(wireData, flags, stream, uint32(len(body))), body...)
}

func wirePong(v uint32) []byte { return wireHead(wirePing, wireACK, 0, v) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// parsed is one frame on the wire; body is cut short where the bytes end.
type parsed struct {
	head   []byte
	kind   byte
	flags  uint16
	stream uint32
	length uint32
	body   []byte
}

func (p parsed) bytes() []byte { return join(p.head, p.body) }

// isCookie says whether the frame is what a cookie has to look like.
func (p parsed) isCookie() bool {
	return p.kind == wirePing && p.flags == wireSYN && p.stream == 0 && p.length>>31 == 1
}

// parseWire splits bytes into frames, and what follows the last that it knows:
// part of a header, or all from an unknown one on.
func parseWire(b []byte) (frames []parsed, rest []byte) {
	for len(b) >= 12 && b[0] == 0 && b[1] <= wireGoAway {
		f := parsed{
			head: b[:12], kind: b[1],
			flags:  binary.BigEndian.Uint16(b[2:]),
			stream: binary.BigEndian.Uint32(b[4:]),
			length: binary.BigEndian.Uint32(b[8:]),
		}
		b = b[12:]
		if f.kind == wireData {
			n := min(int64(f.length), int64(len(b)))
			f.body, b = b[:n], b[n:]
		}
		frames = append(frames, f)
	}
	return frames, b
}

// fake is the inner conn of a test: it reads what the test feeds and keeps what
// is written. Its zero value is not usable.
type fake struct {
	mu      sync.Mutex
	change  sync.Cond
	in      [][]byte // one a Read
	end     error    // after them
	writes  [][]byte
	onWrite func(p []byte) (int, error) // instead of keeping p whole
	closed  bool
	until   time.Time // the read deadline
}

func newFake() *fake {
	f := &fake{}
	f.change.L = &f.mu
	return f
}

// feed queues one chunk for Read.
func (f *fake) feed(parts ...[]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.in = append(f.in, join(parts...))
	f.change.Broadcast()
}

func (f *fake) finish(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end = err
	f.change.Broadcast()
}

func (f *fake) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.closed:
			return 0, net.ErrClosed
		case !f.until.IsZero() && !time.Now().Before(f.until):
			return 0, os.ErrDeadlineExceeded
		case len(f.in) > 0:
			n := copy(p, f.in[0])
			if f.in[0] = f.in[0][n:]; len(f.in[0]) == 0 {
				f.in = f.in[1:]
			}
			return n, nil
		case f.end != nil:
			return 0, f.end
		}
		f.change.Wait()
	}
}

func (f *fake) Write(p []byte) (int, error) {
	f.mu.Lock()
	on, closed := f.onWrite, f.closed
	f.mu.Unlock()
	n, err := len(p), error(nil)
	switch {
	case closed:
		return 0, net.ErrClosed
	case on != nil:
		n, err = on(p)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = append(f.writes, bytes.Clone(p[:n]))
	f.change.Broadcast()
	return n, err
}

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.change.Broadcast()
	return nil
}

func (f *fake) setOnWrite(on func(p []byte) (int, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onWrite = on
}

// wire is all that was written.
func (f *fake) wire() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.Join(f.writes, nil)
}

// written is the number of writes.
func (f *fake) written() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.writes)
}

// cookies are the values of the cookies written.
func (f *fake) cookies() (values []uint32) {
	frames, _ := parseWire(f.wire())
	for _, p := range frames {
		if p.isCookie() {
			values = append(values, p.length)
		}
	}
	return values
}

func (f *fake) SetReadDeadline(t time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = t
	if !t.IsZero() {
		time.AfterFunc(time.Until(t), func() { // not between a look at the clock and the wait
			f.mu.Lock()
			defer f.mu.Unlock()
			f.change.Broadcast()
		})
	}
	f.change.Broadcast()
	return nil
}

func (f *fake) SetWriteDeadline(time.Time) error { return nil }
func (f *fake) SetDeadline(t time.Time) error    { return f.SetReadDeadline(t) }
func (f *fake) LocalAddr() net.Addr              { return &net.TCPAddr{Port: 1} }
func (f *fake) RemoteAddr() net.Addr             { return &net.TCPAddr{Port: 2} }

// wrapFake wraps a fake conn that is closed with the test.
func wrapFake(t testing.TB, opts ...Option) (*Conn, *fake) {
	t.Helper()
	f := newFake()
	c := Wrap(f, opts...)
	t.Cleanup(func() { c.Close() })
	return c, f
}

// eager makes a cookie due on every frame.
func eager() Option { return WithCookieInterval(0) }

// mustWrite writes all of p in one call.
func mustWrite(t testing.TB, w io.Writer, p []byte) {
	t.Helper()
	if n, err := w.Write(p); n != len(p) || err != nil {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(p), err)
	}
}

// mustRead reads exactly n bytes.
func mustRead(t testing.TB, r io.Reader, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if got, err := io.ReadFull(r, b); err != nil {
		t.Fatalf("read %d of %d bytes: %v", got, n, err)
	}
	return b
}

// within fails the test if f is not done soon. It is for what must not hang,
// so d is far more than f takes on a busy machine.
func within(t testing.TB, d time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("%s: not done after %v", what, d)
	}
}

// eventually waits for a condition that another goroutine brings about.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// pattern is n bytes that repeat nowhere near.
func pattern(n int, seed uint32) []byte {
	b := make([]byte, n)
	x := seed*2654435761 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

// loopback is a TCP connection, both ends closed with the test.
func loopback(t testing.TB) (*net.TCPConn, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		s, err := l.Accept()
		if err != nil {
			s = nil
		}
		accepted <- s
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := <-accepted
	if s == nil {
		t.Fatal("nothing was accepted")
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

// journal is a log that a test can look at.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// config is yamux's, with a log of the test's and no keepalive.
func config(log io.Writer) *Config {
	cfg := DefaultConfig()
	cfg.LogOutput = log
	cfg.EnableKeepAlive = false
	return cfg
}

// against is a wrapped client and a bare server on two ends of a connection,
// and a stream each way of it. Both are closed with the test.
type against struct {
	client      *Session
	server      *yamux.Session
	near, far   *Stream
	log, barLog *journal
}

func oneSided(t testing.TB, a, b net.Conn, opts ...Option) *against {
	t.Helper()
	g := &against{log: &journal{}, barLog: &journal{}}
	var err error
	if g.client, err = Client(a, config(g.log), opts...); err != nil {
		t.Fatal(err)
	}
	if g.server, err = yamux.Server(b, config(g.barLog)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.client.Close(); g.server.Close() })
	g.near, g.far = g.stream(t)
	return g
}

// stream opens a stream from the wrapped end, with one byte to open it.
func (g *against) stream(t testing.TB) (near, far *Stream) {
	t.Helper()
	near, err := g.client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	if far, err = g.server.AcceptStream(); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, near, []byte("?"))
	mustRead(t, far, 1)
	return near, far
}

// marked says whether v could be one of our cookies.
func marked(v uint32) bool { return cookie.Value(v)&cookie.Marker != 0 }
