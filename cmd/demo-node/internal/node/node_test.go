package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// content is a file larger than yamux's window, so that credit has to flow.
var content = bytes.Repeat([]byte("assay "), 100_000)

func offering(t *testing.T, files ...[]byte) *store.Store {
	t.Helper()
	dir := t.TempDir()
	for i, f := range files {
		if err := os.WriteFile(filepath.Join(dir, string(rune('a'+i))), f, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serving starts a node on loopback, which ends with the test.
func serving(t *testing.T, cfg Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); New(cfg).Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); <-done })
	return l.Addr().String()
}

func dial(t *testing.T, cfg Config, addr string) *Peer {
	t.Helper()
	p, err := New(cfg).Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func certificate(t *testing.T) *TLS {
	t.Helper()
	c, err := NewTLS()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDownload(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			files := offering(t, content, []byte("small"), nil)
			server, client := Config{Store: files}, Config{}
			if secure {
				server.TLS, client.TLS = certificate(t), certificate(t)
				client.TLS.Pin = server.TLS.Fingerprint()
			}
			p := dial(t, client, serving(t, server))
			offers, err := p.List(t.Context())
			if err != nil || len(offers) != 3 {
				t.Fatalf("offers %v, %v", offers, err)
			}
			dir, got := t.TempDir(), int64(0)
			for _, o := range offers {
				timing, err := p.Download(t.Context(), o, dir, func(n int) { got += int64(n) })
				if err != nil || !store.Has(t.Context(), dir, o.Hash) {
					t.Fatalf("%d bytes: %v, or not there", o.Size, err)
				}
				if timing.Whole <= 0 || timing.FirstByte > timing.Whole || (timing.FirstByte == 0) != (o.Size == 0) {
					t.Errorf("%d bytes: timing %+v", o.Size, timing)
				}
			}
			if got != files.Bytes() {
				t.Errorf("progress of %d bytes, want %d", got, files.Bytes())
			}
			checkMeter(t, p, files.Bytes())
		})
	}
}

// checkMeter: the transfer was seen, and no fetch is left outstanding.
func checkMeter(t *testing.T, p *Peer, bytes int64) {
	t.Helper()
	s := p.Meter().Snapshot()
	if s.Fetches != 0 || p.outstanding.Load() != 0 {
		t.Errorf("%d fetches and %d bytes outstanding after all", s.Fetches, p.outstanding.Load())
	}
	if s.Counts.PayloadIn < uint64(bytes) || s.RTT.Base <= 0 {
		t.Errorf("%d bytes and base RTT %v seen, want at least %d", s.Counts.PayloadIn, s.RTT.Base, bytes)
	}
}

