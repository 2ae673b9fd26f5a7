package ranking

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// A meter is told of each fetch once, and of its end once, however it ends.
func TestTheMeterIsTold(t *testing.T) {
	for name, end := range map[string]func(*Fetch, time.Duration){
		"done":     func(f *Fetch, now time.Duration) { f.Done(now, 1e6) },
		"fail":     func(f *Fetch, now time.Duration) { f.Fail(now, Reset) },
		"abort":    func(f *Fetch, now time.Duration) { f.Abort(now) },
		"received": func(f *Fetch, now time.Duration) { f.Received(now) },
	} {
		w := served(t, 1, 1e6)
		a := w.order[0]
		f := w.started(a, Query{Size: 1e6})
		if a.gauge.open != 1 {
			t.Errorf("%s: %d open", name, a.gauge.open)
		}
		f.Progress(w.now+50*ms, 1e6)
		end(f, w.now+50*ms)
		if a.gauge.open != 0 {
			t.Errorf("%s: %d open at the end", name, a.gauge.open)
		}
	}
}

// A fetch is over once; what is said after that changes nothing.
func TestAFetchIsOverOnce(t *testing.T) {
	w := served(t, 1, 1e6)
	p := w.r.peers[w.order[0].id]
	f := w.started(w.order[0], Query{Size: 1e6})
	f.Progress(w.now+100*ms, 1e6)
	f.Done(w.now+120*ms, 0)
	n, failures, got := p.completions, p.penalty.failures, p.bytes
	f.Done(w.now+time.Second, 0)
	f.Fail(w.now+time.Second, Reset)
	f.Abort(w.now + time.Hour)
	f.Progress(w.now+time.Hour, 1e6)
	f.FirstByte(w.now + time.Hour)
	f.Received(w.now + time.Hour)
	if p.completions != n || p.penalty.failures != failures || p.bytes != got || p.outstanding != 0 || len(p.active) != 0 {
		t.Errorf("%+v", p)
	}
	if _, err := f.Add(w.now, Pick{Peer: p.id, Role: Hedge}); err != nil && !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

// Checking and storing are our own time: the clock stops with the last byte.
func TestTheClockStopsWithTheLastByte(t *testing.T) {
	w := served(t, 1, 1e6)
	a := w.order[0]
	before := w.expect(a, 1e6)
	for range 5 {
		f := w.started(a, Query{Size: 1e6})
		f.Progress(w.now+20*ms, 5e5)
		f.Progress(w.now+125*ms, 5e5)
		f.Received(w.now + 125*ms)
		w.now += 30 * time.Second
		f.Done(w.now, 1e6)
	}
	if after := w.expect(a, 1e6); after > before {
		t.Errorf("%v, %v before", after, before)
	}
}

// Our own contention is predicted: two fetches at once from a peer of one link are no excess of its.
func TestOwnContentionIsPredicted(t *testing.T) {
	w := served(t, 1, 4e6)
	a := w.order[0]
	p := w.r.peers[a.id]
	for range 12 {
		f := w.started(a, Query{Datum: "one", Size: 4e6})
		g := w.started(a, Query{Datum: "two", Size: 4e6})
		for i := range 8 { // they share the link
			at := w.now + 20*ms + time.Duration(i+1)*100*ms
			f.Progress(at, 5e5)
			g.Progress(at, 5e5)
		}
		w.now += 820 * ms
		f.Done(w.now, 4e6)
		g.Done(w.now, 4e6)
		w.now += time.Minute
	}
	if p.verdict.Kind != audit.Clear {
		t.Errorf("%s", p.verdict)
	}
	if d := w.expect(a, 4e6); d > 600*ms {
		t.Errorf("alone it is expected in %v", d)
	}
}

// A reply that ends short with no hash to say that this is all is a failure, however fast it came.
func TestAShortReplyIsAFailure(t *testing.T) {
	w := served(t, 1, 1e6)
	a := w.order[0]
	before := w.expect(a, 1e6)
	for range 3 {
		f := w.started(a, Query{Size: 1e6})
		f.Progress(w.now+20*ms, 10)
		f.Done(w.now+21*ms, 0)
	}
	if after := w.expect(a, 1e6); after < 2*before {
		t.Errorf("%v, %v before", after, before)
	}
}

// A failure is scored by how long the datum took in the end.
func TestAFailureCostsWhatItCaused(t *testing.T) {
	after := func(final time.Duration) time.Duration {
		w := served(t, 2, 1e6)
		a, b := w.order[0], w.order[1]
		f := w.started(a, Query{Datum: "d", Size: 1e6})
		f.Fail(w.now+20*ms, Reset)
		g := w.started(b, Query{Datum: "d", Size: 1e6})
		g.Progress(w.now+final, 1e6)
		g.Done(w.now+final, 1e6)
		w.now += 2 * time.Minute
		return w.expect(a, 1e6)
	}
	if quick, slow := after(200*ms), after(time.Minute); slow < 5*quick {
		t.Errorf("expected in %v if it came at once elsewhere, in %v if it took a minute", quick, slow)
	}
}

// One that answers one fetch in four falls with every timeout.
func TestRankFallsWithEveryTimeout(t *testing.T) {
	w := served(t, 1, 1e6)
	a := w.order[0]
	last := w.expect(a, 1e6)
	for i := range 12 {
		if i%4 == 3 {
			a.answer = honest
			w.from(a, 1e6)
			last = w.expect(a, 1e6)
			continue
		}
		f := w.started(a, Query{Size: 1e6})
		w.now += 3 * time.Second
		f.Fail(w.now, TimedOut)
		now := w.expect(a, 1e6)
		if now <= last {
			t.Errorf("timeout %d: %v, %v before", i, now, last)
		}
		last = now
	}
}

// Several connections are one peer; the idler one is used.
func TestSeveralConnections(t *testing.T) {
	w := served(t, 1, 1e6)
	a := w.order[0]
	second := &gauge{}
	second.set(func(r *burst.Reading) { r.BaseRTT = 5 * ms })
	c, err := w.r.Join(w.now, Peer{ID: a.id, Addr: a.addr, Meter: second})
	if err != nil {
		t.Fatal(err)
	}
	if p := w.choose(Query{Size: 1e6}); p.Primary.Conn != c {
		t.Errorf("%v, the newest idle one is %v", p.Primary.Conn, c)
	}
	f := w.started(a, Query{Size: 1e6})
	if second.open != 1 {
		t.Error("not begun over the second")
	}
	if p := w.choose(Query{Size: 1e6}); p.Primary.Conn != a.conn {
		t.Error("put on the busy one")
	}
	if s, _ := w.r.Standing(w.now, a.id, 1); s.BaseRTT != 5*ms {
		t.Errorf("base %v", s.BaseRTT)
	}
	w.leave(a)
	f.Fail(w.now+10*ms, Disconnected)
	if s, _ := w.r.Standing(w.now, a.id, 1); !s.Connected {
		t.Error("not connected, with one left")
	}
	if err := w.r.Leave(w.now, c); err != nil {
		t.Fatal(err)
	}
	if _, err := w.r.Choose(w.now, Query{Size: 1}); !errors.Is(err, ErrNoPeer) {
		t.Error(err)
	}
	if s, err := w.r.Standing(w.now, a.id, 1); err != nil || s.Completions == 0 {
		t.Errorf("the record is gone: %+v %v", s, err)
	}
}

func TestStalePlans(t *testing.T) {
	w := served(t, 1, 1e6)
	p := w.choose(Query{Size: 1e6})
	w.leave(w.order[0])
	if _, err := w.r.Begin(w.now, p); !errors.Is(err, ErrStalePlan) {
		t.Error(err)
	}
	w.join(w.order[0]) // another connection will do
	f, err := w.r.Begin(w.now, p)
	if err != nil {
		t.Fatal(err)
	}
	f.Abort(w.now)
}

// Forged echoes convict by themselves.
func TestForgedEchoes(t *testing.T) {
	w := served(t, 2, 1e6)
	a := w.order[0]
	a.gauge.set(func(r *burst.Reading) { r.Forged = 2 })
	w.r.Poll(w.now)
	if w.r.peers[a.id].demoted {
		t.Error("convicted by two")
	}
	a.gauge.set(func(r *burst.Reading) { r.Forged = 9 })
	w.r.Poll(w.now)
	w.r.Poll(w.now)
	if v := w.r.peers[a.id].verdict; v.Kind != audit.ProvenLie || v.Lie != audit.ForgedEcho {
		t.Errorf("%s", v)
	}
}

// A frozen reader of ours is not the peer's fault.
func TestOurOwnFreezeIsOurs(t *testing.T) {
	w := served(t, 1, 1e6)
	a := w.order[0]
	before := w.expect(a, 1e6)
	for range 10 {
		f := w.started(a, Query{Size: 1e6})
		f.Progress(w.now+20*ms, 5e5)
		a.gauge.set(func(r *burst.Reading) { r.Ours += 3 * time.Second })
		f.Progress(w.now+3100*ms, 5e5)
		w.now += 3100 * ms
		f.Done(w.now, 1e6)
	}
	if v := w.r.peers[a.id].verdict; v.Kind != audit.Clear {
		t.Errorf("%s", v)
	}
	if after := w.expect(a, 1e6); after > before*3/2 {
		t.Errorf("%v, %v before", after, before)
	}
}

// How often a window of ours waits for credit is learnt from completions, and new connections begin with
// it. Our other troubles meanwhile teach nothing, and are not taken for it.
func TestWaitsForOurCreditAreLearnt(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.StreamWindow = 256 << 10 })
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 25e6, rtt: 40 * ms})
	const size = 8e6
	w.reads(a, 25e6, size)
	claim := func() Prediction {
		f := w.started(a, Query{Size: size})
		defer f.Abort(w.now)
		c, _ := f.claimOf()
		return c
	}
	first := claim()
	transfer := func(credit, frozen time.Duration) (ours time.Duration) {
		f := w.started(a, Query{Size: size})
		w.now += first.Total - first.Ramp + credit + frozen
		f.Progress(w.now, size)
		a.gauge.set(func(r *burst.Reading) { r.Credit += credit; r.Ours += credit + frozen })
		f.Done(w.now, size)
		_, ours = f.elapsed(&f.final)
		return ours
	}
	if ours := transfer(2*first.Ramp, 0); ours < first.Ramp*9/10 {
		t.Errorf("before anything is known, %v of %v are ours", ours, 2*first.Ramp)
	}
	transfer(2*first.Ramp, 0)
	learnt := claim()
	known := a.path()
	known.StreamWindow, known.LastWindow = 256<<10, 1<<20
	near(t, "the silences", learnt.Ramp, 2*Predict(size, known).Ramp, 0.05)
	if ours := transfer(learnt.Ramp, 200*ms); ours < 199*ms || ours > 201*ms {
		t.Errorf("of a freeze of 200 ms, %v is ours", ours)
	}
	b := w.add(&actor{id: "b", addr: in(2, 1), rate: 25e6, rtt: 40 * ms})
	if k := w.r.conns[b.conn].windowRounds; k < 1.9 {
		t.Errorf("a new connection begins with %v", k)
	}
}

