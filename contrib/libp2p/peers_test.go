package assay_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	assay "github.com/assay-mux/assay/contrib/libp2p"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// fakeConn is a network.Conn as far as Peers needs one.
type fakeConn struct {
	network.Conn
	id     peer.ID
	addr   string
	meter  *mux.Meter
	closed bool
}

func (c *fakeConn) RemotePeer() peer.ID { return c.id }
func (c *fakeConn) IsClosed() bool      { return c.closed }
func (c *fakeConn) RemoteMultiaddr() multiaddr.Multiaddr {
	return multiaddr.StringCast(c.addr)
}

func (c *fakeConn) As(target any) bool {
	m, ok := target.(**mux.Meter)
	if !ok || c.meter == nil {
		return false
	}
	*m = c.meter
	return true
}

// newMeter returns one of a connection that carries nothing.
func newMeter(t *testing.T) *mux.Meter {
	near, far := net.Pipe()
	c := mux.Wrap(near)
	t.Cleanup(func() {
		_ = c.Close()
		_ = far.Close()
	})
	return c.Meter()
}

// fakeNetwork has the connections it is given.
type fakeNetwork struct {
	network.Network
	mu       sync.Mutex
	conns    []network.Conn
	notified []network.Notifiee
}

func (n *fakeNetwork) Conns() []network.Conn { return n.conns }

func (n *fakeNetwork) Notify(f network.Notifiee) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notified = append(n.notified, f)
}

func (n *fakeNetwork) StopNotify(f network.Notifiee) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notified = slices.DeleteFunc(n.notified, func(g network.Notifiee) bool { return g == f })
}

// each calls f with all that are notified, as a network does: from whichever
// goroutine it is.
func (n *fakeNetwork) each(f func(network.Notifiee)) {
	n.mu.Lock()
	notified := slices.Clone(n.notified)
	n.mu.Unlock()
	for _, g := range notified {
		f(g)
	}
}

func (n *fakeNetwork) connect(c network.Conn) {
	n.each(func(f network.Notifiee) { f.Connected(n, c) })
}
func (n *fakeNetwork) disconnect(c network.Conn) {
	n.each(func(f network.Notifiee) { f.Disconnected(n, c) })
}

// fakeRanker notes what it is told.
type fakeRanker struct {
	joined []ranking.Peer
	at     []time.Duration
	in     map[ranking.Conn]string
	err    error
}

func (r *fakeRanker) Join(now time.Duration, p ranking.Peer) (ranking.Conn, error) {
	if r.err != nil {
		return 0, r.err
	}
	r.joined, r.at = append(r.joined, p), append(r.at, now)
	id := ranking.Conn(len(r.joined))
	if r.in == nil {
		r.in = make(map[ranking.Conn]string)
	}
	r.in[id] = p.ID
	return id, nil
}

func (r *fakeRanker) Leave(now time.Duration, id ranking.Conn) error {
	r.at = append(r.at, now)
	if _, ok := r.in[id]; !ok {
		return ranking.ErrUnknownPeer
	}
	delete(r.in, id)
	return nil
}

// ticking is a clock that tells each call apart.
func ticking() func() time.Duration {
	var now time.Duration
	return func() time.Duration { now += time.Second; return now }
}