// TestBothEndsAsk: the node that accepted fetches over the same session.
func TestBothEndsAsk(t *testing.T) {
	joined, left := make(chan *Peer, 1), make(chan *Peer, 1)
	addr := serving(t, Config{
		Joined: func(p *Peer) { joined <- p },
		Left:   func(p *Peer) { left <- p },
	})
	dialled := dial(t, Config{Store: offering(t, content), Window: 1 << 20, Relayed: true}, addr)
	p := <-joined
	offers, err := p.List(t.Context())
	if err != nil || len(offers) != 1 {
		t.Fatalf("offers %v, %v", offers, err)
	}
	if _, err := p.Download(t.Context(), offers[0], t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	dialled.Close()
	if gone := <-left; gone != p {
		t.Error("another peer left")
	}
}

func TestFetchFromAnOffset(t *testing.T) {
	p := dial(t, Config{}, serving(t, Config{Store: offering(t, content)}))
	o := wire.Offer{Hash: sha256.Sum256(content), Size: int64(len(content))}
	var got bytes.Buffer
	if _, err := p.Fetch(t.Context(), o, 500_000, &got, nil); err != nil || !bytes.Equal(got.Bytes(), content[500_000:]) {
		t.Errorf("%d bytes, %v; want the last %d", got.Len(), err, len(content)-500_000)
	}
}

func TestRefusals(t *testing.T) {
	files := offering(t, content)
	p := dial(t, Config{}, serving(t, Config{Store: files}))
	dir := t.TempDir()
	if _, err := p.Download(t.Context(), wire.Offer{Size: 5}, dir, nil); !errors.Is(err, wire.ErrNotFound) {
		t.Errorf("unknown hash: %v", err)
	}
	o := files.Offers()[0]
	o.Size++
	if _, err := p.Download(t.Context(), o, dir, nil); !errors.Is(err, ErrSize) {
		t.Errorf("another size: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	o.Size--
	if _, err := p.Download(t.Context(), o, dir, nil); err != nil {
		t.Errorf("after refusals the session goes on, but: %v", err)
	}
}

// TestBadRequest: bytes that are no request are answered, and end nothing else.
func TestBadRequest(t *testing.T) {
	p := dial(t, Config{}, serving(t, Config{Store: offering(t, content)}))
	err := p.ask(t.Context(), []byte("GET / HTTP/1.1\r\n"), func(r io.Reader) error {
		_, err := wire.ReadData(r)
		return err
	})
	if !errors.Is(err, wire.ErrBadRequest) {
		t.Errorf("got %v, want ErrBadRequest", err)
	}
	if _, err := p.List(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestManyRequestsAreRefused(t *testing.T) {
	p := dial(t, Config{}, serving(t, Config{}))
	for range maxServing + maxTesting {
		st, err := p.session.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		st.Write([]byte{0}) // and no more: it holds its slot
	}
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		if _, err := p.List(t.Context()); errors.Is(err, wire.ErrBusy) {
			return
		}
	}
	t.Error("never refused")
}

// answering is a peer that answers each stream as f does, over plain yamux.
func answering(t *testing.T, f func(*yamux.Session, *yamux.Stream)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		cfg := yamux.DefaultConfig()
		cfg.LogOutput = io.Discard
		s, err := yamux.Server(conn, cfg)
		if err != nil {
			return
		}
		defer s.Close()
		for {
			st, err := s.AcceptStream()
			if err != nil {
				return
			}
			wire.ReadRequest(st)
			f(s, st)
			st.Close()
		}
	}()
	return l.Addr().String()
}

// TestBadPeers: whatever a peer does, nothing of it is kept and the error says
// what it was.
func TestBadPeers(t *testing.T) {
	half := wire.AppendData(nil, int64(len(content)))
	half = append(half, content[:len(content)/2]...)
	other := append(wire.AppendData(nil, int64(len(content))), bytes.ToUpper(content)...)
	tests := []struct {
		name   string
		answer func(*yamux.Session, *yamux.Stream)
		want   error
	}{
		{"another file", func(_ *yamux.Session, st *yamux.Stream) { st.Write(other) }, store.ErrMismatch},
		{"vanishes in mid-fetch", func(s *yamux.Session, st *yamux.Stream) { st.Write(half); s.Close() }, ErrVanished},
		{"ends the stream in mid-fetch", func(_ *yamux.Session, st *yamux.Stream) { st.Write(half) }, ErrVanished},
		{"answers nothing", func(*yamux.Session, *yamux.Stream) {}, ErrVanished},
		{"answers nonsense", func(_ *yamux.Session, st *yamux.Stream) { st.Write([]byte("\x00\x00\x00\x02\x01\x63")) }, wire.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := dial(t, Config{}, answering(t, tt.answer))
			dir := t.TempDir()
			_, err := p.Download(t.Context(), wire.Offer{Hash: sha256.Sum256(content), Size: int64(len(content))}, dir, nil)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestInterruptedFetch ends at once, leaves nothing, and the session goes on.
func TestInterruptedFetch(t *testing.T) {
	began := make(chan struct{}, 1)
	p := dial(t, Config{}, answering(t, func(_ *yamux.Session, st *yamux.Stream) {
		st.Write(wire.AppendData(nil, 1000))
		st.Write(make([]byte, 10))
		select {
		case began <- struct{}{}:
		default:
		}
		st.Read(make([]byte, 1)) // until the reset
	}))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-began; cancel(cause) }()
	dir := t.TempDir()
	if _, err := p.Download(ctx, wire.Offer{Size: 1000}, dir, nil); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if p.session.IsClosed() || p.Meter().Snapshot().Fetches != 0 {
		t.Error("the session has ended, or the fetch is still outstanding")
	}
}

func TestDialErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unused := l.Addr().String()
	l.Close()
	for addr, want := range map[string]string{
		unused:      "connection refused; is `demo-node serve` running",
		"127.0.0.1": "HOST:PORT",
	} {
		if _, err := New(Config{}).Dial(t.Context(), addr); !errors.Is(err, ErrDial) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(Config{}).Dial(ctx, unused); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestTLSErrors(t *testing.T) {
	plain, secure := serving(t, Config{}), serving(t, Config{TLS: certificate(t)})
	client := certificate(t)
	if _, err := New(Config{TLS: client}).Dial(t.Context(), plain); !errors.Is(err, ErrHandshake) {
		t.Errorf("a plain peer: %v", err)
	}
	client.Pin = wire.Hash{1}
	if _, err := New(Config{TLS: client}).Dial(t.Context(), secure); !errors.Is(err, ErrFingerprint) {
		t.Errorf("another certificate: %v", err)
	}
	p := dial(t, Config{}, secure)
	if _, err := p.List(t.Context()); !errors.Is(err, ErrVanished) {
		t.Errorf("a peer with TLS: %v", err)
	}
}

// initialWindow is the least window that a sender has in mind.
const initialWindow = 14600

// TestLearn: what our credit was waited for, and how the window grew, is in the
// next prediction.
func TestLearn(t *testing.T) {
	p := dial(t, Config{}, serving(t, Config{Store: offering(t, content)}))
	const n = 8e6
	far := ranking.Path{BaseRTT: 100 * time.Millisecond, Rate: 1e-8, StreamWindow: 256 << 10}
	p.learn(far, &burst.Reading{Credit: -2 * ranking.Predict(n, far).Ramp}, n)
	got := p.path(&burst.Reading{BaseRTT: far.BaseRTT})
	if got.LastWindow < n || got.WindowRounds < 1.8 || got.StreamWindow != far.StreamWindow || got.Idle > time.Minute {
		t.Errorf("%+v", got)
	}
	p.outstanding.Add(1)
	if got = p.path(&burst.Reading{}); got.Idle != 0 {
		t.Errorf("idle for %v with a fetch under way", got.Idle)
	}
}

// TestPredict: nothing before there is a rate, something near afterwards.
func TestPredict(t *testing.T) {
	p := dial(t, Config{}, serving(t, Config{Store: offering(t, bytes.Repeat(content, 10))}))
	if d, ok := p.Predict(1); ok {
		t.Errorf("predicted %v from nothing", d)
	}
	offers, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Fetch(t.Context(), offers[0], 0, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	if p.sender.window < initialWindow || p.sender.last <= 0 {
		t.Errorf("after a fetch the sender is taken for %+v", p.sender)
	}
	coverage := p.Meter().Snapshot().Estimate.Coverage
	if d, ok := p.Predict(reach * coverage); ok != (p.Meter().Snapshot().Estimate.Rate > 0) || ok && d <= 0 {
		t.Errorf("predicted %v, %v with a coverage of %d", d, ok, coverage)
	}
	if d, ok := p.Predict(reach*coverage + 1); ok {
		t.Errorf("predicted %v for more than the coverage reaches", d)
	}
}
