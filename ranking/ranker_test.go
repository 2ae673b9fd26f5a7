package ranking

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/burst"
)

func TestConfig(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"MaxPeers":        func(c *Config) { c.MaxPeers = 0 },
		"Band":            func(c *Config) { c.Band = -0.1 },
		"Prior":           func(c *Config) { c.Prior = 0 },
		"DefaultRTT":      func(c *Config) { c.DefaultRTT = 0 },
		"StreamWindow":    func(c *Config) { c.StreamWindow = -1 },
		"DownloadLimit":   func(c *Config) { c.DownloadLimit = -1 },
		"HalfWait":        func(c *Config) { c.HalfWait = 0 },
		"HalfCalibration": func(c *Config) { c.HalfCalibration = 0 },
		"HalfFailure":     func(c *Config) { c.HalfFailure = 0 },
		"HalfGroup":       func(c *Config) { c.HalfGroup = 0 },
		"HalfPeak":        func(c *Config) { c.HalfPeak = 0 },
		"Copies":          func(c *Config) { c.Copies = 0 },
		"MinGroups":       func(c *Config) { c.MinGroups = -1 },
		"HardTimeout":     func(c *Config) { c.HardTimeout = 0 },
		"ChurnShare":      func(c *Config) { c.ChurnShare = 2 },
		"Audit":           func(c *Config) { c.Audit.MinGroups = -1 },
	} {
		c := DefaultConfig()
		change(&c)
		_, err := New(c)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJoinRefuses(t *testing.T) {
	r := fresh(t)
	for name, p := range map[string]Peer{
		"no name":     {Meter: &gauge{}},
		"a long name": {ID: strings.Repeat("x", mostName+1), Meter: &gauge{}},
		"no meter":    {ID: "a"},
	} {
		if _, err := r.Join(0, p); !errors.Is(err, ErrPeer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A group is that of the address, or of the map.
func TestPeersHaveGroups(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.ASNs = func(a netip.Addr) (uint32, bool) { return 64500, a == netip.MustParseAddr("192.0.2.1") }
	})
	for addr, want := range map[string]Group{
		"192.0.2.1": "AS64500", "192.0.2.2": "192.0.2.0/24", "::ffff:192.0.2.3": "192.0.2.0/24", "2001:db8::1": "2001:db8::/48",
	} {
		if _, err := w.r.Join(0, Peer{ID: addr, Addr: netip.MustParseAddr(addr), Meter: &gauge{}}); err != nil {
			t.Fatal(err)
		}
		if s, _ := w.r.Standing(0, addr, 1); s.Group != want {
			t.Errorf("%s is of %s, want %s", addr, s.Group, want)
		}
	}
}

// The order that the index keeps is that of fresh expectations, whatever joined, left, served or
// failed.
func TestRankIsTheOrderOfExpectations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		sizes := []int64{5e3, 1e6, 12e6}
		for i := range rapid.IntRange(1, 90).Draw(rt, "peers") {
			w.add(&actor{
				id: fmt.Sprint("peer ", i), addr: in(i/3, i%3),
				rate: rapid.Float64Range(1e5, 1e8).Draw(rt, "rate"),
				rtt:  time.Duration(rapid.IntRange(1, 300).Draw(rt, "rtt")) * ms,
			})
		}
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			a := rapid.SampledFrom(w.order).Draw(rt, "actor")
			if !w.r.peers[a.id].connected() {
				w.join(a)
			}
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0:
				if err := w.r.Leave(w.now, a.conn); err != nil {
					rt.Fatal(err)
				}
			case 1:
				w.quick(a, 1e6, 2).Fail(w.now, TimedOut)
			case 2:
				w.quick(a, 1e5, 3).Done(w.now, 0)
			default:
				w.quick(a, rapid.SampledFrom(sizes).Draw(rt, "size"), 1).Done(w.now, 0)
			}
			w.now += time.Duration(rapid.IntRange(0, 100).Draw(rt, "ms")) * ms
			n := rapid.SampledFrom(sizes).Draw(rt, "ranked")
			checkOrder(rt, w, n)
		}
	})
}

// quick is a fetch from one peer that took so many times what its link needs, all of which has come.
func (w *world) quick(a *actor, n int64, times float64) *Fetch {
	w.t.Helper()
	f, err := w.r.Begin(w.now, benchPlan(w.r, w.now, a.conn, n))
	if err != nil {
		w.t.Fatal(err)
	}
	w.now += a.rtt
	f.Progress(w.now, 1)
	w.now += time.Duration(float64(truth(a, n)-a.rtt) * times)
	f.Progress(w.now, int(n-1))
	return f
}

