package ranking

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
)

// gauge is a meter whose reading a test sets.
type gauge struct {
	mu      sync.Mutex
	reading burst.Reading
	open    int
}

func (g *gauge) Reading() burst.Reading {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reading
}

func (g *gauge) Begin() func() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open++
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.open--
	})
}

func (g *gauge) set(f func(r *burst.Reading)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.reading)
}

// course of one reply: when its first byte comes, when its last would, at which byte it stops for ever
// (0 never), and when it fails.
type reply struct {
	first, last time.Duration
	stop        int64
	failAt      time.Duration
	how         Failure
}

// actor is a simulated peer. Its link has a round trip and a rate; what it does with a request is its
// own. Its meter reads what ours would.
type actor struct {
	id   string
	addr netip.Addr
	rtt  time.Duration
	rate float64 // B/s of its link

	answer func(a *actor, n int64, rng *rand.Rand) reply
	reads  float64                  // B/s that its bursts read; 0 takes what it served
	vetted func(served int64) int64 // coverage of a reply; nil takes all of it
	lies   int64                    // says that data have this size; 0 the truth
	holds  time.Duration            // holds echoes by this
	mute   bool                     // its echoes stop with its payload

	conn  Conn
	gauge *gauge
	picks int

	window int64         // of its sender
	sentAt time.Duration // when it sent last
	idle   time.Duration // since then, as a request comes
}

// path is its link when its sender has long been idle.
func (a *actor) path() Path {
	return Path{BaseRTT: a.rtt, Rate: burst.SecondsPerByte(1 / a.rate)}
}

// warm is its link as its sender's window is now.
func (a *actor) warm() Path {
	p := a.path()
	p.LastWindow, p.Idle = a.window, a.idle
	return p
}

// honest serves at line rate, within a few percent.
func honest(a *actor, n int64, rng *rand.Rand) reply {
	t := Predict(n, a.warm())
	noise := 1 + 0.04*rng.Float64()
	return reply{first: a.rtt, last: time.Duration(float64(t.Total) * noise)}
}

// slowed serves everything so many times slower than it could.
func slowed(by float64) func(*actor, int64, *rand.Rand) reply {
	return func(a *actor, n int64, rng *rand.Rand) reply {
		r := honest(a, n, rng)
		r.last = time.Duration(float64(r.last) * by)
		return r
	}
}

func failing(how Failure) func(*actor, int64, *rand.Rand) reply {
	return func(a *actor, _ int64, _ *rand.Rand) reply {
		return reply{first: time.Hour, last: time.Hour, failAt: a.rtt, how: how}
	}
}

// stalling sends part of the reply at line rate and then nothing.
func stalling(part float64) func(*actor, int64, *rand.Rand) reply {
	return func(a *actor, n int64, rng *rand.Rand) reply {
		r := honest(a, n, rng)
		r.stop = max(int64(part*float64(n)), 1)
		return r
	}
}

// world runs fetches over actors in virtual time.
type world struct {
	t      testing.TB
	r      *Ranker
	rng    *rand.Rand
	now    time.Duration
	actors map[string]*actor
	order  []*actor
	data   int
	extra  int64 // bytes beyond the data
}

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Seed = 7
	for _, f := range change {
		f(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, r: r, rng: rand.New(rand.NewPCG(3, 4)), actors: map[string]*actor{}, now: 0}
}

// in is an address of network i, host j.
func in(i, j int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), byte(j)}) }

// add lets an actor join.
func (w *world) add(a *actor) *actor {
	w.t.Helper()
	if a.answer == nil {
		a.answer = honest
	}
	a.gauge = &gauge{}
	a.gauge.set(func(r *burst.Reading) {
		r.BaseRTT, r.P50RTT, r.P95RTT = a.rtt+a.holds, a.rtt+a.holds, a.rtt+a.holds+a.rtt/10
		r.EchoAge = 50 * ms
	})
	w.actors[a.id] = a
	w.order = append(w.order, a)
	w.join(a)
	return a
}

func (w *world) leave(a *actor) {
	w.t.Helper()
	if err := w.r.Leave(w.now, a.conn); err != nil {
		w.t.Fatal(err)
	}
}

// both begins a plan, and another part of it at once.
func (w *world) both(p Plan, more Pick) (f, g *Fetch) {
	w.t.Helper()
	f, err := w.r.Begin(w.now, p)
	if err != nil {
		w.t.Fatal(err)
	}
	if g, err = f.Add(w.now, more); err != nil {
		w.t.Fatal(err)
	}
	return f, g
}

func (w *world) join(a *actor) {
	w.t.Helper()
	c, err := w.r.Join(w.now, Peer{ID: a.id, Addr: a.addr, Meter: a.gauge})
	if err != nil {
		w.t.Fatal(err)
	}
	a.conn = c
}