// ticking is a clock that advances with each look.
func ticking(now *time.Duration, step time.Duration) func() time.Duration {
	return func() time.Duration { *now += step; return *now }
}

// The reader tells its fetch everything.
func TestReader(t *testing.T) {
	w := served(t, 1, 1e6)
	a := w.order[0]
	p := w.r.peers[a.id]
	n := p.completions
	now := w.now
	f := w.started(a, Query{Size: 1e6})
	r := f.Reader(bytes.NewReader(make([]byte, 1e6)), ticking(&now, ms))
	got, err := io.Copy(io.Discard, r)
	if got != 1e6 || err != nil {
		t.Fatalf("%d bytes, %v", got, err)
	}
	if a.gauge.open != 0 {
		t.Error("the meter still runs")
	}
	f.Done(now+time.Minute, 1e6)
	if err := r.Close(); err != nil || p.completions != n+1 || p.penalty.failures != 0 {
		t.Errorf("%v, %d completions, %d failures", err, p.completions-n, p.penalty.failures)
	}
}

// timeout is an error as a net.Conn's.
type timeout struct{}

func (timeout) Error() string { return "i/o timeout" }
func (timeout) Timeout() bool { return true }

// closing is a source that says whether it was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func TestReaderEnds(t *testing.T) {
	whole := bytes.NewReader(make([]byte, 1e6))
	for name, c := range map[string]struct {
		src              io.Reader
		read             int64
		completed, fails int
	}{
		"closed without Done":  {src: whole, read: 1e6, completed: 1},
		"ends short":           {src: bytes.NewReader(make([]byte, 10)), read: 10, fails: 1},
		"empty":                {src: bytes.NewReader(nil), fails: 1},
		"one byte at a time":   {src: iotest.OneByteReader(bytes.NewReader(make([]byte, 100))), read: 100, fails: 1},
		"timeout":              {src: iotest.ErrReader(timeout{}), fails: 1},
		"the system's timeout": {src: iotest.ErrReader(os.ErrDeadlineExceeded), fails: 1},
		"reset":                {src: iotest.ErrReader(errors.New("reset")), fails: 1},
		"cut":                  {src: iotest.ErrReader(io.ErrUnexpectedEOF), fails: 1},
		"data with the end":    {src: iotest.DataErrReader(bytes.NewReader(make([]byte, 1e6))), read: 1e6, completed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := served(t, 1, 1e6)
			p := w.r.peers[w.order[0].id]
			n := p.completions
			now := w.now
			f := w.started(w.order[0], Query{Size: 1e6})
			src := &closing{Reader: c.src}
			r := f.Reader(src, ticking(&now, 100*time.Microsecond))
			if got, _ := io.Copy(io.Discard, struct{ io.Reader }{r}); got != c.read {
				t.Errorf("%d bytes", got)
			}
			if err := r.Close(); err != nil || !src.closed {
				t.Errorf("close: %v, %v", err, src.closed)
			}
			if p.completions-n != c.completed || p.penalty.failures != c.fails || !f.ended {
				t.Errorf("%d completions, %d failures, ended %v", p.completions-n, p.penalty.failures, f.ended)
			}
		})
	}
	for err, want := range map[error]Failure{
		timeout{}: TimedOut, io.ErrUnexpectedEOF: Disconnected, io.ErrClosedPipe: Disconnected, errors.New("x"): Reset,
	} {
		if got := failureOf(err); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
}

