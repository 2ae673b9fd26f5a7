package mux

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
)

func unixPair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		s, _ := l.Accept()
		accepted <- s
	}()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := <-accepted
	t.Cleanup(func() { c.Close(); s.Close() })
	return c, s
}

var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})

func tlsPair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	cert, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	a, b := loopback(t)
	c := tls.Client(a, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test's own peer
	s := tls.Server(b, &tls.Config{Certificates: []tls.Certificate{cert}})
	shaken := make(chan error, 1)
	go func() { shaken <- s.Handshake() }()
	if err := errors.Join(c.Handshake(), <-shaken); err != nil {
		t.Fatal(err)
	}
	return c, s
}

// transfer sends bytes both ways over a stream of its own and compares them.
func transfer(t testing.TB, near, far *Stream, n int) {
	t.Helper()
	up, down := pattern(n, 1), pattern(n, 2)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { mustWriteAll(t, near, up) })
	wg.Go(func() { mustWriteAll(t, far, down) })
	wg.Go(func() { mustEqualRead(t, "up", far, up) })
	mustEqualRead(t, "down", near, down)
}

func mustWriteAll(t testing.TB, w io.Writer, p []byte) {
	if n, err := w.Write(p); n != len(p) || err != nil {
		t.Errorf("wrote %d of %d: %v", n, len(p), err)
	}
}

func mustEqualRead(t testing.TB, what string, r io.Reader, want []byte) {
	got := make([]byte, len(want))
	if n, err := io.ReadFull(r, got); err != nil {
		t.Errorf("%s: read %d of %d: %v", what, n, len(want), err)
	} else if !bytes.Equal(got, want) {
		t.Errorf("%s: bytes differ", what)
	}
}

func TestEveryKindOfConn(t *testing.T) {
	for name, pair := range pairs {
		for mode, opts := range modes {
			t.Run(name+"/"+mode, func(t *testing.T) {
				a, b := pair(t)
				g := oneSided(t, a, b, append(opts, eager())...)
				within(t, 20*time.Second, "transfer", func() { transfer(t, g.near, g.far, 1<<20) })
				eventually(t, "an echo", func() bool { return g.client.Meter().Snapshot().Cookies.Echoed > 0 })
				if s := g.client.Meter().Snapshot(); s.Cookies.Forged+s.Cookies.Replayed > 0 {
					t.Errorf("cookies: %+v", s.Cookies)
				}
				if _, err := g.client.Ping(); err != nil {
					t.Errorf("yamux's own ping: %v", err)
				}
				if s := g.log.String() + g.barLog.String(); s != "" {
					t.Errorf("logged: %s", s)
				}
			})
		}
	}
}

// duplex is two io.Pipes: no addresses and no deadlines.
type duplex struct {
	*io.PipeReader
	*io.PipeWriter
}

func (d duplex) Close() error { return errors.Join(d.PipeReader.Close(), d.PipeWriter.Close()) }

func duplexPair() (a, b duplex) {
	ar, bw := io.Pipe()
	br, aw := io.Pipe()
	return duplex{ar, aw}, duplex{br, bw}
}

