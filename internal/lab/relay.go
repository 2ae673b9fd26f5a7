package lab

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// relaySocketBuffer is asked of the kernel for each socket of the relay, in
	// bytes each way. The kernel's own would hold megabytes in front of the
	// link, and a sender would see that queue as round trip. Smaller would cost
	// throughput at 1 Gbit/s.
	relaySocketBuffer = 64 << 10

	// relayQueue is what the relay's default Buffer holds beyond what is on the
	// wire, in bytes: enough to bridge the tens of milliseconds that a busy
	// machine may let a goroutine wait at 50 Mbit/s. Larger means a longer loaded
	// round trip.
	relayQueue = 128 << 10

	// acceptRetry is how long a failed accept waits before the next, for it is
	// mostly a lack of file descriptors that passes.
	acceptRetry = 10 * time.Millisecond
)

// Relay carries real TCP connections to a target over simulated links, in real
// time. Instants of arrival are absolute, so a late wake-up delays its own bytes
// and no others: the rate does not drift.
//
// What the kernels see is the loopback in front of the link: a connect succeeds
// at once, and the round trip in TCP_INFO is microseconds. Only what passes
// through the relay measures the link. Close ends it; safe for concurrent use.
type Relay struct {
	listener net.Listener
	target   string
	link     Link

	ctx    context.Context // ends with the relay
	cancel context.CancelFunc
	wg     sync.WaitGroup // of all its goroutines
}

// StartRelay listens on a TCP address and connects each connection it accepts
// with the target over a link of its own, the same both ways. Half-closes are
// passed on, resets too; where the target refuses, the client is reset. A link
// without a Buffer gets Rate x RTT and 128 KiB. Connections differ in their luck,
// their seeds counting up from the link's; a Bottleneck is shared by all. The relay ends with Close, or
// with ctx. The error wraps ErrBadLink, or is the listener's.
func StartRelay(ctx context.Context, listen, target string, link Link) (*Relay, error) {
	if err := link.Validate(); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("lab: relay cannot listen on %q, choose another address: %w", listen, err)
	}
	if link.Buffer == 0 && link.Rate > 0 {
		link.Buffer = int(min(link.Rate.Bytes(2*link.OneWay)+relayQueue, maxDefaultBuffer))
	}
	r := &Relay{listener: listener, target: target, link: link}
	r.ctx, r.cancel = context.WithCancel(ctx)
	context.AfterFunc(r.ctx, func() { listener.Close() })
	r.wg.Go(r.accept)
	return r, nil
}

// Addr is the address the relay listens on.
func (r *Relay) Addr() net.Addr { return r.listener.Addr() }

// Close stops listening, cuts all connections and waits until every goroutine
// of the relay has ended. It always returns nil and may be called again.
func (r *Relay) Close() error {
	r.cancel()
	r.wg.Wait()
	return nil
}

func (r *Relay) accept() {
	link := r.link
	for r.ctx.Err() == nil {
		conn, err := r.listener.Accept()
		if err == nil {
			way := link
			r.wg.Go(func() { r.serve(conn, way) })
			link.Seed++
			continue
		}
		select {
		case <-r.ctx.Done():
		case <-time.After(acceptRetry):
		}
	}
}

// serve carries one connection to its end.
func (r *Relay) serve(client net.Conn, link Link) {
	var d net.Dialer
	server, err := d.DialContext(r.ctx, "tcp", r.target)
	if err != nil {
		reset(client)
		return
	}
	near, far := newSides(client, server, link)
	end := func() { near.close(); far.close() }
	defer end()
	stop := context.AfterFunc(r.ctx, end)
	defer stop()
	carry(near, far)
}