func checkOrder(rt *rapid.T, w *world, n int64) {
	var want []Standing
	for _, a := range w.order {
		s, err := w.r.Standing(w.now, a.id, n)
		if err != nil {
			rt.Fatal(err)
		}
		if s.Connected {
			want = append(want, s)
		}
	}
	slices.SortFunc(want, func(a, b Standing) int { return cmp.Compare(a.Expected, b.Expected) })
	got := w.r.Rank(w.now, n, 10)
	if len(got) != min(10, len(want)) {
		rt.Fatalf("%d of %d", len(got), len(want))
	}
	for i, s := range got {
		// What is in between by size, or looked at a little earlier, may differ a little.
		if d := float64(s.Expected) / float64(want[i].Expected); d > 1.25 {
			rt.Fatalf("place %d for %d bytes: %s with %v, the true one is %s with %v", i, n, s.Peer, s.Expected, want[i].Peer, want[i].Expected)
		}
	}
}

// An index finds its way through more peers than it was built for, and through holes.
func TestIndexGrows(t *testing.T) {
	w := newWorld(t)
	for i := range 300 {
		w.add(&actor{id: fmt.Sprint("peer ", i), addr: in(i, 1), rate: 1e7, rtt: time.Duration(300-i) * ms})
		if i%20 == 0 {
			w.r.Rank(w.now, 5e3, 5)
		}
	}
	if got := w.r.Rank(w.now, 5e3, 1)[0].Peer; got != "peer 299" {
		t.Errorf("%s", got)
	}
	for i := 299; i > 150; i-- {
		w.leave(w.order[i])
	}
	if got := w.r.Rank(w.now, 5e3, 1)[0].Peer; got != "peer 150" {
		t.Errorf("%s", got)
	}
	if got := len(w.r.Rank(w.now, 5e3, 1000)); got != 151 {
		t.Errorf("%d of 151", got)
	}
	for n := range int64(40) { // more sizes than are kept in order
		if got := w.r.Rank(w.now, 1<<n, 3); len(got) != 3 {
			t.Fatalf("2^%d: %v", n, got)
		}
	}
	if len(w.r.indices) != mostIndices {
		t.Errorf("%d indices", len(w.r.indices))
	}
}

// A chunk is as large as comes within the time, and no larger.
func TestChunkSizes(t *testing.T) {
	w := newWorld(t)
	for i, a := range w.honestPeers(mixed...) {
		for range 3 {
			w.from(a, 4e6)
		}
		for _, within := range []time.Duration{300 * ms, time.Second, 5 * time.Second} {
			n, err := w.r.ChunkSize(w.now, a.id, within)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				if got := w.expect(a, 1); got <= within {
					t.Errorf("%d: nothing within %v, a byte is expected in %v", i, within, got)
				}
				continue
			}
			if got := w.expect(a, n); got > within+ms {
				t.Errorf("%d: %d bytes within %v are expected in %v", i, n, within, got)
			}
			if got := w.expect(a, n+n/50+2); got < within-ms {
				t.Errorf("%d: more than %d bytes would come within %v: %v", i, n, within, got)
			}
		}
	}
	if _, err := w.r.ChunkSize(0, "nobody", time.Second); !errors.Is(err, ErrUnknownPeer) {
		t.Error(err)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		n    int
		q    float64
		want float64
	}{{1, 0.5, 1}, {1, 0.75, 1}, {2, 0.5, 1}, {2, 0.75, 2}, {3, 0.5, 2}, {4, 0.5, 2}, {4, 0.75, 3}, {5, 0.75, 4}, {8, 0.75, 6}, {4, 0, 1}, {4, 1, 4}} {
		var values []float64
		for i := range c.n {
			values = append(values, float64(c.n-i))
		}
		if got := quantile(values, c.q); got != c.want {
			t.Errorf("the %g quantile of 1 to %d is %g, want %g", c.q, c.n, got, c.want)
		}
	}
}