// honestPeers adds peers of distinct networks: rates in Mbit/s, round trips in ms.
func (w *world) honestPeers(specs ...[2]float64) []*actor {
	var out []*actor
	for i, s := range specs {
		out = append(out, w.add(&actor{
			id: fmt.Sprintf("honest-%02d", i), addr: in(100+i, 1),
			rate: s[0] * 1e6 / 8, rtt: time.Duration(s[1] * float64(ms)),
		}))
	}
	return out
}

// transfer is one part of a fetch in the simulation.
type transfer struct {
	f       *Fetch
	a       *actor
	r       reply
	n       int64
	offset  int64
	began   time.Duration
	got     int64
	over    bool
	heard   time.Duration // when something came last
	asked   time.Duration // when advice was last asked for
	again   time.Duration
	waiting bool // by the user
}

// arrived is how many bytes have come by an instant.
func (x *transfer) arrived(now time.Duration) int64 {
	t := now - x.began
	if t < x.r.first {
		return 0
	}
	n := x.n
	if t < x.r.last && x.r.last > x.r.first {
		n = int64(float64(x.n) * float64(t-x.r.first) / float64(x.r.last-x.r.first))
	}
	if x.r.stop > 0 {
		n = min(n, x.r.stop)
	}
	return min(max(n, 1), x.n)
}

// result of a simulated fetch.
type result struct {
	plan    Plan
	took    time.Duration // until the user had it
	ok      bool
	from    string // whoever completed it
	hedges  int
	advices []Advice
}

