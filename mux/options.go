package mux

import (
	"net"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cookie"
)

// Limits of what an option may set; values beyond them are brought to them.
const (
	minSDU = 1 << 10 // below this the headers cost more than a per cent
	maxSDU = 1 << 20 // rust-yamux refuses frames with larger bodies

	// maxOutstanding: go-yamux drops the 33rd ping that it has not answered.
	maxOutstanding = 32
)

// defaultSDU is the largest body of a frame we send. At 16 KiB the first byte
// of a 1 MiB write over 10 Mbit/s arrives 13 ms after the path's delay instead
// of 839, and twelve bytes a frame are 0.07 % of the traffic.
const defaultSDU = 16 << 10

// An Option changes how a connection is wrapped. It may be used for any number
// of them, also at once.
type Option func(*options)

type options struct {
	sdu       int
	cookies   bool
	cookie    cookie.Config
	burst     burst.Config
	sink      func(burst.Sample)
	async     bool
	kernel    bool
	handshake time.Duration
	watcher   *Watcher
	tap       func(net.Conn) net.Conn
	infer     bool
}

func newOptions(opts []Option) options {
	o := options{
		sdu:     defaultSDU,
		cookies: true,
		cookie:  cookie.DefaultConfig(),
		burst:   burst.DefaultConfig(),
		kernel:  true,
		watcher: &processWatcher,
	}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithSDU sets the body, in bytes, up to which a Data frame is sent whole (16 KiB).
// A larger one is split: its first part has so many bytes, each that follows up to
// as many as all before it, four times the first at most. A frame of the peer's that
// is longer than that reaches the local multiplexer in pieces, as it arrives, unless
// those before it show that it comes within a millisecond. A larger value saves
// headers and delays the first byte on slow paths. 0 turns both off; other values are
// brought to 1 KiB or 1 MiB.
func WithSDU(bytes int) Option {
	sdu := 0
	if bytes > 0 {
		sdu = min(max(bytes, minSDU), maxSDU)
	}
	return func(o *options) { o.sdu = sdu }
}

// WithoutCookies sends none: no RTT of our own, and no burst is vouched for by
// echoes. For a peer that does not speak yamux's ping.
func WithoutCookies() Option { return func(o *options) { o.cookies = false } }

// WithCookieInterval sets the least time between two cookies (1 ms). Shorter
// makes more samples and costs the peer a write each: at one per frame that
// write costs all the throughput the shim gains. Negative values count as 0.
func WithCookieInterval(d time.Duration) Option {
	return func(o *options) { o.cookie.MinInterval = max(d, 0) }
}

// WithCookieLimit sets how many cookies may be unanswered (8), from 1 to 32:
// the 33rd is dropped by go-yamux. More makes more samples per round trip.
func WithCookieLimit(n int) Option {
	return func(o *options) { o.cookie.MaxOutstanding = min(max(n, 1), maxOutstanding) }
}

// WithBurst sets the knobs of the burst window. A configuration that does not
// pass its own Validate is ignored.
func WithBurst(c burst.Config) Option {
	return func(o *options) {
		if c.Validate() == nil {
			o.burst = c
		}
	}
}

// WithSink receives the sample of each burst that closes. It is called outside
// all locks by whichever goroutine closed the burst: the one that reads the
// connection, the one that ends a fetch, or a timer's. It must not block, for
// it holds up what that goroutine was doing, and must not call the connection.
func WithSink(sink func(burst.Sample)) Option { return func(o *options) { o.sink = sink } }

// WithAsyncWrites lets Write return once the bytes are in a queue of at most
// 256 KiB, which a goroutine empties in larger writes. Up to 2.5 times faster
// with small frames; but the queue stands before the socket's own, and adds up
// to 210 ms on a 10 Mbit/s path, and an error is reported one Write late.
func WithAsyncWrites() Option { return func(o *options) { o.async = true } }

// WithoutKernel leaves the kernel's TCP figures unread. Without this option
// they are read a few times a second on Linux, where the connection (or what
// it wraps, by NetConn or by embedding) is TCP. Use it where the TCP
// connection ends at a relay: its round trip is then not the peer's.
func WithoutKernel() Option { return func(o *options) { o.kernel = false } }

// WithHandshakeRTT tells the round trip that the dial or accept measured. It
// bounds the base RTT, and confirms it.
func WithHandshakeRTT(d time.Duration) Option { return func(o *options) { o.handshake = max(d, 0) } }

// WithWatcher uses w instead of the process's own to notice when the process
// did not run.
func WithWatcher(w *Watcher) Option {
	return func(o *options) {
		if w != nil {
			o.watcher = w
		}
	}
}

// WithTap puts a conn between the shim and the session of Client or Server,
// made by tap from the shim's. It is for simulations and traces.
func WithTap(tap func(net.Conn) net.Conn) Option { return func(o *options) { o.tap = tap } }

// WithInferredFetches takes a fetch to be outstanding while a stream that has
// carried payload is open at the peer's end, for a host that never calls
// Meter.Begin. It suits protocols of one reply a stream; where streams stay
// open between replies it would charge the peer for our own silence.
func WithInferredFetches() Option { return func(o *options) { o.infer = true } }