func TestConnectionsJoinAndLeave(t *testing.T) {
	n, r := &fakeNetwork{}, &fakeRanker{}
	early := &fakeConn{id: "early", addr: "/ip4/192.0.2.1/tcp/1", meter: newMeter(t)}
	n.conns = []network.Conn{early}
	p := assay.Follow(n, assay.Config{Ranker: r, Clock: ticking()})
	late := &fakeConn{id: "late", addr: "/ip6/2001:db8::1/tcp/1", meter: newMeter(t)}
	n.connect(late)
	n.connect(late) // told twice is once
	bare := &fakeConn{id: "bare", addr: "/ip4/192.0.2.3/udp/1/quic-v1"}
	n.connect(bare)

	if len(r.in) != 2 || len(r.joined) != 2 {
		t.Fatalf("the ranker knows %v, of %d that joined", r.in, len(r.joined))
	}
	for i, c := range []*fakeConn{early, late} {
		got := r.joined[i]
		if got.ID != c.id.String() || got.Meter != ranking.Meter(c.meter) {
			t.Errorf("%v joined as %+v", c.id, got)
		}
	}
	if a := r.joined[0].Addr.String(); a != "192.0.2.1" {
		t.Errorf("early's address is %s", a)
	}
	measured := p.Measured()
	if len(measured) != 2 || measured[0].Conn != early || measured[1].Conn != late {
		t.Errorf("measured: %v", measured)
	}
	if b := p.Bypassing(); len(b) != 1 || b[0] != bare {
		t.Errorf("bypassing: %v", b)
	}
	for _, m := range measured {
		if c, ok := p.Conn(m.Ranked); !ok || c != m.Conn {
			t.Errorf("connection %d is %v", m.Ranked, c)
		}
	}

	n.disconnect(early)
	n.disconnect(early)
	n.disconnect(bare)
	if len(r.in) != 1 || r.in[2] != late.id.String() {
		t.Errorf("after early and bare left, the ranker knows %v", r.in)
	}
	if _, ok := p.Conn(1); ok {
		t.Error("a connection that ended is found")
	}
	if _, ok := p.Conn(0); ok {
		t.Error("no connection's name finds one")
	}
	if len(p.Measured()) != 1 || len(p.Bypassing()) != 0 {
		t.Error("what ended is listed")
	}
	if want := []time.Duration{1e9, 2e9, 3e9}; !slices.Equal(r.at, want) {
		t.Errorf("instants %v, want %v", r.at, want)
	}
}

