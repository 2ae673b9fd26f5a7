package engine

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// redialAfter is how soon a connection that broke is made again.
const redialAfter = time.Second

// actor is one peer by one identity.
type actor struct {
	w     *world
	spec  scenario.Peer
	id    string
	index int // in the order in which they were made
	addr  netip.Addr
	link  scenario.Link

	asked atomic.Int64 // requests it has had
	busy  atomic.Int64 // replies in which it keeps data back at present

	demoted  chan struct{} // closed when the ranker demotes it
	once     sync.Once
	banished chan struct{} // closed when we disconnect it for good
	gone     sync.Once

	mu    sync.Mutex
	conn  *connection // nil while it is not connected
	dials int
	track track
}

// connection is one connection with a peer, both ends of it.
type connection struct {
	a      *actor
	id     ranking.Conn
	client *mux.Session
	server io.Closer
	gate   *gate
	tamper *tamper
	began  time.Duration
	got    atomic.Int64  // payload bytes that fetches have read
	done   chan struct{} // closed when our end is
}

// cast makes the actors of the file.
func (w *world) cast() {
	places := newPlaces()
	for _, p := range w.s.Peers {
		if slices.Contains(w.o.Without, p.Name) {
			places.skip(p)
			continue
		}
		for i := range p.Count {
			id := p.Name
			if p.Count > 1 {
				id = fmt.Sprintf("%s-%d", p.Name, i+1)
			}
			w.actors = append(w.actors, w.newActor(p, id, len(w.actors), places.next(p, i)))
		}
	}
}

func (w *world) newActor(p scenario.Peer, id string, index int, addr netip.Addr) *actor {
	l := w.s.Links[p.Link]
	return &actor{w: w, spec: p, id: id, index: index, addr: addr, link: l, demoted: make(chan struct{}), banished: make(chan struct{}), track: newTrack(l)}
}

// places gives addresses out: from the prefix a peer names, else from a /24 for
// each so many of its kind.
type places struct {
	net  int
	used map[string]netip.Addr
}

func newPlaces() *places { return &places{used: map[string]netip.Addr{}} }

func (p *places) next(spec scenario.Peer, i int) netip.Addr {
	if spec.Group == "" {
		if i%spec.PerGroup == 0 {
			p.net++
		}
		return netip.AddrFrom4([4]byte{10, byte(p.net >> 8), byte(p.net), byte(1 + i%spec.PerGroup)})
	}
	addr, ok := p.used[spec.Group]
	if !ok {
		addr = netip.MustParsePrefix(spec.Group).Masked().Addr() // the file was validated
	}
	p.used[spec.Group] = addr.Next()
	return addr.Next()
}

// skip leaves the addresses of peers unused, so that those of others stay.
func (p *places) skip(spec scenario.Peer) {
	for i := range spec.Count {
		p.next(spec, i)
	}
}

// turn is an instant of the file for this peer: what several do at the same they do in the order of
// the file, a little apart.
func (a *actor) turn(at scenario.Time) time.Duration {
	return time.Duration(at) + time.Duration(a.index)*apart
}

// live is a peer's coming and going.
func (a *actor) live() {
	if a.spec.Join > 0 {
		if !a.w.sleepUntil(a.turn(a.spec.Join)) {
			return
		}
		a.connect()
	}
	for _, l := range a.spec.Leaves {
		if !a.stay(l) {
			return
		}
		a.disconnect()
		if l.Back == 0 || !pause(time.Duration(l.Back), a.w.ctx.Done()) {
			return
		}
		if l.As == "new" {
			a.reborn()
			return
		}
		a.connect()
	}
	a.stay(scenario.Leave{At: scenario.Time(never)})
}

// reborn comes back under another name, and stays.
func (a *actor) reborn() {
	spec := a.spec
	spec.Leaves = nil
	spec.Join = 0
	a.w.mu.Lock()
	b := a.w.newActor(spec, a.id+"~2", len(a.w.actors), a.addr.Next())
	a.w.actors = append(a.w.actors, b)
	a.w.mu.Unlock()
	b.connect()
	b.live()
}

