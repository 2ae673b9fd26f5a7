package assay_test

import (
	"context"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"go.uber.org/goleak"

	assay "github.com/assay-mux/assay/contrib/libp2p"
)

// TestMain fails if goroutines are left over. Some tests of go-libp2p's suite
// leave their own listeners open.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/libp2p/go-libp2p/p2p/muxer/testsuite.GoServe.func1"))
}

// limit bounds what may hang.
const limit = time.Minute

// protocol is that of the tests: eight bytes say how many bytes to send back.
const protocol = "/assay/test/1"

func serve(s network.Stream) {
	var ask [8]byte
	if _, err := io.ReadFull(s, ask[:]); err != nil {
		_ = s.Reset()
		return
	}
	if _, err := s.Write(make([]byte, binary.BigEndian.Uint64(ask[:]))); err != nil {
		_ = s.Reset()
		return
	}
	_ = s.Close()
}

// ask fetches n bytes on a stream.
func ask(s io.ReadWriter, n int) error {
	if err := binary.Write(s, binary.BigEndian, uint64(n)); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, s, int64(n))
	return err
}

// measuredTCP are the options of a host that measures all it talks to.
func measuredTCP(m *assay.Muxer) libp2p.Option {
	return libp2p.ChainOptions(libp2p.Transport(tcp.NewTCPTransport), libp2p.Muxer(assay.ID, m))
}

// newHost starts a host that listens on loopback and serves.
func newHost(t *testing.T, opts ...libp2p.Option) host.Host {
	t.Helper()
	h, err := libp2p.New(append([]libp2p.Option{
		libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableMetrics(),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	h.SetStreamHandler(protocol, serve)
	return h
}

// connect connects a with b and returns a's connection.
func connect(t *testing.T, a, b host.Host) network.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := a.Connect(ctx, peer.AddrInfo{ID: b.ID(), Addrs: b.Addrs()}); err != nil {
		t.Fatal(err)
	}
	return a.Network().ConnsToPeer(b.ID())[0]
}

// fetch asks b for n bytes, declared to the meter where there is one.
func fetch(t *testing.T, a, b host.Host, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	s, err := a.NewStream(ctx, b.ID(), protocol)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if m, ok := assay.MeterOf(s.Conn()); ok {
		defer m.Begin()()
	}
	if err := ask(s, n); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for what another goroutine does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not: %s", limit, what)
		}
	}
}
