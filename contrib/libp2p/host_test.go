package assay_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	goyamux "github.com/libp2p/go-yamux/v5"
	"github.com/multiformats/go-multiaddr"

	assay "github.com/assay-mux/assay/contrib/libp2p"
	"github.com/assay-mux/assay/mux"
)

// TestHosts: a host measures an unmodified one, over each way of securing TCP
// and over WebSocket, whoever dialled.
func TestHosts(t *testing.T) {
	plainTCP := libp2p.Transport(tcp.NewTCPTransport)
	secret := libp2p.PrivateNetwork(make([]byte, 32))
	for _, tt := range []struct {
		name         string
		ours, theirs libp2p.Option
		kernel       bool // the kernel's figures come through
	}{
		{"tls", libp2p.ChainOptions(plainTCP, libp2p.Security(libp2ptls.ID, libp2ptls.New)), plainTCP, true},
		{"noise", libp2p.ChainOptions(plainTCP, libp2p.Security(noise.ID, noise.New)), plainTCP, false},
		{"noise shown", libp2p.ChainOptions(plainTCP, libp2p.Security(noise.ID, assay.Security(noise.New))), plainTCP, true},
		{"tls shown", libp2p.ChainOptions(plainTCP, libp2p.Security(libp2ptls.ID, assay.Security(libp2ptls.New))), plainTCP, true},
		{"none", libp2p.ChainOptions(plainTCP, libp2p.NoSecurity), libp2p.ChainOptions(plainTCP, libp2p.NoSecurity), false},
		{"websocket", libp2p.ChainOptions(
			libp2p.Transport(websocket.New), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0/ws")), libp2p.ChainOptions(
			libp2p.Transport(websocket.New), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0/ws")), false},
		{"private network", libp2p.ChainOptions(plainTCP, secret), libp2p.ChainOptions(plainTCP, secret), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ours := newHost(t, tt.ours, libp2p.Muxer(assay.ID, &assay.Muxer{}))
			theirs := newHost(t, tt.theirs, libp2p.DefaultMuxers)
			check := func(c network.Conn) {
				t.Helper()
				fetch(t, ours, theirs, 4<<20)
				checkMeasured(t, c, tt.kernel && runtime.GOOS == "linux")
			}
			check(connect(t, ours, theirs))

			if err := ours.Network().ClosePeer(theirs.ID()); err != nil {
				t.Error(err)
			}
			eventually(t, "their end is closed", func() bool {
				return len(theirs.Network().ConnsToPeer(ours.ID())) == 0
			})
			connect(t, theirs, ours)
			check(ours.Network().ConnsToPeer(theirs.ID())[0])
		})
	}
}

// checkMeasured looks at the meter of a connection over which 4 MiB came.
func checkMeasured(t *testing.T, c network.Conn, kernel bool) {
	t.Helper()
	m, ok := assay.MeterOf(c)
	if !ok {
		t.Fatal("the connection has no meter")
	}
	s := m.Snapshot()
	if s.RTT.Base <= 0 || s.RTT.Samples+s.RTT.LoadedSamples == 0 {
		t.Errorf("no round trip is known: %+v", s.RTT)
	}
	if s.Counts.PayloadIn < 4<<20 {
		t.Errorf("%d payload bytes are counted, 4 MiB came", s.Counts.PayloadIn)
	}
	if s.Counts.TransparentIn || s.Counts.TransparentOut {
		t.Error("the shim has turned transparent")
	}
	if c := s.Cookies; c.Forged+c.Replayed != 0 {
		t.Errorf("of an honest peer's echoes %d are forged, %d replayed", c.Forged, c.Replayed)
	}
	if got := s.Kernel.At > 0; got != kernel {
		t.Errorf("kernel figures: %v, want %v", got, kernel)
	}
	if s.RTT.Confirmed != kernel {
		t.Errorf("base RTT confirmed: %v, want %v", s.RTT.Confirmed, kernel)
	}
}

// TestQUICGoesPast: what brings its own streams asks for no multiplexer, and
// says so.
func TestQUICGoesPast(t *testing.T) {
	overQUIC := libp2p.ChainOptions(
		libp2p.Transport(quic.NewTransport), libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1"))
	a := newHost(t, overQUIC, libp2p.Muxer(assay.ID, &assay.Muxer{}))
	b := newHost(t, overQUIC)
	c := connect(t, a, b)
	fetch(t, a, b, 1<<20)
	if _, ok := assay.MeterOf(c); ok {
		t.Error("a QUIC connection has a meter")
	}
	if _, ok := assay.MeterOf(b.Network().ConnsToPeer(a.ID())[0]); ok {
		t.Error("a QUIC connection has a meter, at the other end")
	}
}

// TestRelayed: a connection through a relay is measured, of the whole way, which no
// kernel knows.
func TestRelayed(t *testing.T) {
	relay := newHost(t, libp2p.Transport(tcp.NewTCPTransport), libp2p.EnableRelay(),
		libp2p.EnableRelayService(), libp2p.ForceReachabilityPublic())
	us := newHost(t, measuredTCP(&assay.Muxer{}), libp2p.EnableRelay())
	them := newHost(t, libp2p.Transport(tcp.NewTCPTransport), libp2p.EnableRelay())
	toRelay := peer.AddrInfo{ID: relay.ID(), Addrs: relay.Addrs()}
	eventually(t, "the relay takes reservations", func() bool {
		_, err := client.Reserve(t.Context(), them, toRelay)
		return err == nil
	})
	circuit := multiaddr.StringCast("/p2p/" + relay.ID().String() + "/p2p-circuit")
	through := peer.AddrInfo{ID: them.ID(), Addrs: []multiaddr.Multiaddr{relay.Addrs()[0].Encapsulate(circuit)}}
	ctx := network.WithAllowLimitedConn(t.Context(), "test")
	if err := us.Connect(ctx, through); err != nil {
		t.Fatal(err)
	}
	s, err := us.NewStream(ctx, them.ID(), protocol)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, ok := assay.MeterOf(s.Conn())
	if !ok {
		t.Fatal("a relayed connection has no meter")
	}
	if err := ask(s, 50_000); err != nil {
		t.Fatal(err)
	}
	if got := m.Snapshot(); got.RTT.Base <= 0 || got.RTT.Confirmed || got.Counts.PayloadIn < 50_000 {
		t.Errorf("measured over the relay: %+v, %d bytes", got.RTT, got.Counts.PayloadIn)
	}
}

// TestAs: the meter, the measured connection, and what go-yamux itself offers.
func TestAs(t *testing.T) {
	a := newHost(t, measuredTCP(&assay.Muxer{}))
	b := newHost(t, libp2p.Transport(tcp.NewTCPTransport), libp2p.Muxer(yamux.ID, yamux.DefaultTransport))
	ours := connect(t, a, b)
	meter, ok := assay.MeterOf(ours)
	if !ok {
		t.Fatal("no meter")
	}
	var conn *mux.Conn
	if !ours.As(&conn) || conn.Meter() != meter {
		t.Error("the measured connection is not found, or has another meter")
	}
	var session *goyamux.Session
	if !ours.As(&session) || session.IsClosed() {
		t.Error("go-yamux's session is not found")
	}
	var other io.Reader
	if ours.As(&other) {
		t.Error("a reader is found, of all things")
	}
	eventually(t, "b has the connection", func() bool { return len(b.Network().ConnsToPeer(a.ID())) == 1 })
	if m, ok := assay.MeterOf(b.Network().ConnsToPeer(a.ID())[0]); ok || m != nil {
		t.Error("a bare connection has a meter")
	}
}

// TestEachConnectionHasItsMeter: a Muxer is one, its connections many.
func TestEachConnectionHasItsMeter(t *testing.T) {
	a := newHost(t, measuredTCP(&assay.Muxer{}))
	seen := make(map[*mux.Meter]bool)
	for range 3 {
		b := newHost(t, libp2p.Transport(tcp.NewTCPTransport))
		m, ok := assay.MeterOf(connect(t, a, b))
		if !ok || seen[m] {
			t.Fatalf("meter found: %v, of another connection: %v", ok, seen[m])
		}
		seen[m] = true
	}
}