func TestConnsWithoutAddressesAndDeadlines(t *testing.T) {
	a, b := duplexPair()
	client, err := Client(a, config(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	server, err := Server(b, config(io.Discard), WithAsyncWrites())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	// The pairs that yamux prints of a conn without addresses.
	if l, r := client.LocalAddr().String(), client.RemoteAddr().String(); l != "yamux:local" || r != "yamux:remote" {
		t.Errorf("addresses are %q and %q", l, r)
	}
	if client.Conn().LocalAddr() != nil || client.Conn().RemoteAddr() != nil {
		t.Error("the conn has made up an address")
	}
	far := make(chan *Stream, 1)
	go func() {
		s, err := server.AcceptStream()
		if err != nil {
			t.Error(err)
		}
		far <- s
	}()
	near, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	within(t, 20*time.Second, "transfer", func() { transfer(t, near, <-far, 1<<20) })
	for _, set := range []func(time.Time) error{
		client.Conn().SetDeadline, client.Conn().SetReadDeadline, client.Conn().SetWriteDeadline,
	} {
		if err := set(time.Now()); !errors.Is(err, os.ErrNoDeadline) {
			t.Errorf("deadline: %v", err)
		}
	}
	within(t, soon, "close", func() { client.Close() })
}

func TestNetConnIsTheConnInside(t *testing.T) {
	a, _ := loopback(t)
	c := Wrap(a)
	defer c.Close()
	if c.NetConn() != net.Conn(a) {
		t.Error("NetConn is not the conn that was wrapped")
	}
	if c.LocalAddr() != a.LocalAddr() || c.RemoteAddr() != a.RemoteAddr() {
		t.Error("addresses differ")
	}
	if tcp(c) != a {
		t.Error("the TCP connection is not found through NetConn")
	}
}

// Others wrap a TCP connection by embedding it, as go-multiaddr does, and show
// no NetConn.
func TestEmbeddedSocketIsFound(t *testing.T) {
	a, _ := loopback(t)
	c := Wrap(struct{ *net.TCPConn }{a})
	defer c.Close()
	if tcp(c) == nil {
		t.Error("a TCP connection is not found where it is embedded")
	}
	if pipe, _ := net.Pipe(); tcp(struct{ net.Conn }{pipe}) != nil {
		t.Error("a pipe passes for a TCP connection")
	}
}

// A socket that is none of TCP's answers TCP_INFO with an error or nonsense.
func TestOtherSocketIsNoTCP(t *testing.T) {
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	c, err := net.Dial("udp", u.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if tcp(c) != nil {
		t.Error("a UDP socket passes for TCP")
	}
}

func TestWaysAroundTheMeasuringAreOutOfReach(t *testing.T) {
	a, _ := loopback(t)
	c := Wrap(a)
	defer c.Close()
	var conn any = c
	if _, ok := conn.(io.ReaderFrom); ok {
		t.Error("a Conn is an io.ReaderFrom")
	}
	if _, ok := conn.(io.WriterTo); ok {
		t.Error("a Conn is an io.WriterTo")
	}
	if _, ok := conn.(interface{ SyscallConn() }); ok {
		t.Error("a Conn hands out its file descriptor")
	}
	if _, ok := conn.(interface{ CloseWrite() error }); ok {
		t.Error("a Conn can be half closed past the frame that is being written")
	}
}

func TestCopyToAConnGoesThroughTheShim(t *testing.T) {
	a, b := loopback(t)
	c := Wrap(a, WithSDU(minSDU), eager())
	host := wireFrame(0, 1, pattern(50_000, 1))
	go func() {
		io.Copy(c, bytes.NewReader(host))
		c.Close()
	}()
	wire, err := io.ReadAll(struct{ io.Reader }{b})
	b.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := checkWire(host, wire, minSDU, true); err != nil {
		t.Error(err)
	}
	if c.Meter().Snapshot().Cookies.Issued == 0 {
		t.Error("no cookie: the copy went past the shim")
	}
}

func TestSessionRefusesABadConfigAndLeavesNothingBehind(t *testing.T) {
	cfg := DefaultConfig()
	cfg.AcceptBacklog = 0
	for _, open := range []func(io.ReadWriteCloser, *Config, ...Option) (*Session, error){Client, Server} {
		f := newFake()
		if s, err := open(f, cfg, WithAsyncWrites()); s != nil || err == nil {
			t.Fatalf("%v, %v", s, err)
		}
		if f.closed {
			t.Error("the caller's conn was closed")
		}
	}
}

func TestTapStandsBetweenShimAndSession(t *testing.T) {
	var tapped net.Conn
	a, b := loopback(t)
	g := oneSided(t, a, b, WithTap(func(c net.Conn) net.Conn { tapped = c; return c }))
	if tapped != net.Conn(g.client.Conn()) {
		t.Error("the tap was not given the shim's conn")
	}
}

func TestBothEndsWrapped(t *testing.T) {
	a, b := loopback(t)
	client, err := Client(a, config(io.Discard), eager())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := Server(b, config(io.Discard), eager())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	near, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	far, err := server.AcceptStream()
	if err != nil {
		t.Fatal(err)
	}
	transfer(t, near, far, 4<<20)
	for name, s := range map[string]*Session{"client": client, "server": server} {
		eventually(t, name+" has an echo", func() bool { return s.Meter().Snapshot().Cookies.Echoed > 0 })
	}
}

var _ yamux.Logger = (Logger)(nil)
