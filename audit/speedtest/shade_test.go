package speedtest_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// datum is the size of what is fetched, in bytes.
const datum = 500_000

// The first byte of a stream says what it is for.
const (
	forFetch = 'f'
	forTest  = 't'
)

// ranked is one end of a session whose other end it ranks, serves, and may test.
type ranked struct {
	session *mux.Session
	test    *speedtest.Responder
	who     policy.Who
	wg      *sync.WaitGroup
}

// Open opens a stream for a speed test.
func (r *ranked) Open() (net.Conn, error) {
	st, err := r.session.OpenStream()
	if err != nil {
		return nil, err
	}
	_, err = st.Write([]byte{forTest})
	return st, err
}

// serve answers the other end.
func (r *ranked) serve() {
	for {
		st, err := r.session.AcceptStream()
		if err != nil {
			return
		}
		r.wg.Go(func() {
			defer st.Close()
			var head [1]byte
			if _, err := io.ReadFull(st, head[:]); err != nil {
				return
			}
			if head[0] == forTest {
				_ = r.test.Serve(context.Background(), st, r.who)
				return
			}
			var n [8]byte
			if _, err := io.ReadFull(st, n[:]); err == nil {
				buf := make([]byte, 16<<10)
				for left := binary.BigEndian.Uint64(n[:]); left > 0; {
					k := min(left, uint64(len(buf)))
					if _, err := st.Write(buf[:k]); err != nil {
						return
					}
					left -= k
				}
			}
		})
	}
}

// fetcher fetches from several peers, and ranks them.
type fetcher struct {
	t      *testing.T
	ranker *ranking.Ranker
	base   time.Time
	peers  map[string]*ranked
	shades map[string]*speedtest.Shade

	mu    sync.Mutex
	picks map[string]int
}

func (f *fetcher) now() time.Duration { return time.Since(f.base) }

// fetch fetches a datum from one peer.
func (f *fetcher) fetch(name string) {
	var others []string
	for n := range f.peers {
		if n != name {
			others = append(others, n)
		}
	}
	f.fetchFrom(others...)
}

// fetchFrom fetches one from whom the ranker chooses, but for those excluded.
func (f *fetcher) fetchFrom(exclude ...string) {
	plan, err := f.ranker.Choose(f.now(), ranking.Query{Size: datum, Exclude: exclude})
	if err != nil {
		f.t.Error(err)
		return
	}
	name := plan.Primary.Peer
	f.mu.Lock()
	f.picks[name]++
	f.mu.Unlock()
	st, err := f.peers[name].session.OpenStream()
	if err != nil {
		f.t.Error(name, err)
		return
	}
	defer st.Close()
	fetch, err := f.ranker.Begin(f.now(), plan)
	if err != nil {
		f.t.Error(name, err)
		return
	}
	st.Write(binary.BigEndian.AppendUint64([]byte{forFetch}, datum))
	reply := fetch.Reader(io.LimitReader(st, datum), f.now)
	defer reply.Close()
	if n, err := io.Copy(io.Discard, reply); n != datum || err != nil {
		f.t.Errorf("%s: %d bytes, %v", name, n, err)
	}
	fetch.Done(f.now(), datum)
}

