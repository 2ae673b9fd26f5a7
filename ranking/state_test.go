package ranking

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// lived is a world of honest peers, a convict, one that failed, one pinned, and one never asked.
func lived(t *testing.T) *world {
	t.Helper()
	w := served(t, 3, 1e6)
	liar := w.add(&actor{id: "liar \xff\x00", addr: in(70, 1), rate: 1e7, rtt: 20 * ms, lies: 5})
	w.run(w.fetchPlan(1e6), 1e6)
	w.from(liar, 1e6)
	bad := w.add(&actor{id: "failing", addr: in(71, 1), rate: 1e7, rtt: 20 * ms, answer: failing(Reset)})
	w.from(bad, 1e6)
	if err := w.r.Pin(w.now, "peer 01", true); err != nil {
		t.Fatal(err)
	}
	w.add(&actor{id: "stranger", addr: in(72, 1), rate: 1e7, rtt: 20 * ms})
	return w
}

func (w *world) save() []byte {
	w.t.Helper()
	state, err := w.r.Save(w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

func fresh(t testing.TB, change ...func(*Config)) *Ranker {
	t.Helper()
	return newWorld(t, change...).r
}

// What is known of a peer outlives a restart, on a clock that starts anew.
func TestRestart(t *testing.T) {
	w := lived(t)
	for _, a := range w.order { // a connection's own estimate does not outlive it unaged
		w.leave(a)
	}
	r := fresh(t)
	const base = 5 * time.Second
	if err := r.Load(base, w.save(), 0); err != nil {
		t.Fatal(err)
	}
	for _, a := range w.order {
		was, err := w.r.Standing(w.now, a.id, 1e6)
		if err != nil {
			t.Fatal(err)
		}
		is, err := r.Standing(base, a.id, 1e6)
		if err != nil {
			t.Fatal(err)
		}
		if d := float64(is.Expected) / float64(was.Expected); d < 0.98 || d > 1.02 {
			t.Errorf("%q: expected in %v, %v before", a.id, is.Expected, was.Expected)
		}
		if is.Completions != was.Completions || is.Failures != was.Failures || is.Demoted != was.Demoted ||
			is.Pinned != was.Pinned || is.Group != was.Group || is.Verdict.Kind != was.Verdict.Kind || is.Bytes != was.Bytes {
			t.Errorf("%q:\n%+v\n%+v before", a.id, is, was)
		}
	}
	if s, _ := r.Standing(base, "liar \xff\x00", 1); s.Verdict.Kind != audit.ProvenLie || !s.Demoted {
		t.Errorf("the convict: %s", s.Verdict)
	}
	if g := r.population.groups["10.0.70.0/24"]; g == nil || g.convictions < 0.9 {
		t.Errorf("its group is not remembered: %+v", g)
	}
}

// What ages has aged by the time away, and a clock that jumped back ages nothing; verdicts stand.
func TestTimeAway(t *testing.T) {
	w := lived(t)
	state := w.save()
	expected := func(away time.Duration) (time.Duration, bool) {
		r := fresh(t)
		if err := r.Load(0, state, away); err != nil {
			t.Fatal(err)
		}
		s, err := r.Standing(0, "failing", 1e6)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := r.Standing(0, "liar \xff\x00", 1e6)
		return s.Expected, l.Demoted
	}
	soon, _ := expected(0)
	back, _ := expected(-time.Hour)
	later, demoted := expected(48 * time.Hour)
	never, still := expected(1<<63 - 1)
	if back != soon {
		t.Errorf("%v after a clock went back, %v at once", back, soon)
	}
	if later >= soon || !demoted {
		t.Errorf("%v after two days, %v at once; demoted: %v", later, soon, demoted)
	}
	if never > later || !still {
		t.Errorf("%v after an age", never)
	}
}

// Records of peers that are known already stand.
func TestLoadKeepsWhatIsKnown(t *testing.T) {
	w := lived(t)
	state := w.save()
	v := served(t, 1, 1e6)
	n := v.r.peers["peer 00"].completions
	if err := v.r.Load(v.now, state, 0); err != nil {
		t.Fatal(err)
	}
	if got := v.r.peers["peer 00"].completions; got != n {
		t.Errorf("%d completions, %d before", got, n)
	}
	if v.r.peers["peer 01"] == nil {
		t.Error("the others were left out too")
	}
}

func TestDamagedStates(t *testing.T) {
	state := lived(t).save()
	for name, bad := range map[string][]byte{
		"empty":         nil,
		"text":          []byte("hello\nworld"),
		"cut":           state[:len(state)-1],
		"longer":        append(bytes.Clone(state), ' '),
		"header only":   state[:bytes.IndexByte(state, '\n')+1],
		"other version": bytes.Replace(state, []byte("assay-ranking 1"), []byte("assay-ranking 2"), 1),
		"a bit":         flipped(state, len(state)/2),
		"a long line":   bytes.Repeat([]byte("x"), 1<<16),
	} {
		r := fresh(t)
		if err := r.Load(0, bad, 0); !errors.Is(err, ErrDamagedState) {
			t.Errorf("%s: %v", name, err)
		}
		if s := r.Stats(0); s.Peers != 0 || s.Groups != 0 {
			t.Errorf("%s: it was used in part: %+v", name, s)
		}
	}
}

func flipped(state []byte, at int) []byte {
	out := bytes.Clone(state)
	out[at] ^= 1
	return out
}

// sealed is a body with a header that fits it.
func sealed(body string) []byte {
	return append(fmt.Appendf(nil, stateHeader, stateVersion, crc32.Checksum([]byte(body), castagnoli), len(body)), body...)
}

// A checksum is no proof: every value is looked at.
func TestImpossibleStates(t *testing.T) {
	for name, body := range map[string]string{
		"no json":           `{`,
		"a negative age":    `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","age":-1}]}`,
		"no name":           `{"typical":13,"peers":[{"id":"","group":"Zw=="}]}`,
		"no group":          `{"typical":13,"peers":[{"id":"YQ==","group":""}]}`,
		"twice":             `{"typical":13,"peers":[{"id":"YQ==","group":"Zw=="},{"id":"YQ==","group":"Zw=="}]}`,
		"a class":           `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","waits":[{"class":99,"size":1}]}]}`,
		"a wait of no size": `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","waits":[{"class":1,"size":0}]}]}`,
		"a penalty":         `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","failure":{"value":1e300}}]}`,
		"a calibration":     `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","calibration":[{"value":-1}]}]}`,
		"costs":             `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","costs":[1,2,3]}]}`,
		"a cost":            `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","costs":[-1]}]}`,
		"a rate":            `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","long":{"rate":-1,"coverage":1}}]}`,
		"a group":           `{"typical":13,"groups":[{"name":"","age":0}]}`,
		"convictions":       `{"typical":13,"groups":[{"name":"Zw==","convictions":-1}]}`,
		"the usual size":    `{"typical":1e9}`,
		"the audit's":       `{"typical":13,"peers":[{"id":"YQ==","group":"Zw==","audit":{"forged":-1}}]}`,
	} {
		r := fresh(t)
		if err := r.Load(0, sealed(body), 0); !errors.Is(err, ErrDamagedState) {
			t.Errorf("%s: %v", name, err)
		}
		if len(r.peers) != 0 {
			t.Errorf("%s: used in part", name)
		}
	}
	if err := fresh(t).Load(0, sealed(`{"typical":13,"peers":[{"id":"YQ==","group":"Zw=="}]}`), 0); err != nil {
		t.Errorf("a possible one: %v", err)
	}
}

// At most so many records are kept: never those that were not picked rather than those that were, and
// convicted ones to the last.
func TestRecordsAreBounded(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.MaxPeers = 20 })
	liar := w.add(&actor{id: "convict", addr: in(1, 1), rate: 1e7, rtt: 20 * ms})
	if err := w.r.Offer(0, liar.id, "d", Size{Bytes: 5}); err != nil {
		t.Fatal(err)
	}
	f := w.started(liar, Query{Datum: "d", Size: 1e6})
	f.Progress(w.now+ms, 1e6)
	f.Done(w.now+ms, 1e6)
	for i := range 10 {
		a := w.add(&actor{id: fmt.Sprint("picked ", i), addr: in(2+i, 1), rate: 1e7, rtt: 20 * ms})
		w.from(a, 1e5)
	}
	for _, a := range w.order {
		w.leave(a)
	}
	for i := range 500 {
		c, err := w.r.Join(w.now, Peer{ID: fmt.Sprint("passer-by ", i), Addr: in(99, 1), Meter: &gauge{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.r.Leave(w.now, c); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.r.peers) > 20 {
		t.Fatalf("%d records", len(w.r.peers))
	}
	for _, a := range w.order {
		if w.r.peers[a.id] == nil {
			t.Errorf("%s is forgotten", a.id)
		}
	}
	if n := w.r.auditor.Len(); n > 20 {
		t.Errorf("the audit has %d", n)
	}
	full := newWorld(t, func(c *Config) { c.MaxPeers = 2 })
	full.add(&actor{id: "a", rate: 1, rtt: 1})
	full.add(&actor{id: "b", rate: 1, rtt: 1})
	if _, err := full.r.Join(0, Peer{ID: "c", Meter: &gauge{}}); !errors.Is(err, ErrFull) {
		t.Errorf("all are connected: %v", err)
	}
}

// A state is of a bounded size, and saving one with 10,000 records works.
func TestALargeState(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	r := fresh(t, func(c *Config) { c.MaxPeers = 12_000 })
	for i := range 11_000 {
		g := &gauge{reading: burst.Reading{BaseRTT: 20 * ms}}
		if _, err := r.Join(0, Peer{ID: fmt.Sprint("peer ", i), Addr: in(i/5, i%5), Meter: g}); err != nil {
			t.Fatal(err)
		}
	}
	state, err := r.Save(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if len(state) > 20e6 {
		t.Errorf("%d bytes", len(state))
	}
	back := fresh(t)
	if err := back.Load(0, state, 0); err != nil {
		t.Fatal(err)
	}
	if n := len(back.peers); n != stateMost {
		t.Errorf("%d records", n)
	}
}

// No bytes make Load panic, or take anything in with an error.
func FuzzLoad(f *testing.F) {
	f.Add(sealed(`{"typical":13,"peers":[{"id":"YQ==","group":"Zw=="}]}`))
	f.Add([]byte("assay-ranking 1 00000000 0\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, state []byte) {
		r := fresh(t)
		err := r.Load(0, state, time.Hour)
		if i := bytes.IndexByte(state, '\n'); err != nil && i >= 0 { // its body may still be a state
			err = r.Load(0, sealed(string(state[i+1:])), time.Hour)
		}
		if err != nil {
			if !errors.Is(err, ErrDamagedState) || len(r.peers) > 0 {
				t.Fatalf("%v, %d peers", err, len(r.peers))
			}
			return
		}
		again, err := r.Save(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh(t).Load(0, again, 0); err != nil {
			t.Fatalf("what it saved it refuses: %v", err)
		}
		for id := range r.peers {
			if s, err := r.Standing(0, id, 1e6); err != nil || s.Expected < 0 {
				t.Fatalf("%+v %v", s, err)
			}
		}
	})
}

// What a slow peer says of a huge datum is beyond what a state may hold; it costs nobody the rest of it.
func TestHugeExpectationsAreLoaded(t *testing.T) {
	w := served(t, 3, 1e6)
	slow := w.add(&actor{id: "slow", addr: in(71, 1), rate: 1e7, rtt: 20 * ms})
	w.reads(slow, 300, 1e5)
	if err := w.r.Offer(w.now, slow.id, "huge", Size{Bytes: MaxSize}); err != nil {
		t.Fatal(err)
	}
	f, err := w.r.Begin(w.now, w.choose(Query{Datum: "huge"}))
	if err != nil {
		t.Fatal(err)
	}
	w.now += time.Second
	f.Fail(w.now, Reset)
	p := w.r.peers[slow.id]
	if p.penalty.basis <= century {
		t.Fatalf("%v s were expected: the test shows nothing", p.penalty.basis)
	}
	p.waits.put(9, wait{1, w.now, 1 << 30, 2 * century, 0, 1})
	if err := fresh(t).Load(0, w.save(), 0); err != nil {
		t.Error(err)
	}
}

// A Save that had to wait is given an instant before the last things that happened.
func TestSaveThatHadToWait(t *testing.T) {
	w := lived(t)
	for _, late := range []time.Duration{time.Microsecond, time.Hour} {
		state, err := w.r.Save(w.now - late)
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh(t).Load(0, state, 0); err != nil {
			t.Errorf("%v before: %v", late, err)
		}
	}
}

// However often a clock jumps, ages add up to no more than the next Load takes.
func TestAgesAddUp(t *testing.T) {
	state := lived(t).save()
	for i := range 12 {
		r := fresh(t)
		if err := r.Load(0, state, 1<<63-1); err != nil {
			t.Fatalf("restart %d: %v", i, err)
		}
		var err error
		if state, err = r.Save(time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// An older state, loaded late, makes no conviction forgotten.
func TestLoadKeepsConvictions(t *testing.T) {
	state := served(t, 1, 1e6).save()
	w := served(t, 1, 1e6)
	g := w.r.peers["peer 00"].group
	g.convict(w.now, &w.r.cfg)
	before := g.penalty(w.now, &w.r.cfg)
	if err := w.r.Load(w.now, state, 10*day); err != nil {
		t.Fatal(err)
	}
	if got := g.penalty(w.now, &w.r.cfg); got != before {
		t.Errorf("its group is held for %v, %v before", got, before)
	}
}
