package assay

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// Ranker is who is told of connections; *ranking.Ranker is one. It is called
// from libp2p's notifications, so it must not block.
type Ranker interface {
	Join(now time.Duration, p ranking.Peer) (ranking.Conn, error)
	Leave(now time.Duration, id ranking.Conn) error
}

// Measured is a connection of a host that is measured. It is a value.
type Measured struct {
	Conn  network.Conn
	Meter *mux.Meter
	// Ranked is the name that the ranker gave it; 0 without a ranker, or if the
	// ranker would not have it.
	Ranked ranking.Conn
	// Err is why it would not: ranking.ErrFull.
	Err error
}

// Config says who is told of a host's connections. The zero value tells nobody.
type Config struct {
	// Ranker is told of each measured connection: it joins under its peer's
	// identity, in the group of its address (for a relayed connection the relay's,
	// since nothing else is known of where the peer is).
	Ranker Ranker

	// Clock returns the instant of now, on the ranker's base. It is needed where
	// there is a ranker.
	Clock func() time.Duration

	// Ended is called once for each measured connection that has ended and is
	// listed no more, as metrics want it to keep their totals. It must not block.
	// At [Peers.Close] what is still open counts as ended.
	Ended func(Measured)
}

// Peers are the connections of a host, kept up to date as they come and go. All
// methods are safe for concurrent use.
type Peers struct {
	network network.Network
	cfg     Config
	notify  network.Notifiee

	// mu guards the fields below. The ranker is called under it, so that it hears
	// of a connection's end after its beginning; it never calls back.
	mu     sync.Mutex
	conns  map[network.Conn]entry
	count  uint64 // connections so far
	closed bool
}

// entry is one connection; without a meter it goes past us.
type entry struct {
	Measured
	order uint64
}

// Follow begins to follow the connections of a network, host.Network(), those
// already open included.
//
// Calling the ranker's Poll once a second stays the caller's part. Leave
// ranking.Config.StreamWindow at 0, for go-yamux enlarges its windows as needed.
func Follow(n network.Network, cfg Config) *Peers {
	p := &Peers{network: n, cfg: cfg, conns: make(map[network.Conn]entry)}
	p.notify = &network.NotifyBundle{
		ConnectedF:    func(_ network.Network, c network.Conn) { p.add(c) },
		DisconnectedF: func(_ network.Network, c network.Conn) { p.remove(c) },
	}
	n.Notify(p.notify)
	for _, c := range n.Conns() {
		p.add(c)
		// It may have ended before it was added, and its end been told already.
		if c.IsClosed() {
			p.remove(c)
		}
	}
	return p
}

func (p *Peers) add(c network.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.conns[c]; known || p.closed {
		return
	}
	p.count++
	e := entry{Measured: Measured{Conn: c}, order: p.count}
	if m, ok := MeterOf(c); ok {
		e.Meter = m
		e.Ranked, e.Err = p.join(c, m)
	}
	p.conns[c] = e
}

func (p *Peers) join(c network.Conn, m *mux.Meter) (ranking.Conn, error) {
	if p.cfg.Ranker == nil {
		return 0, nil
	}
	return p.cfg.Ranker.Join(p.cfg.Clock(), ranking.Peer{
		ID:    c.RemotePeer().String(),
		Addr:  address(c.RemoteMultiaddr()),
		Meter: m,
	})
}

func (p *Peers) remove(c network.Conn) {
	p.mu.Lock()
	e := p.conns[c]
	p.leave(e)
	delete(p.conns, c)
	p.mu.Unlock()
	p.ended(e)
}

// leave takes a connection out of the ranker. The lock must be held.
func (p *Peers) leave(e entry) {
	if e.Ranked != 0 {
		// It joined under that name and has not left, so the ranker knows it.
		_ = p.cfg.Ranker.Leave(p.cfg.Clock(), e.Ranked)
	}
}

// ended tells of a connection that was measured. The lock must not be held.
func (p *Peers) ended(e entry) {
	if e.Meter != nil && p.cfg.Ended != nil {
		p.cfg.Ended(e.Measured)
	}
}

// address is the first IP address of a multiaddr; not valid if there is none.
func address(m multiaddr.Multiaddr) netip.Addr {
	ip, err := manet.ToIP(m)
	if err != nil {
		return netip.Addr{}
	}
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}

// Measured returns the measured connections that are open, the oldest first.
func (p *Peers) Measured() []Measured {
	var list []Measured
	for _, e := range p.sorted() {
		if e.Meter != nil {
			list = append(list, e.Measured)
		}
	}
	return list
}

// Bypassing returns the open connections that nothing measures, the oldest
// first: those of QUIC, WebTransport and WebRTC, or with another multiplexer.
func (p *Peers) Bypassing() []network.Conn {
	var list []network.Conn
	for _, e := range p.sorted() {
		if e.Meter == nil {
			list = append(list, e.Conn)
		}
	}
	return list
}

func (p *Peers) sorted() []entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]entry, 0, len(p.conns))
	for _, e := range p.conns {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.order, b.order) })
	return list
}

// Conn returns the connection that a ranker's plan names: what its fetch must
// go over to be measured. A peer may have several, and host.NewStream takes
// whichever it likes best. It is false if the connection has ended.
func (p *Peers) Conn(id ranking.Conn) (network.Conn, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, e := range p.conns {
		if e.Ranked == id && id != 0 {
			return c, true
		}
	}
	return nil, false
}

// Close stops following, and takes what is still open out of the ranker. It
// closes no connection. Call it before or after the host's own Close; further
// calls do nothing.
func (p *Peers) Close() error {
	p.network.StopNotify(p.notify)
	p.mu.Lock()
	p.closed = true // a notification may still be under way
	p.mu.Unlock()
	for _, e := range p.sorted() {
		p.remove(e.Conn)
	}
	return nil
}