func TestCloseTakesAllOut(t *testing.T) {
	n, r := &fakeNetwork{}, &fakeRanker{}
	p := assay.Follow(n, assay.Config{Ranker: r, Clock: ticking()})
	for i := range 3 {
		n.connect(&fakeConn{id: peer.ID(fmt.Sprint(i)), addr: "/ip4/192.0.2.1/tcp/1", meter: newMeter(t)})
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(r.in) != 0 || len(n.notified) != 0 {
		t.Errorf("left behind: %v in the ranker, %d notifications", r.in, len(n.notified))
	}
	if len(p.Measured())+len(p.Bypassing()) != 0 {
		t.Error("connections are still listed")
	}
}

// Each measured connection's end is told once, when it is listed no more.
func TestEndIsToldOnce(t *testing.T) {
	n := &fakeNetwork{}
	var p *assay.Peers
	var ended []network.Conn
	p = assay.Follow(n, assay.Config{Ended: func(m assay.Measured) {
		ended = append(ended, m.Conn)
		if slices.ContainsFunc(p.Measured(), func(o assay.Measured) bool { return o.Meter == m.Meter }) {
			t.Error("what has ended is listed")
		}
	}})
	one := &fakeConn{id: "one", addr: "/ip4/192.0.2.1/tcp/1", meter: newMeter(t)}
	two := &fakeConn{id: "two", addr: "/ip4/192.0.2.1/tcp/1", meter: newMeter(t)}
	bare := &fakeConn{id: "bare", addr: "/ip4/192.0.2.1/udp/1/quic-v1"}
	for _, c := range []*fakeConn{one, two, bare} {
		n.connect(c)
	}
	n.disconnect(bare)
	n.disconnect(one)
	n.disconnect(one)
	_ = p.Close()
	_ = p.Close()
	if !slices.Equal(ended, []network.Conn{one, two}) {
		t.Errorf("told of %v", ended)
	}
}

// A notification may be under way while Close stops them.
func TestNothingJoinsAfterClose(t *testing.T) {
	n, r := &fakeNetwork{}, &fakeRanker{}
	p := assay.Follow(n, assay.Config{Ranker: r, Clock: ticking()})
	late := n.notified[0]
	_ = p.Close()
	late.Connected(n, &fakeConn{id: "late", addr: "/ip4/192.0.2.1/tcp/1", meter: newMeter(t)})
	if len(r.joined) != 0 || len(p.Measured()) != 0 {
		t.Error("a connection joined after Close")
	}
}

// Between the notifications' start and the look at what was open already, a
// connection may end: its end is told before it is seen.
func TestConnectionThatEndedMeanwhileLeaves(t *testing.T) {
	n, r := &fakeNetwork{}, &fakeRanker{}
	n.conns = []network.Conn{&fakeConn{id: "gone", addr: "/ip4/192.0.2.1/tcp/1", meter: newMeter(t), closed: true}}
	p := assay.Follow(n, assay.Config{Ranker: r, Clock: ticking()})
	if len(r.in) != 0 || len(p.Measured()) != 0 {
		t.Errorf("a closed connection stays: %v", r.in)
	}
}

func TestRankerMayRefuse(t *testing.T) {
	n, r := &fakeNetwork{}, &fakeRanker{err: ranking.ErrFull}
	p := assay.Follow(n, assay.Config{Ranker: r, Clock: ticking()})
	c := &fakeConn{id: "one too many", addr: "/ip4/192.0.2.1/tcp/1", meter: newMeter(t)}
	n.connect(c)
	got := p.Measured()
	if len(got) != 1 || !errors.Is(got[0].Err, ranking.ErrFull) || got[0].Ranked != 0 || got[0].Meter != c.meter {
		t.Errorf("got %+v, want the refusal", got)
	}
	n.disconnect(c)
	if len(p.Measured()) != 0 {
		t.Error("it is listed still")
	}
}

func TestNoRankerIsFine(t *testing.T) {
	n := &fakeNetwork{}
	p := assay.Follow(n, assay.Config{})
	c := &fakeConn{id: "peer", addr: "/ip4/192.0.2.1/tcp/1", meter: newMeter(t)}
	n.connect(c)
	if got := p.Measured(); len(got) != 1 || got[0].Meter != c.meter || got[0].Ranked != 0 {
		t.Errorf("got %+v", got)
	}
	n.disconnect(c)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// Groups come from addresses, so those had better be right.
func TestAddresses(t *testing.T) {
	for addr, want := range map[string]string{
		"/ip4/192.0.2.7/tcp/4001":            "192.0.2.7",
		"/ip6/2001:db8:1::7/tcp/4001/ws":     "2001:db8:1::7",
		"/ip6/::ffff:192.0.2.7/tcp/4001":     "192.0.2.7",
		"/dns4/example.org/tcp/1":            "invalid IP",
		"/ip4/192.0.2.9/tcp/1/p2p-circuit":   "192.0.2.9",
		"/unix/tmp/socket":                   "invalid IP",
		"/ip6zone/eth0/ip6/fe80::1/tcp/4001": "fe80::1",
	} {
		n, r := &fakeNetwork{}, &fakeRanker{}
		assay.Follow(n, assay.Config{Ranker: r, Clock: ticking()})
		n.connect(&fakeConn{id: "peer", addr: addr, meter: newMeter(t)})
		if got := r.joined[0].Addr.String(); got != want {
			t.Errorf("%s is at %s, want %s", addr, got, want)
		}
	}
}

// TestChurn: peers that come and go at once leave a real ranker with none
// connected and none forgotten.
func TestChurn(t *testing.T) {
	n := &fakeNetwork{}
	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	base := time.Now()
	clock := func() time.Duration { return time.Since(base) }
	p := assay.Follow(n, assay.Config{Ranker: r, Clock: clock})
	var wg sync.WaitGroup
	for i := range 8 {
		meter := newMeter(t)
		wg.Go(func() {
			for range 50 {
				c := &fakeConn{id: peer.ID(fmt.Sprint(i)), addr: fmt.Sprintf("/ip4/192.0.2.%d/tcp/1", i+1), meter: meter}
				n.connect(c)
				_ = p.Measured()
				n.disconnect(c)
			}
		})
	}
	wg.Wait()
	if got := r.Stats(clock()); got.Connected != 0 || got.Peers != 8 {
		t.Errorf("%d connected of %d peers, want none of 8", got.Connected, got.Peers)
	}
	_ = p.Close()
}
