package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// TestStalledPeer: one that sends half and then nothing is given up, and what
// came of it is not kept.
func TestStalledPeer(t *testing.T) {
	end := make(chan struct{})
	addr := answering(t, func(_ *yamux.Session, st *yamux.Stream) {
		st.Write(append(wire.AppendData(nil, 1000), make([]byte, 500)...))
		<-end
	})
	p := dial(t, Config{Stall: 100 * time.Millisecond}, addr)
	defer close(end)
	dir := t.TempDir()
	if _, err := p.Download(t.Context(), wire.Offer{Size: 1000}, dir, nil); !errors.Is(err, ErrStalled) {
		t.Errorf("got %v, want ErrStalled", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if n := p.outstanding.Load(); n != 0 {
		t.Errorf("%d bytes are still outstanding", n)
	}
}

// TestSlowReader: a peer that asks and does not read holds nothing of ours for
// longer than the limit.
func TestSlowReader(t *testing.T) {
	addr := serving(t, Config{Store: offering(t, bytes.Repeat(content, 2)), Stall: 50 * time.Millisecond})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	cfg := yamux.DefaultConfig()
	cfg.LogOutput = io.Discard
	s, err := yamux.Client(conn, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	st, err := s.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	st.Write(wire.AppendGet(nil, wire.Get{Hash: sha256.Sum256(bytes.Repeat(content, 2))}))
	time.Sleep(300 * time.Millisecond) // the window is full, and the limit has passed
	st.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, err := io.Copy(io.Discard, st)
	if err != nil || n > 300<<10 {
		t.Errorf("read %d bytes and %v, want the window's and the end", n, err)
	}
}

// TestWriterFails: where the bytes cannot be kept the fetch ends with that error.
func TestWriterFails(t *testing.T) {
	p := dial(t, Config{}, serving(t, Config{Store: offering(t, content)}))
	full := errors.New("disk full")
	_, err := p.Fetch(t.Context(), wire.Offer{Hash: sha256.Sum256(content), Size: int64(len(content))}, 0, failing{full}, nil)
	if !errors.Is(err, full) {
		t.Errorf("got %v, want the writer's", err)
	}
	if _, err := p.List(t.Context()); err != nil {
		t.Errorf("the session goes on, but: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestFileShrinksWhileServed: the peer is not left waiting for what is not there.
func TestFileShrinksWhileServed(t *testing.T) {
	files := offering(t, content)
	f, n, err := files.Read(sha256.Sum256(content), 0)
	if err != nil {
		t.Fatal(err)
	}
	path := f.(*os.File).Name()
	f.Close()
	p := dial(t, Config{}, serving(t, Config{Store: files}))
	cut := func(int) { os.Truncate(path, 10) } // after the first chunk
	_, err = p.Fetch(t.Context(), wire.Offer{Hash: sha256.Sum256(content), Size: n}, 0, io.Discard, cut)
	if err != nil && !errors.Is(err, ErrVanished) {
		t.Errorf("got %v, want ErrVanished or a file that was read before it shrank", err)
	}
	if _, err := p.Fetch(t.Context(), wire.Offer{Hash: sha256.Sum256(content), Size: n}, 0, io.Discard, nil); !errors.Is(err, wire.ErrFailed) {
		t.Errorf("again: %v, want ErrFailed", err)
	}
}

// TestStoreOutOfReach: the output directory cannot be made.
func TestStoreOutOfReach(t *testing.T) {
	p := dial(t, Config{}, serving(t, Config{}))
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if _, err := p.Download(t.Context(), wire.Offer{}, file, nil); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("got %v, want what to do", err)
	}
}

func TestWhyADialFailed(t *testing.T) {
	op := func(err error) error { return &net.OpError{Op: "dial", Err: err} }
	for want, err := range map[string]error{
		"is `demo-node serve` running":  op(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		`no such host "nowhere"`:        op(&net.DNSError{Name: "nowhere"}),
		"an address is HOST:PORT":       op(&net.AddrError{Err: "missing port"}),
		"context canceled":              op(context.Canceled),
		"connect: network is unreachab": op(os.NewSyscallError("connect", syscall.ENETUNREACH)),
		"something else":                errors.New("something else"),
	} {
		if got := why(err).Error(); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// TestSilentTLSClient: a connection that never says anything does not hold up
// the node's end.
func TestSilentTLSClient(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); New(Config{TLS: certificate(t)}).Serve(ctx, l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	time.AfterFunc(50*time.Millisecond, cancel) // by then it waits for the handshake
	select {
	case <-done:
	case <-time.After(handshakeLimit / 2):
		t.Error("the node waits for the handshake")
	}
}

// TestVanished: the ways a session's end shows itself to who is asking.
func TestVanished(t *testing.T) {
	reset := &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.ECONNRESET)}
	slow := &net.OpError{Op: "write", Net: "tcp", Err: os.ErrDeadlineExceeded}
	for _, c := range []struct{ err, want error }{
		{io.EOF, ErrVanished},
		{io.ErrUnexpectedEOF, ErrVanished},
		{yamux.ErrSessionShutdown, ErrVanished},
		{reset, ErrVanished},
		{fmt.Errorf("tls: %w", net.ErrClosed), ErrVanished},
		{slow, ErrStalled},
		{yamux.ErrConnectionWriteTimeout, ErrStalled},
		{&os.PathError{Op: "write", Path: "out", Err: syscall.ENOSPC}, syscall.ENOSPC},
		{wire.ErrFailed, wire.ErrFailed},
	} {
		if err := new(Peer).explain(t.Context(), c.err); !errors.Is(err, c.want) || errors.Is(err, ErrVanished) != errors.Is(c.want, ErrVanished) {
			t.Errorf("%v: %v, want %v", c.err, err, c.want)
		}
	}
}

// TestServeEndsWithItsContext: sessions end, and the listener is closed. That its
// port is free is not asked: any other process may have taken it.
func TestServeEndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); New(Config{}).Serve(ctx, l) }()
	p := dial(t, Config{}, l.Addr().String())
	if _, err := p.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
	if _, err := p.List(t.Context()); !errors.Is(err, ErrVanished) {
		t.Errorf("after the end: %v", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener was still open: %v", err)
	}
}

// TestDialledSessionEndsWithItsContext, though nobody closes it.
func TestDialledSessionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := New(Config{}).Dial(ctx, serving(t, Config{}))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-p.session.CloseChan()
	p.Close()
}
