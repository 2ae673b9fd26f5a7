package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/internal/lab/kernelstudy"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

const (
	// identities is how many there are to come back as. The ranker's records are
	// as many in the end, so that their growth ends.
	identities = 64
	// shortest and longest are how long a peer stays.
	shortest, longest = 3 * time.Second, 15 * time.Second
	// patience is how long a fetch may take.
	patience = 5 * time.Second
)

// world is a soak under way.
type world struct {
	o    options
	net  *kernelpath.Net
	host *kernelstudy.Host
	end  context.Context

	fetched, failed, stays atomic.Int64

	mu     sync.Mutex
	conns  map[*conn]bool // guarded by mu
	faults map[string]int // guarded by mu
}

// conn is one stay of one peer.
type conn struct {
	id      string
	how     manner
	session *mux.Session
	slot    int
}

// soak runs all of it and returns what was violated.
func soak(o options, out io.Writer) (faults []string, err error) {
	before := take()
	w := &world{o: o, conns: make(map[*conn]bool), faults: make(map[string]int)}
	trail, err := w.run(out)
	if err != nil {
		return nil, err
	}
	after := settled(before)
	fmt.Fprintf(out, "before %v; after %v; %d fetches, %d failed, %d stays\n", before, after, w.fetched.Load(), w.failed.Load(), w.stays.Load())
	faults = append(trail.growth(), after.left(before)...)
	for what, n := range w.faults {
		faults = append(faults, fmt.Sprintf("%s (%d times)", what, n))
	}
	if w.fetched.Load() == 0 {
		faults = append(faults, "nothing was fetched, so nothing was seen")
	}
	return faults, nil
}

func (w *world) run(out io.Writer) (t trail, err error) {
	cfg := kernelpath.Config{Seed: w.o.seed, Paths: make([]kernelpath.Path, w.o.peers)}
	if w.net, err = kernelpath.Start(cfg); err != nil {
		return t, err
	}
	defer w.net.Close()
	rc := ranking.DefaultConfig()
	rc.Seed, rc.StreamWindow = w.o.seed, window
	if w.host, err = kernelstudy.NewHost(rc); err != nil {
		return t, err
	}
	w.host.Limit = patience
	defer w.host.Close()
	var cancel context.CancelFunc
	w.end, cancel = context.WithTimeout(context.Background(), w.o.length)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range w.o.peers {
		wg.Go(func() { w.peer(i) })
	}
	for i := range w.o.workers {
		wg.Go(func() { w.fetch(i) })
	}
	t = w.watch(out)
	return t, nil
}

// rest waits, and says whether there is time left.
func (w *world) rest(d time.Duration) bool {
	select {
	case <-w.end.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// random is a source for one goroutine.
func (w *world) random(stream int) *rand.Rand { return rand.New(rand.NewPCG(w.o.seed, uint64(stream))) }

// peer lets one peer after the other stay in a slot.
func (w *world) peer(slot int) {
	r := w.random(slot)
	for w.rest(time.Duration(r.Int64N(int64(time.Second)))) {
		if err := w.stay(r, slot); err != nil && w.end.Err() == nil {
			w.fault("a peer could not join: %v", err)
		}
	}
}

// joinLimit is how long a connect may take. Its path loses nothing meanwhile: in a spell of losses,
// which lasts for so many packets, a connect that sends one in a second would not come about.
const joinLimit = 5 * time.Second

// stay is one peer's, over a path of its own.
func (w *world) stay(r *rand.Rand, slot int) error {
	rtt := time.Duration(5+r.IntN(100)) * time.Millisecond
	rate := lab.BitRate(4+r.IntN(20)) * lab.Mbit
	way := path(r, rtt, rate)
	if err := w.net.Set(slot, way.WithLoss(kernelpath.Loss{})); err != nil {
		return err
	}
	l, err := w.net.Peer(slot).Listen(context.Background(), "")
	if err != nil {
		return err
	}
	c := &conn{id: fmt.Sprint("peer ", r.IntN(identities)), how: drawManner(r), slot: slot}
	s := startServer(l, c.how, r.IntN(2) == 0)
	defer s.close()
	ctx, cancel := context.WithTimeout(context.Background(), joinLimit)
	defer cancel()
	tcp, took, err := w.net.Hub().DialTimed(ctx, l.Addr().String(), "")
	if err != nil {
		return err
	}
	if err := w.net.Set(slot, way); err != nil {
		tcp.Close()
		return err
	}
	if c.session, err = mux.Client(tcp, kernelstudy.Config(window), mux.WithHandshakeRTT(took)); err != nil {
		tcp.Close()
		return err
	}
	defer c.session.Close()
	id, err := w.host.Join(c.id, netip.AddrFrom4([4]byte{198, 18, byte(slot), 1}), c.session, window)
	if err != nil {
		return err
	}
	defer w.host.Leave(id)
	w.stays.Add(1)
	w.note(c, true)
	defer w.note(c, false)
	// Half of the stays see their path change.
	until := shortest + time.Duration(r.Int64N(int64(longest-shortest)))
	if w.rest(until/2) && r.IntN(2) == 0 {
		if err := w.net.Set(slot, path(r, rtt*2, rate/2)); err != nil {
			return err
		}
	}
	w.rest(until / 2)
	w.check(c)
	return nil
}

// path has loss now and then, random or in spells.
func path(r *rand.Rand, rtt time.Duration, rate lab.BitRate) kernelpath.Path {
	p := kernelpath.Symmetric(rtt, rate)
	switch r.IntN(4) {
	case 0:
		return p.WithLoss(kernelpath.Loss{Random: 0.002})
	case 1:
		return p.WithLoss(kernelpath.Loss{Enter: 0.0005, Leave: 0.1, InBad: 0.8})
	}
	return p
}

func (w *world) note(c *conn, here bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if here {
		w.conns[c] = true
	} else {
		delete(w.conns, c)
	}
}

// fetch fetches one after the other.
func (w *world) fetch(worker int) {
	r := w.random(1000 + worker)
	for w.rest(20 * time.Millisecond) {
		_, err := w.host.Fetch(ranking.Query{Size: int64(10_000) << r.IntN(6)})
		if err != nil {
			w.failed.Add(1)
			continue
		}
		w.fetched.Add(1)
	}
}

// fault counts what must not be.
func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults[fmt.Sprintf(format, args...)]++
}