// fetch gets a datum the way a good host does.
func (w *world) fetch(size int64, change ...func(*Query)) result {
	w.t.Helper()
	w.data++
	q := Query{Datum: fmt.Sprint("datum ", w.data)}
	for _, a := range w.order {
		if p := w.r.peers[a.id]; p == nil || !p.connected() {
			continue
		}
		s := size
		if a.lies > 0 {
			s = a.lies
		}
		if err := w.r.Offer(w.now, a.id, q.Datum, Size{Bytes: s}); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, f := range change {
		f(&q)
	}
	plan, err := w.r.Choose(w.now, q)
	if err != nil {
		w.t.Fatalf("choose: %v", err)
	}
	return w.run(plan, size)
}

// from fetches from one peer and no other.
func (w *world) from(a *actor, size int64) result {
	w.t.Helper()
	return w.fetch(size, func(q *Query) { q.Exclude = w.allBut(a.id) })
}

func (w *world) allBut(ids ...string) []string {
	var out []string
next:
	for _, a := range w.order {
		for _, id := range ids {
			if a.id == id {
				continue next
			}
		}
		out = append(out, a.id)
	}
	return out
}

func (w *world) begin(f *Fetch, size int64) *transfer {
	p := f.Pick()
	a := w.actors[p.Peer]
	n := size - p.Offset
	if p.Bytes > 0 {
		n = min(n, p.Bytes)
	}
	n = max(n, 1)
	a.picks++
	x := &transfer{f: f, a: a, n: n, offset: p.Offset, began: w.now, heard: w.now, asked: w.now, again: 200 * ms}
	a.idle = w.now - a.sentAt
	x.r = a.answer(a, n, w.rng)
	x.waiting = p.Role != Shadow && p.Role != Exploration
	return x
}

// run fetches a plan.
func (w *world) run(plan Plan, size int64) result {
	w.t.Helper()
	f, err := w.r.Begin(w.now, plan)
	if err != nil {
		w.t.Fatalf("begin: %v", err)
	}
	res := result{plan: plan}
	live := []*transfer{w.begin(f, size)}
	for _, p := range append(append([]Pick{}, plan.Redundant...), plan.Shadow...) {
		if g, err := f.Add(w.now, p); err == nil {
			live = append(live, w.begin(g, size))
		}
	}
	start := w.now
	for len(live) > 0 && w.now-start < time.Hour {
		w.step(live)
		for _, x := range live {
			w.follow(x, &live, &res, start, size)
		}
		kept := live[:0]
		waiting := false
		for _, x := range live {
			if !x.over {
				kept = append(kept, x)
				waiting = waiting || x.waiting
			}
		}
		live = kept
		if !waiting && !res.ok {
			break
		}
	}
	for _, x := range live { // nobody is left to wait for
		x.f.Abort(w.now)
	}
	w.r.Poll(w.now)
	return res
}

// step moves time to the next thing that can happen.
func (w *world) step(live []*transfer) {
	next := w.now + 250*ms
	for _, x := range live {
		for _, d := range []time.Duration{x.r.first, x.r.last, x.r.failAt} {
			if at := x.began + d; d > 0 && at > w.now {
				next = min(next, at)
			}
		}
		next = min(next, w.now+max((x.r.last-x.r.first)/16, ms))
		next = min(next, max(x.asked+x.again, w.now+ms))
	}
	w.now = next
}

// follow lets one transfer go on to now.
func (w *world) follow(x *transfer, live *[]*transfer, res *result, start time.Duration, size int64) {
	if x.over {
		return
	}
	if x.r.failAt > 0 && w.now >= x.began+x.r.failAt {
		x.over = true
		x.f.Fail(w.now, x.r.how)
		if x.waiting && !res.ok {
			w.again(live, res, size)
		}
		return
	}
	if n := x.arrived(w.now); n > x.got {
		x.f.Progress(w.now, int(n-x.got))
		x.got, x.heard = n, w.now
	}
	if x.got >= x.n {
		w.complete(x, live, res, start, size)
		return
	}
	if w.now >= x.asked+x.again {
		w.heed(x, live, res, size)
	}
}

func (w *world) complete(x *transfer, live *[]*transfer, res *result, start time.Duration, size int64) {
	x.over = true
	x.f.Received(w.now)
	x.a.window, x.a.sentAt = x.a.warm().WindowAfter(x.n), w.now
	w.measure(x)
	if !x.waiting {
		x.f.Done(w.now, 0)
		w.extra += x.n
		return
	}
	x.f.Done(w.now, size)
	if !res.ok {
		res.ok, res.took, res.from = true, w.now-start, x.a.id
	} else {
		w.extra += x.n
	}
	for _, y := range *live {
		if !y.over && y.waiting {
			y.over = true
			w.extra += max(y.got-(x.offset-y.offset), 0)
			y.f.Abort(w.now)
		}
	}
}

// measure lets the peer's meter read the reply.
func (w *world) measure(x *transfer) {
	read := x.a.reads
	if read == 0 {
		read = min(float64(x.n)/max((x.r.last-x.r.first).Seconds(), 1e-3), x.a.rate)
		if x.r.last <= Predict(x.n, x.a.path()).Total*11/10 {
			read = x.a.rate // the ramp is left out
		}
	}
	vetted := x.n
	if x.a.vetted != nil {
		vetted = x.a.vetted(x.n)
	}
	x.a.gauge.set(func(r *burst.Reading) {
		e := &r.Estimation
		e.Rate = burst.SecondsPerByte(1 / read)
		e.StandardError = e.Rate / 50
		e.Coverage = max(e.Coverage, vetted)
		e.Bursts++
	})
}

// heed asks for advice and follows it.
func (w *world) heed(x *transfer, live *[]*transfer, res *result, size int64) {
	silence := w.now - x.heard
	x.a.gauge.set(func(r *burst.Reading) {
		r.Silence, r.EchoAge = silence, 50*ms
		if x.a.mute {
			r.EchoAge = silence + 20*ms
		}
	})
	a := x.f.Advice(w.now)
	res.advices = append(res.advices, a)
	x.asked, x.again = w.now, max(a.Again, ms)
	switch a.Kind {
	case Wait:
	case AddHedge:
		if g, err := x.f.Add(w.now, a.To); err == nil {
			res.hedges++
			*live = append(*live, w.begin(g, size))
		}
	case Cancel, ResetConn:
		x.over = true
		if a.To.Peer != "" {
			if g, err := x.f.Add(w.now, a.To); err == nil {
				res.hedges++
				*live = append(*live, w.begin(g, size))
			}
		}
		x.f.Abort(w.now)
	}
}

// again asks another peer after a failure, as a host does.
func (w *world) again(live *[]*transfer, res *result, size int64) {
	var failed []string
	for _, y := range *live {
		if !y.over && y.waiting {
			return // another copy is on its way
		}
		failed = append(failed, y.a.id)
	}
	plan, err := w.r.Choose(w.now, Query{Datum: res.plan.Datum, Exclude: failed})
	if err != nil {
		return
	}
	f, err := w.r.Begin(w.now, plan)
	if err != nil {
		w.t.Fatal(err)
	}
	*live = append(*live, w.begin(f, size))
}

// expect is what the ranker expects of an actor.
func (w *world) expect(a *actor, size int64) time.Duration {
	w.t.Helper()
	s, err := w.r.Standing(w.now, a.id, size)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Expected
}

// ranks is the place of each peer in a ranking, from 0.
func (w *world) ranks(size int64) map[string]int {
	out := map[string]int{}
	for i, s := range w.r.Rank(w.now, size, 1000) {
		out[s.Peer] = i
	}
	return out
}