// The first slow peer does not speak for all strangers. Two of different places do.
func TestOneGroupMakesNoPrior(t *testing.T) {
	w := newWorld(t)
	configured := w.r.Stats(w.now).Prior
	for i, want := range []burst.SecondsPerByte{configured, 1e-5} {
		a := w.add(&actor{id: fmt.Sprint("slow ", i), addr: in(i, 1), rate: 1e5, rtt: 10 * ms})
		for range 3 {
			w.from(a, 1e6)
		}
		w.now += time.Minute
		w.r.Poll(w.now)
		if got := w.r.Stats(w.now).Prior; math.Abs(float64(got/want)-1) > 0.1 {
			t.Errorf("with %d slow groups the prior is %g s/B, want %g", i+1, got, want)
		}
	}
}

// Who has served only what is small is to be tried where what is large is fetched.
func TestSmallCompletionsAreNotEnough(t *testing.T) {
	w := newWorld(t)
	small := w.add(&actor{id: "small", addr: in(1, 1), rate: 1e6, rtt: 10 * ms})
	for range 20 {
		w.from(small, 5000)
	}
	w.r.Poll(w.now)
	if w.trialOf(small) {
		t.Error("to be tried where all that is fetched is small")
	}
	large := w.add(&actor{id: "large", addr: in(2, 1), rate: 1e6, rtt: 10 * ms})
	for range 100 {
		w.from(large, 2e6)
	}
	w.r.Poll(w.now)
	if !w.trialOf(small) || w.trialOf(large) {
		t.Errorf("to be tried: who served 5 kB %v, who served 2 MB %v", w.trialOf(small), w.trialOf(large))
	}
}

// The prior is worse than most groups, and one group of many peers moves it no more than one of few.
func TestThePrior(t *testing.T) {
	w := newWorld(t)
	for i := range 8 {
		a := w.add(&actor{id: fmt.Sprint("peer ", i), addr: in(i, 1), rate: float64(i+1) * 1e6, rtt: 10 * ms})
		for range 2 {
			w.from(a, 4e6)
		}
	}
	w.now += time.Minute
	w.r.Poll(w.now)
	if s := w.r.Stats(w.now).Prior.BytesPerSecond(); s < 1.5e6 || s > 3.5e6 {
		t.Errorf("a prior of %.0f B/s for groups of 1 to 8 MB/s", s)
	}
	before := w.r.Stats(w.now).Prior
	for i := range 50 {
		a := w.add(&actor{id: fmt.Sprint("sybil ", i), addr: in(99, i), rate: 1e8, rtt: 10 * ms})
		w.from(a, 4e6)
	}
	w.now += time.Minute
	w.r.Poll(w.now)
	if after := w.r.Stats(w.now).Prior; after < before/2 {
		t.Errorf("a group of 50 fast peers moved the prior from %v to %v", before, after)
	}
}

func TestStats(t *testing.T) {
	w := served(t, 3, 1e6)
	w.order[0].lies = 5
	w.run(w.fetchPlan(1e6), 1e6)
	s := w.r.Stats(w.now)
	if s.Peers != 3 || s.Connected != 3 || s.Groups != 3 || s.Demoted != 1 || s.Completions < 10 || s.Held != "not_held" {
		t.Errorf("%+v", s)
	}
	if s.Events[Demoted] != 1 || s.Events[SizeLie] != 1 {
		t.Errorf("%v", s.Events)
	}
	if len(w.r.FreeRates()) == 0 || len(w.r.Strata()) == 0 {
		t.Error("no strata, or no free rates")
	}
	if s.Picks[Primary] < 10 {
		t.Errorf("%v", s.Picks)
	}
}

// Events wait in bounded number, and are drained once.
func TestEvents(t *testing.T) {
	r := fresh(t)
	for i := range 5000 {
		r.mu.Lock()
		r.tell(time.Duration(i), Hedged, nil, "d", "why")
		r.mu.Unlock()
	}
	got := r.Events()
	if len(got) > mostEvents || len(got) < mostEvents/2 || got[len(got)-1].At != 4999 {
		t.Errorf("%d events, the last of %v", len(got), got[len(got)-1].At)
	}
	if s := r.Stats(0); s.Dropped+uint64(len(got)) != 5000 || s.Events[Hedged] != 5000 {
		t.Errorf("%d dropped, %d told", s.Dropped, s.Events[Hedged])
	}
	if len(r.Events()) != 0 {
		t.Error("drained twice")
	}
	if s := (Event{Kind: DropNow, Peer: "p", Detail: "why"}).String(); s != "drop_now p: why" {
		t.Error(s)
	}
	seen := map[string]bool{}
	for k := range eventKinds + 1 {
		seen[k.String()] = true
	}
	if len(seen) != int(eventKinds)+1 {
		t.Errorf("%v", seen)
	}
	for role := range Exploration + 2 {
		seen[role.String()] = true
	}
	if len(seen) != int(eventKinds)+1+int(Exploration)+1 {
		t.Errorf("%v", seen)
	}
}