// all fetches from all peers at once, so often.
func (f *fetcher) all(times int) {
	var wg sync.WaitGroup
	for name := range f.peers {
		wg.Go(func() {
			for range times {
				f.fetch(name)
				time.Sleep(300 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

func (f *fetcher) standing(name string) ranking.Standing {
	s, err := f.ranker.Standing(f.now(), name, datum)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func sessionConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.ConnectionWriteTimeout, c.StreamCloseTimeout, c.StreamOpenTimeout = time.Hour, time.Hour, 0
	return c
}

func sessionOptions() []mux.Option {
	return []mux.Option{
		mux.WithTap(func(c net.Conn) net.Conn { return lab.WholeFrames(c) }), mux.WithWatcher(mux.NewWatcher()),
	}
}

// trunk joins two nodes by a path, and returns what dials over it: each call makes
// both ends of another connection, which shares the path with all others.
func trunk(t *testing.T) (dial func() (a, b net.Conn), stop func()) {
	t.Helper()
	x, y := lab.Pair(lab.Link{Rate: 20 * lab.Mbit, OneWay: 20 * time.Millisecond, SlowStart: true, IdleRestart: true})
	cfg := sessionConfig()
	cfg.MaxStreamWindowSize = 16 << 20
	near, err1 := yamux.Client(lab.WholeFrames(x), cfg)
	far, err2 := yamux.Server(lab.WholeFrames(y), cfg)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	dial = func() (net.Conn, net.Conn) {
		a, err1 := near.Open()
		b, err2 := far.Accept()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	return dial, func() { near.Close(); far.Close() }
}

// ends are the two ends of a session.
type ends struct{ near, far *ranked }

// network is a fetcher with peers, all alike. Each has two sessions over one
// path: one that is ranked, and one for tests.
func network(t *testing.T, names ...string) (f *fetcher, tests map[string]ends, stop func()) {
	t.Helper()
	cfg := ranking.DefaultConfig()
	cfg.StreamWindow = 256 << 10
	r, err := ranking.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	f = &fetcher{t: t, ranker: r, base: time.Now(), peers: map[string]*ranked{}, picks: map[string]int{}, shades: map[string]*speedtest.Shade{}}
	tests = map[string]ends{}
	var closers []func()
	join := func(name string, dial func() (a, b net.Conn)) ends {
		a, b := dial()
		near, err1 := mux.Client(a, sessionConfig(), append(sessionOptions(), mux.WithHandshakeRTT(40*time.Millisecond))...)
		far, err2 := mux.Server(b, sessionConfig(), append(sessionOptions(), mux.WithHandshakeRTT(40*time.Millisecond))...)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		closers = append(closers, func() { near.Close(); far.Close() })
		e := ends{f.end(name, near, &wg), f.end(name, far, &wg)}
		return e
	}
	for i, name := range names {
		dial, end := trunk(t)
		e := join(name, dial)
		f.peers[name], f.shades[name] = e.near, speedtest.NewShade(e.near.session.Meter())
		tests[name] = join(name, dial)
		closers = append(closers, end)
		addr := netip.AddrFrom4([4]byte{192, 0, byte(i), 1})
		if _, err := r.Join(0, ranking.Peer{ID: name, Addr: addr, Meter: f.shades[name]}); err != nil {
			t.Fatal(err)
		}
	}
	return f, tests, func() {
		for _, c := range closers {
			c()
		}
		wg.Wait()
	}
}

// end serves an end of a session. What a test by the other one costs, the ranker
// of the fetcher is told.
func (f *fetcher) end(name string, s *mux.Session, wg *sync.WaitGroup) *ranked {
	f.t.Helper()
	test, err := speedtest.NewResponder(speedtest.ResponderConfig{
		Policy: policy.Default(), Outstanding: func(_ policy.Who, n int64) { f.busy(name, n) },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	e := &ranked{session: s, test: test, who: policy.Who{Identity: name, Group: name}, wg: wg}
	wg.Go(e.serve)
	return e
}

func (f *fetcher) busy(name string, n int64) {
	if err := f.ranker.Busy(name, n); err != nil {
		f.t.Error(err)
	}
}

// use fetches as a user does, from whom the ranker chooses.
func (f *fetcher) use(times int) {
	for range times {
		f.fetchFrom()
		time.Sleep(200 * time.Millisecond)
	}
}

// trial is a test that goes on beside fetches, one way.
type trial struct {
	name string
	way  message.Way
	us   bool // we test the peer, else it tests us
}

var bothDirections = []trial{
	{"we read from it", message.FromTarget, true}, {"we write to it", message.ToTarget, true},
	{"it reads from us", message.FromTarget, false}, {"it writes to us", message.ToTarget, false},
}

// run runs it to its end.
func (x trial) run(t *testing.T, f *fetcher, e ends, shaded bool) {
	tester := e.near
	busy := func(n int64) { f.busy("tested", n) }
	if !x.us {
		tester, busy = e.far, nil
	}
	if shaded {
		end := f.shades["tested"].Test()
		defer end()
	}
	res, err := speedtest.Measure(t.Context(), speedtest.Config{
		Near: tester, Ways: []message.Way{x.way}, Length: 20 * time.Second, Prior: 2.5e6, Outstanding: busy,
	})
	if err != nil || len(res.Runs) != 1 || res.Runs[0].Flow.Median < 1e6 {
		t.Errorf("%s: %+v, %v", x.name, res, err)
	}
}

func say(s ranking.Standing) string {
	return fmt.Sprintf("%v expected, penalty %.2f, calibration %.2f, %.0f B/s, %d failures, %d outstanding, demoted %v, %v",
		s.Expected, s.Penalty, s.Calibration, s.Rate.BytesPerSecond(), s.Failures, s.Outstanding, s.Demoted, s.Verdict)
}

// unmoved says what of a standing differs from another more than chance makes it,
// empty if nothing does.
func unmoved(a, b ranking.Standing) string {
	ratio := b.Expected.Seconds() / a.Expected.Seconds()
	calibration := b.Calibration / a.Calibration
	switch {
	case ratio < 0.9 || ratio > 1.1:
		return fmt.Sprintf("%.2f times as long is expected", ratio)
	case calibration < 0.9 || calibration > 1.1:
		return fmt.Sprintf("calibration is %.2f times what it was", calibration)
	case b.Penalty > a.Penalty*1.05 || b.Demoted || b.Failures > a.Failures || b.Outstanding != a.Outstanding:
		return "it is held against it"
	case b.Verdict.Kind != a.Verdict.Kind:
		return b.Verdict.String()
	}
	return ""
}

// TestATestNeitherHelpsNorHurts: of peers that are alike one is tested, or tests
// us, while users fetch from whom the ranker chooses. They are sent elsewhere, and
// it stands afterwards as it did and as the others do.
func TestATestNeitherHelpsNorHurts(t *testing.T) {
	for _, x := range bothDirections[:max(1, len(bothDirections)/speedtest.Heavy)] {
		bubble.Run(t, func(t *testing.T) {
			f, tests, stop := network(t, "tested", "b", "c", "d", "e")
			defer stop()
			f.all(10)
			before := f.standing("tested")
			clear(f.picks)
			var wg sync.WaitGroup
			wg.Go(func() { x.run(t, f, tests["tested"], true) })
			time.Sleep(100 * time.Millisecond)
			f.use(30)
			if n := f.picks["tested"]; n > 3 { // explored now and then, as anybody
				t.Errorf("%s: %d of 30 fetches went its way", x.name, n)
			}
			wg.Wait()
			time.Sleep(time.Second)
			after := f.standing("tested")
			for name, than := range map[string]ranking.Standing{"before": before, "another": f.standing("b")} {
				if what := unmoved(than, after); what != "" {
					t.Errorf("%s: beside %s, %s\n%s\n%s", x.name, name, what, say(than), say(after))
				}
			}
		})
	}
}

// TestFetchesInTheShade: all is fetched from the one that is tested, as if nobody
// else had it, and that is not held against it; without the shade it is.
func TestFetchesInTheShade(t *testing.T) {
	for _, x := range bothDirections[:max(1, len(bothDirections)/speedtest.Heavy)] {
		for _, shaded := range []bool{true, false} {
			bubble.Run(t, func(t *testing.T) {
				f, tests, stop := network(t, "tested", "b")
				defer stop()
				f.all(10)
				before := f.standing("tested")
				var wg sync.WaitGroup
				wg.Go(func() { x.run(t, f, tests["tested"], shaded) })
				time.Sleep(100 * time.Millisecond)
				f.all(10)
				wg.Wait()
				after := f.standing("tested")
				if what := unmoved(before, after); (what == "") != shaded {
					t.Errorf("%s, shaded %v: %s\n%s\n%s", x.name, shaded, what, say(before), say(after))
				}
			})
		}
	}
}

// fixed is a meter that reads the same.
type fixed struct{ ours time.Duration }

func (m fixed) Reading() burst.Reading { return burst.Reading{Ours: m.ours} }
func (fixed) Begin() func()            { return func() {} }

func TestShadeCountsTheTimeOfTests(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := speedtest.NewShade(fixed{time.Second})
		want := func(d time.Duration) {
			t.Helper()
			if got := s.Reading().Ours; got != time.Second+d {
				t.Errorf("%v, want a second and %v", got, d)
			}
		}
		s.Begin()()
		time.Sleep(time.Minute)
		want(0)
		one := s.Test()
		time.Sleep(time.Second)
		two := s.Test() // at the same time counts once
		want(time.Second)
		time.Sleep(time.Second)
		one()
		one()
		time.Sleep(time.Second)
		want(3 * time.Second)
		two()
		time.Sleep(time.Minute)
		want(3 * time.Second)
	})
}