// A range that was asked for ends after its bytes, whatever else the stream has; given up in between it
// is given up.
func TestReaderOfARange(t *testing.T) {
	w := served(t, 1, 1e6)
	now := w.now
	k := w.choose(Query{Size: 1e6}).Primary
	k.Bytes, k.bytes = 1000, 1000
	f, err := w.r.Begin(now, Plan{Primary: k})
	if err != nil {
		t.Fatal(err)
	}
	r := f.Reader(bytes.NewReader(make([]byte, 5000)), ticking(&now, ms))
	if n, err := io.Copy(io.Discard, r); n != 1000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	f.Done(now, 0)
	if w.r.peers[k.Peer].penalty.failures != 0 {
		t.Error("a whole range is a failure")
	}

	f = w.started(w.order[0], Query{Size: 1e6})
	now = w.now
	r = f.Reader(bytes.NewReader(make([]byte, 1e6)), ticking(&now, ms))
	if _, err := r.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil || !f.ended {
		t.Errorf("%v %v", err, f.ended)
	}
	if w.r.peers[k.Peer].penalty.failures != 0 {
		t.Error("given up early, and held against the peer")
	}
}

func TestFailureNames(t *testing.T) {
	seen := map[string]bool{}
	for f := range failures + 1 {
		seen[f.String()] = true
	}
	if len(seen) != int(failures)+1 || !seen["unknown"] {
		t.Errorf("%v", seen)
	}
}