// stay waits until it is time to leave, connecting again where the connection
// breaks. It says whether the run goes on.
func (a *actor) stay(l scenario.Leave) bool {
	left := time.NewTimer(a.turn(l.At) - a.w.now())
	defer left.Stop()
	due, demoted := left.C, a.demoted
	if l.Demoted {
		due = nil
	} else {
		demoted = nil
	}
	for {
		c := a.current()
		var broken <-chan struct{}
		if c != nil {
			broken = c.done
		}
		select {
		case <-a.w.ctx.Done():
			return false
		case <-a.banished:
			a.disconnect()
			return false
		case <-due:
			return true
		case <-demoted:
			return true
		case <-broken:
			a.disconnect()
			if !pause(redialAfter, a.w.ctx.Done()) {
				return false
			}
			a.connect()
		}
	}
}

func (a *actor) current() *connection {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.conn
}

// config is yamux's, patient with slow links, which are the subject here.
func (w *world) config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.MaxStreamWindowSize = uint32(max(w.s.Node.Window, 256<<10))
	c.ConnectionWriteTimeout = time.Hour
	c.StreamOpenTimeout = 0
	c.StreamCloseTimeout = time.Hour
	c.EnableKeepAlive = false
	return c
}

// wholeFrames is the tap that keeps yamux from stopping the virtual clock.
func wholeFrames(c net.Conn) net.Conn { return lab.WholeFrames(c) }

// connect joins both ends by a link and tells the chooser.
func (a *actor) connect() {
	ours, theirs := a.w.pair(a)
	c := &connection{a: a, began: a.w.now(), done: make(chan struct{})}
	c.gate = &gate{Conn: ours, w: a.w, socket: a.index}
	opts := []mux.Option{mux.WithTap(wholeFrames), mux.WithWatcher(a.w.watcher)}
	if !a.w.s.Node.NoHandshake {
		opts = append(opts, mux.WithHandshakeRTT(time.Duration(a.link.RTT)))
	}
	client, err := mux.Client(c.gate, a.w.config(), opts...)
	if err != nil {
		a.w.log.violate(a.id, "our session did not start: %v", err)
		return
	}
	c.client = client
	a.serve(c, theirs)
	a.enter(c)
	a.w.wg.Go(func() { <-client.CloseChan(); close(c.done) })
	a.w.wg.Go(c.takePushes)
	if a.spec.Side != nil {
		a.w.wg.Go(c.side)
	}
}

// enter makes a connection known.
func (a *actor) enter(c *connection) {
	now := a.w.now()
	id, err := a.w.chooser.Join(now, Joining{
		Peer:     ranking.Peer{ID: a.id, Addr: a.addr, Meter: c.client.Meter(), StreamWindow: int64(a.w.config().MaxStreamWindowSize)},
		Measured: c.client.Meter(), Ungated: c.gate.rate, Truth: a.truth, Tested: slope(a.spec.Tested),
	})
	if err != nil {
		a.w.log.violate(a.id, "did not join: %v", err)
		return
	}
	c.id = id
	a.w.mu.Lock()
	a.w.conns[id] = c
	a.w.mu.Unlock()
	a.mu.Lock()
	a.conn = c
	a.mu.Unlock()
	a.w.log.note(Event{Kind: PeerJoined, Peer: a.id})
}

// slope is a rate as s/B, 0 without one.
func slope(r scenario.Rate) burst.SecondsPerByte {
	if r <= 0 {
		return 0
	}
	return burst.SecondsPerByte(1 / r.BytesPerSecond())
}

// disconnect ends the connection, if there is one.
func (a *actor) disconnect() {
	a.mu.Lock()
	c := a.conn
	a.conn = nil
	a.mu.Unlock()
	if c == nil {
		return
	}
	a.w.log.close(c)
	a.w.mu.Lock()
	delete(a.w.conns, c.id)
	a.w.mu.Unlock()
	a.w.chooser.Leave(a.w.now(), c.id)
	c.client.Close()
	c.server.Close()
	a.w.log.note(Event{Kind: PeerLeft, Peer: a.id})
}

// demote tells the peer's life that it is chosen no more.
func (w *world) demote(id string) {
	for _, a := range w.everyone() {
		if a.id == id {
			a.once.Do(func() { close(a.demoted) })
		}
	}
}

// family is the name that a peer has in the file.
func family(id string) string {
	id, _, _ = strings.Cut(id, "~")
	return id
}
