package node

import (
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	yamux "github.com/assay-mux/assay/mux"
)

// Config is what a Node is made from.
type Config struct {
	// Store is what it serves; nil serves nothing.
	Store *store.Store
	// Window is the receive window of a stream in bytes, from 256 KiB, yamux's
	// least and default, which 0 means. Larger fills longer paths, and is what a
	// slow reader may cost in memory for each stream.
	Window uint32
	// TLS encrypts; nil leaves connections plain.
	TLS *TLS
	// Relayed says that TCP connections end at a relay, so that what the kernel
	// knows of them is not the peer.
	Relayed bool
	// Stall is how long either side of a transfer waits for the other to take or
	// to send anything; 0 means 30 s. Longer bears with worse paths, shorter frees
	// what a peer that has gone silent holds.
	Stall time.Duration
	// Behave is how it serves; zero is honestly.
	Behave behave.Behaviour
	// Speedtest is what it allows to be tested; nil is nothing.
	Speedtest *policy.Policy
	// Limit is the rate of its link in bytes per second, as its operator states it, 0 for none, and
	// Claim what it says that it can do instead of what it has observed, 0 for the truth.
	Limit, Claim int64
	// SpeedtestEvent is told of tests of this node. It must not block. Nil is not called.
	SpeedtestEvent func(speedtest.Event)
	// Joined is called with each peer that connects to us or that we connect to,
	// and Left when its session has ended. Neither may block. Nil is not called.
	Joined, Left func(*Peer)
	// Log takes what an operator wants to know; nil is discarded.
	Log *slog.Logger
}

const defaultStall = 30 * time.Second

// Node serves and fetches. Safe for concurrent use. Its sessions end with the
// contexts they were started with, or with Peer.Close.
type Node struct {
	cfg  Config
	wg   sync.WaitGroup // of all goroutines that serve accepted connections
	good goodput
	test *speedtest.Responder // nil if the policy makes no sense or there is none
}

// New returns a node.
func New(cfg Config) *Node {
	if cfg.Store == nil {
		cfg.Store = new(store.Store)
	}
	if cfg.Stall <= 0 {
		cfg.Stall = defaultStall
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Joined == nil {
		cfg.Joined = func(*Peer) {}
	}
	if cfg.Left == nil {
		cfg.Left = func(*Peer) {}
	}
	n := &Node{cfg: cfg, good: newGoodput()}
	n.test = n.responder()
	return n
}

// session is the configuration of a yamux session. What yamux reports goes to
// the log as detail: each of its errors also ends a request, which is reported
// once and in plainer words.
func (n *Node) session() *yamux.Config {
	c := yamux.DefaultConfig()
	if n.cfg.Window > 0 {
		c.MaxStreamWindowSize = n.cfg.Window
	}
	c.LogOutput, c.Logger = nil, slog.NewLogLogger(n.cfg.Log.Handler(), slog.LevelDebug)
	return c
}

// relayedBuffer is asked of the kernel for the send buffer of a connection to a
// relay, in bytes. Loopback never looks congested, so the kernel would let the
// buffer grow to megabytes, which the link behind the relay takes a second to
// drain: our own requests would wait behind our own data. A real path's buffer
// follows its congestion window. Smaller costs throughput when the machine is
// busy.
const relayedBuffer = 128 << 10

// prepare sets a new connection up.
func (n *Node) prepare(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok && n.cfg.Relayed {
		_ = tcp.SetWriteBuffer(relayedBuffer)
	}
}

// options are those of a measured connection. rtt is what the dial measured, 0
// if it says nothing of the peer.
func (n *Node) options(rtt time.Duration) []yamux.Option {
	var opts []yamux.Option
	if n.cfg.Relayed {
		// The relay ends the TCP connection: the kernel's round trip is that to
		// the relay, microseconds on loopback, and would pass for the peer's.
		return append(opts, yamux.WithoutKernel())
	}
	if rtt > 0 {
		opts = append(opts, yamux.WithHandshakeRTT(rtt))
	}
	return opts
}