// A fetch that taught nothing of it makes nothing of it forgotten.
func TestWaitsForOurCreditAreKept(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.StreamWindow = 256 << 10 })
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 25e6, rtt: 40 * ms})
	b := w.add(&actor{id: "b", addr: in(2, 1), rate: 25e6, rtt: 40 * ms})
	w.reads(a, 25e6, 8e6)
	transfer := func(f *Fetch, n int, took, credit time.Duration) {
		w.now += took
		f.Progress(w.now, n)
		w.actors[f.Peer()].gauge.set(func(r *burst.Reading) { r.Credit += credit; r.Ours += credit })
		f.Done(w.now, 0)
	}
	early := w.choose(Query{Size: 1e4, Exclude: []string{b.id}})
	transfer(w.started(a, Query{Size: 8e6}), 8e6, 4*time.Second, 2*time.Second)
	learnt := w.r.conns[a.conn].windowRounds
	if learnt < 1.5 {
		t.Fatalf("%v was learnt", learnt)
	}
	transfer(w.started(b, Query{Size: 1e4}), 1e4, 40*ms, 0)
	f, err := w.r.Begin(w.now, early)
	if err != nil {
		t.Fatal(err)
	}
	transfer(f, 1e4, 40*ms, 0)
	c := w.add(&actor{id: "c", addr: in(3, 1), rate: 25e6, rtt: 40 * ms})
	if x, y := w.r.conns[a.conn].windowRounds, w.r.conns[c.conn].windowRounds; x != learnt || y != learnt {
		t.Errorf("%v, and %v for a new connection; %v was learnt", x, y, learnt)
	}
}