// Plans that are dropped give their trial back.
func TestDroppedPlans(t *testing.T) {
	w := served(t, 2, 1e6)
	w.add(&actor{id: "newcomer", addr: in(50, 1), rate: 1e7, rtt: 20 * ms})
	trials := 0
	for range 3000 {
		w.now += 2 * time.Second
		w.r.Poll(w.now)
		for _, p := range w.choose(Query{Size: 1e6}).Shadow {
			if p.Role == Exploration {
				trials++
			}
		}
	}
	if trials < 20 {
		t.Errorf("%d trials of 3000 choices", trials)
	}
	if len(w.r.pending) > mostPending {
		t.Errorf("%d wait", len(w.r.pending))
	}
}

// All of it may be called from anywhere at once.
func TestConcurrentUse(t *testing.T) {
	r := fresh(t)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			id := fmt.Sprint("peer ", g)
			m := &gauge{reading: burst.Reading{BaseRTT: 20 * ms}}
			var conn Conn
			for i := range 300 {
				now := time.Duration(i) * 50 * ms
				if i%60 == 0 {
					if i > 0 {
						_ = r.Leave(now, conn)
					}
					conn, _ = r.Join(now, Peer{ID: id, Addr: in(g, 1), Meter: m})
				}
				_ = r.Offer(now, id, fmt.Sprint(i/10), Size{Bytes: 1e5})
				p, err := r.Choose(now, Query{Datum: fmt.Sprint(i / 10), Size: 1e5, Critical: i%7 == 0})
				if err != nil {
					continue
				}
				f, err := r.Begin(now, p)
				if err != nil {
					continue
				}
				all.Go(func() { f.Advice(now + 2*time.Second) })
				f.Progress(now+10*ms, 5e4)
				switch rng.IntN(4) {
				case 0:
					f.Fail(now+20*ms, Reset)
				case 1:
					f.Abort(now + 20*ms)
				default:
					f.Progress(now+20*ms, 5e4)
					f.Done(now+20*ms, 1e5)
				}
				r.Poll(now)
				r.Rank(now, 1e5, 5)
				r.Events()
				if i%100 == 50 {
					_, _ = r.Save(now)
					r.Churn(now)
					r.Stats(now)
				}
			}
		})
	}
	all.Wait()
	for id, p := range r.peers {
		if p.outstanding != 0 || len(p.active) != 0 {
			t.Errorf("%s: %d bytes awaited, %d fetches", id, p.outstanding, len(p.active))
		}
	}
	for what := range spendings {
		if n := r.budget.reserved[what]; n != 0 {
			t.Errorf("%d bytes %v are reserved still", n, what)
		}
	}
}

// As many as there are, or none; never fewer for there being many.
func TestRankOfAnyNumber(t *testing.T) {
	w := newWorld(t)
	for i := range 600 {
		w.add(&actor{id: fmt.Sprint("peer ", i), addr: in(i, 1), rate: 1e6, rtt: 20 * ms})
	}
	for most, want := range map[int]int{math.MinInt: 0, -100: 0, -1: 0, 0: 0, 550: 550, 600: 600, math.MaxInt32: 600, math.MaxInt: 600} {
		if got := len(w.r.Rank(w.now, 1e6, most)); got != want {
			t.Errorf("at most %d: %d of 600", most, got)
		}
	}
}

// However much is said to be awaited, it makes nobody look sooner.
func TestBusyDoesNotOverflow(t *testing.T) {
	w := served(t, 1, 1e6)
	before := w.expect(w.order[0], 1e6)
	for range 3 {
		if err := w.r.Busy(w.order[0].id, math.MaxInt64); err != nil {
			t.Fatal(err)
		}
		if got := w.expect(w.order[0], 1e6); got <= before {
			t.Errorf("expected in %v, %v before", got, before)
		}
	}
	if err := w.r.Busy(w.order[0].id, math.MinInt64); err != nil {
		t.Fatal(err)
	}
	if got := w.expect(w.order[0], 1e6); got != before {
		t.Errorf("expected in %v in the end, %v before", got, before)
	}
}
