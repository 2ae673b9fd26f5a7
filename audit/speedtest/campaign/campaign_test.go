package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/audit/speedtest/passive"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

const hour = 3600.0

// killed is what a host panics with where it is killed.
type killed struct{}

// world is a host and the peers that it reaches. It is killed whenever kill says
// so, at each call that it gets.
type world struct {
	now   float64
	kill  func() bool
	saved []byte

	advertised map[string]int64
	out        map[string]bool // opted out
	gone       map[string]bool // not reachable
	control    float64         // what the pre-test measures

	told   map[string]float64
	tested map[string][]float64 // when each was tested to the end
	began  map[string]int
	looked []string
	stop   bool
}

func newWorld() *world {
	return &world{
		now: 1e9, kill: func() bool { return false }, advertised: map[string]int64{}, out: map[string]bool{}, gone: map[string]bool{},
		told: map[string]float64{}, tested: map[string][]float64{}, began: map[string]int{}, control: 1e6,
	}
}

func (w *world) point() {
	if w.kill() {
		panic(killed{})
	}
}

func (w *world) Now() float64      { return w.now }
func (w *world) Interrupted() bool { return w.stop }

func (w *world) Save(b []byte) error {
	w.point()
	if err := w.keeps(b); err != nil {
		return err
	}
	w.saved = b
	w.point()
	return nil
}

// keeps says whether a state has all results that the one saved before has.
func (w *world) keeps(b []byte) error {
	var old, young State
	if err := errors.Join(json.Unmarshal(w.saved, &old), json.Unmarshal(b, &young)); err != nil {
		return err
	}
	for i := range old.Peers {
		for _, r := range old.Peers[i].Runs {
			if !slices.ContainsFunc(young.Peers[i].Runs, func(x report.Run) bool { return x.Started == r.Started && x.Outcome == r.Outcome }) {
				return fmt.Errorf("%s: a result was lost", old.Peers[i].Name)
			}
		}
	}
	return nil
}

func (w *world) figures(p report.Peer) *report.Published {
	if w.gone[p.Name] {
		return nil
	}
	return &report.Published{At: w.now, Figures: passive.Figures{Advertised: w.advertised[p.Name]}}
}

func (w *world) Tell(p report.Peer, _ time.Duration) (*report.Published, bool, time.Duration) {
	w.point()
	f := w.figures(p)
	if _, ok := w.told[p.Name]; !ok && f != nil {
		w.told[p.Name] = w.now
	}
	w.point()
	return f, w.out[p.Name], 0
}

func (w *world) Look(p report.Peer) *report.Published {
	w.point()
	w.looked = append(w.looked, p.Name)
	return w.figures(p)
}

func (w *world) Test(p report.Peer) ([]report.Run, *report.Published, *report.Published) {
	w.point()
	run := report.Run{Started: w.now, Setup: report.Direct}
	switch {
	case w.gone[p.Name]:
		run.Outcome, run.Error = report.Failed, "gone"
		return []report.Run{run}, nil, nil
	case w.out[p.Name]:
		run.Outcome, run.Refusal = report.OptedOut, &report.Refusal{Code: "opted_out"}
		return []report.Run{run}, w.figures(p), w.figures(p)
	}
	before := w.figures(p)
	w.began[p.Name]++
	w.now += 10
	w.point()
	w.now += 10
	run.Outcome, run.Capacity, run.LimitedBy = report.Measured, 1e6, report.ByPeer
	if p.Name == "control" {
		run.Capacity = w.control
	}
	w.tested[p.Name] = append(w.tested[p.Name], w.now)
	w.point()
	return []report.Run{run}, before, w.figures(p)
}

// play runs a campaign to its end, starting it again each time it is killed.
func play(t rapid.TB, w *world, s *State) (*State, Step) {
	t.Helper()
	b, err := s.Save()
	if err != nil {
		t.Fatal(err)
	}
	w.saved = b
	for range 10_000 {
		step, err := life(w)
		switch {
		case err != nil:
			t.Fatal(err)
		case step.Kind == Finished, step.Kind == Stopped:
			s, err := Load(w.saved)
			if err != nil {
				t.Fatal(err)
			}
			return s, step
		}
	}
	t.Fatal("the campaign does not end")
	return nil, Step{}
}

// life is the host from a start to its end, or to a kill: then step is a Wait.
func life(w *world) (step Step, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			w.now += 60
			step = Step{Kind: Wait}
		}
	}()
	s, err := Load(w.saved)
	if err != nil {
		return Step{}, err
	}
	for {
		switch step = s.Next(w.now); step.Kind {
		case Finished, Stopped:
			return step, nil
		case Wait:
			w.point()
			w.now = step.At
		default:
			if err := s.Do(step, w); err != nil {
				return step, err
			}
		}
	}
}

func named(names ...string) (peers []report.Peer) {
	for _, n := range names {
		peers = append(peers, report.Peer{Name: n, Address: n + ":1"})
	}
	return peers
}

func campaign(t rapid.TB, change func(*Plan), peers []report.Peer) *State {
	t.Helper()
	p := Default()
	if change != nil {
		change(&p)
	}
	s, err := New(p, &report.Peer{Name: "control", Address: "c:1", KnownCapacity: 1e6}, peers)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCourse(t *testing.T) {
	w := newWorld()
	w.advertised = map[string]int64{"small": 10, "large": 1000, "middle": 100}
	s, _ := play(t, w, campaign(t, nil, named("small", "large", "middle")))
	for round := range 3 {
		at := func(name string) float64 { return w.tested[name][round] }
		if !(at("large") < at("middle") && at("middle") < at("small")) {
			t.Errorf("round %d: not the largest first: %v", round, w.tested)
		}
		if round > 0 && at("large")-w.tested["small"][round-1] < 23*hour {
			t.Errorf("rounds %d and %d are too close", round-1, round)
		}
	}
	for _, p := range s.Peers {
		if len(p.Runs) != 3 || len(w.tested[p.Name]) != 3 || p.Outcome != report.Measured || p.Capacity != 1e6 {
			t.Errorf("%s: %d runs, %d tests: %+v", p.Name, len(p.Runs), len(w.tested[p.Name]), p)
		}
		if first := w.tested[p.Name][0] - w.told[p.Name]; first < 24*hour {
			t.Errorf("%s was told %.0f s before", p.Name, first)
		}
		var phases []report.Phase
		for i, f := range p.Published {
			phases = append(phases, f.Phase)
			if i > 0 && f.At < p.Published[i-1].At {
				t.Errorf("%s: figures are not in order", p.Name)
			}
		}
		want := []report.Phase{report.Before, report.Before, report.During, report.During, report.During, report.During, report.During, report.After}
		if !slices.Equal(phases, want) {
			t.Errorf("%s: figures were read %v, want %v", p.Name, phases, want)
		}
		last := p.Published[len(p.Published)-1]
		if last.At < w.tested[p.Name][2]+s.Plan.Memory.Seconds() {
			t.Errorf("%s: its last figures still remember the test", p.Name)
		}
	}
	if d := s.Document(); len(d.Peers) != 3 || d.Format != report.Format {
		t.Errorf("%+v", d)
	}
}

// TestNothingLostAndNothingTwice: however often and wherever it is killed, the
// campaign ends; no one is measured twice in a round, not even where the result
// could not be kept; what was saved stays; nobody is tested without notice.
func TestNothingLostAndNothingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		names := []string{"a", "b", "c", "d"}
		for i, n := range names {
			w.advertised[n] = int64(rapid.IntRange(0, 100).Draw(t, "size"))
			w.out[n] = i > 0 && rapid.IntRange(0, 4).Draw(t, "out") == 0
			w.gone[n] = i > 1 && rapid.IntRange(0, 4).Draw(t, "gone") == 0
		}
		s := campaign(t, func(p *Plan) {
			p.Rounds = rapid.IntRange(1, 3).Draw(t, "rounds")
			p.Seed = rapid.Uint64().Draw(t, "seed")
		}, named(names...))
		kills := rapid.IntRange(0, 30).Draw(t, "kills")
		w.kill = func() bool {
			if kills > 0 && rapid.IntRange(0, 5).Draw(t, "kill") == 0 {
				kills--
				return true
			}
			return false
		}
		end, step := play(t, w, s)
		if step.Kind != Finished {
			t.Fatalf("it ended with %v", step.Kind)
		}
		for _, p := range end.Peers {
			checkPeer(t, w, end, p)
		}
	})
}

func checkPeer(t *rapid.T, w *world, s *State, p report.Peer) {
	t.Helper()
	measured := map[int]int{}
	for _, r := range p.Runs {
		if r.Outcome == report.Measured {
			measured[r.Round]++
		}
	}
	for round, n := range measured {
		if n > 1 || round >= s.Plan.Rounds {
			t.Fatalf("%s: %d results in round %d", p.Name, n, round)
		}
	}
	if (w.out[p.Name] || w.gone[p.Name]) && w.began[p.Name] > 0 {
		t.Fatalf("%s was tested", p.Name)
	}
	for i, at := range w.tested[p.Name] {
		if at-w.told[p.Name] < 24*hour {
			t.Fatalf("%s was told %.0f s before its test", p.Name, at-w.told[p.Name])
		}
		if i > 0 && at-w.tested[p.Name][i-1] < 11.9*hour {
			t.Fatalf("%s was tested twice within %.0f s", p.Name, at-w.tested[p.Name][i-1])
		}
	}
	if n := w.began[p.Name]; n > mostTries*s.Plan.Rounds {
		t.Fatalf("%s: %d tests were begun", p.Name, n)
	}
}

// TestEveryKillPoint kills once at each point there is, in turn.
func TestEveryKillPoint(t *testing.T) {
	for at := 0; ; at++ {
		w := newWorld()
		n, done := 0, false
		w.kill = func() bool {
			n++
			done = done || n == at+1
			return n == at+1
		}
		s, step := play(t, w, campaign(t, func(p *Plan) { p.Rounds = 2 }, named("a", "b")))
		if step.Kind != Finished {
			t.Fatalf("killed at %d it ended with %v", at, step.Kind)
		}
		for _, p := range s.Peers {
			rounds := map[int]int{}
			for _, r := range p.Runs {
				if r.Outcome == report.Measured {
					rounds[r.Round]++
				}
			}
			if rounds[0] != 1 || rounds[1] != 1 {
				t.Errorf("killed at %d: %s has results %v", at, p.Name, rounds)
			}
		}
		if !done {
			t.Logf("%d points", at)
			return
		}
	}
}

func TestControlThatIsNotFoundStopsAll(t *testing.T) {
	for got, want := range map[float64]Kind{1e6: Finished, 0.9e6: Finished, 0.88e6: Stopped, 1.2e6: Stopped, 0: Stopped} {
		w := newWorld()
		w.control = got
		s, step := play(t, w, campaign(t, nil, named("a")))
		if step.Kind != want || s.Passed != (want == Finished) || want == Stopped && w.began["a"]+len(w.told) > 0 {
			t.Errorf("control %g: %v, tested %d, told %v", got, step.Kind, w.began["a"], w.told)
		}
	}
}

// TestControlThatIsNotMeasuredIsTriedAgain: one that is down, or that asks for
// patience because we were killed while we tested it, is not one found wrong.
func TestControlThatIsNotMeasuredIsTriedAgain(t *testing.T) {
	s := campaign(t, nil, named("a"))
	if step := s.Next(0); step.Kind != Pretest || step.Peer != TheControl {
		t.Fatalf("%+v", step)
	}
	for _, c := range []struct {
		run   report.Run
		after float64
	}{
		{report.Run{Outcome: report.Failed, Error: "connection refused"}, tellAgain},
		{report.Run{Outcome: report.Refused, Refusal: &report.Refusal{Code: "too_soon", RetryAfter: 12 * hour}}, 12 * hour},
		{report.Run{Outcome: report.Refused, Refusal: &report.Refusal{Code: "busy"}}, tellAgain},
	} {
		if s.Pretested(100, []report.Run{c.run}) {
			t.Errorf("%+v passes", c.run)
		}
		b, _ := s.Save()
		s, err := Load(b)
		if err != nil {
			t.Fatal(err)
		}
		if step := s.Next(99 + c.after); step.Kind != Wait || step.Peer != TheControl || step.At != 100+c.after {
			t.Errorf("%+v: %+v", c.run, step)
		}
		if step := s.Next(100 + c.after); step.Kind != Pretest {
			t.Errorf("%+v: %+v", c.run, step)
		}
	}
	if !s.Pretested(1e6, []report.Run{{Outcome: report.Measured, Capacity: 1e6, LimitedBy: report.ByPeer}}) || s.Next(1e6).Kind != Tell {
		t.Errorf("found right at last: %+v", s.Next(1e6))
	}
}

// TestOptingOutInTheMiddle: from then on it is left alone.
func TestOptingOutInTheMiddle(t *testing.T) {
	w := newWorld()
	s := campaign(t, nil, named("a", "b"))
	w.kill = func() bool { w.out["a"] = w.out["a"] || len(w.tested["a"]) == 1; return false }
	s, _ = play(t, w, s)
	if len(w.tested["a"]) != 1 || len(w.tested["b"]) != 3 || !s.Peers[0].OptedOut || s.Peers[0].Outcome != report.Measured {
		t.Errorf("%v, %+v", w.tested, s.Peers[0])
	}
}

// TestWhoCannotBeToldIsNotTested.
func TestWhoCannotBeToldIsNotTested(t *testing.T) {
	w := newWorld()
	w.gone["a"] = true
	s, _ := play(t, w, campaign(t, nil, named("a", "b")))
	if w.began["a"] != 0 || len(w.tested["b"]) != 3 || s.Document().Peers[0].Outcome != report.Failed {
		t.Errorf("began %v, tested %v, %+v", w.began, w.tested, s.Peers[0])
	}
}

func TestPeersThatWantToBeAskedLater(t *testing.T) {
	s := campaign(t, nil, named("a"))
	s.Passed = true
	s.Told(0, 0, &report.Published{}, false, 30*hour)
	if step := s.Next(0); step.Kind != Wait || step.At != 30*hour {
		t.Errorf("before its notice: %+v", step)
	}
	refuse := func(after float64) {
		s.Begin(0, 30*hour)
		s.Tested(0, 30*hour, []report.Run{{Outcome: report.Refused, Refusal: &report.Refusal{RetryAfter: after}}}, nil)
	}
	refuse(30)
	if step := s.Next(30*hour + 29); step.Kind != Wait || step.At != 30*hour+30 || s.Next(30*hour+30).Kind != Test {
		t.Errorf("after a refusal: %+v", step)
	}
	refuse(20 * hour)
	if s.Visits[0].Round != 1 {
		t.Errorf("refused beyond the round: %+v", s.Visits[0])
	}
	for range mostTries {
		refuse(30)
	}
	if s.Visits[0].Round != 2 {
		t.Errorf("refused again and again: %+v", s.Visits[0])
	}
}

func TestJitter(t *testing.T) {
	p := Default()
	seen := map[string]bool{}
	for seed := range uint64(20) {
		p.Seed = seed
		last := -1.0
		for place := range 50 {
			at := p.slot(1, place)
			if at <= last {
				t.Fatal("the order is not kept")
			}
			last = at
		}
		seen[fmt.Sprint(p.slot(0, 0))] = true
	}
	if len(seen) != 20 {
		t.Errorf("%d instants of 20", len(seen))
	}
}

func TestBadStates(t *testing.T) {
	good, _ := campaign(t, nil, named("a")).Save()
	if _, err := Load(good); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]string{
		"nothing": "", "half": string(good[:len(good)/2]), "no state": "{}", "another version": `{"format":2}`,
		"no visits":                `{"format":1,"peers":[{"name":"a","address":"b"}],"plan":{"rounds":1}}`,
		"nothing to pass":          `{"format":1,"peers":[],"visits":[],"plan":{"rounds":1}}`,
		"a control of no capacity": `{"format":1,"peers":[],"visits":[],"plan":{"rounds":1},"control":{"name":"c","address":"c:1"}}`,
		"below 0":                  `{"format":1,"peers":[{"name":"a","address":"b"}],"visits":[{"round":-1}],"plan":{"rounds":1}}`,
	} {
		if _, err := Load([]byte(b)); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Default(), nil, named("a", "a")); !errors.Is(err, ErrPeers) {
		t.Errorf("twice: %v", err)
	}
	if _, err := New(Plan{}, nil, nil); !errors.Is(err, ErrPlan) {
		t.Errorf("no plan: %v", err)
	}
}

// FuzzLoad: no file makes it panic, and what it takes it can go on with.
func FuzzLoad(f *testing.F) {
	s := campaign(f, nil, named("a", "b"))
	b, _ := s.Save()
	f.Add(b)
	f.Add([]byte(`{"format":1,"peers":[{"name":"a","address":"b"}],"visits":[{"testing":true,"round":99}],"plan":{"rounds":1}}`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		s, err := Load(b)
		if err != nil {
			return
		}
		w := newWorld()
		w.saved, w.stop = b, true
		if step := s.Next(w.now); step.Kind != Wait && step.Kind != Finished && step.Kind != Stopped {
			_ = s.Do(step, w) // what it says of a state that was tampered with is all the same
		}
		s.Document()
	})
}

func TestInterrupted(t *testing.T) {
	w := newWorld()
	w.stop = true
	s := campaign(t, nil, named("a"))
	if err := s.Do(Step{Kind: Tell}, w); !errors.Is(err, ErrInterrupted) || s.Visits[0].Told {
		t.Errorf("%v, %+v", err, s.Visits[0])
	}
}

// TestInterruptedAfterATest: what was measured whole is kept, for the peer lets
// nobody measure it again so soon; what was cut short is not.
func TestInterruptedAfterATest(t *testing.T) {
	for name, c := range map[string]struct {
		outcome report.Outcome
		rounds  int
	}{"whole": {report.Measured, 1}, "cut short": {report.Failed, 0}} {
		w := newWorld()
		w.stop = true
		w.gone["a"] = c.outcome == report.Failed
		s := campaign(t, nil, named("a"))
		s.Passed = true
		s.Told(0, w.now, &report.Published{}, false, 0)
		w.saved, _ = s.Save()
		err := s.Do(Step{Kind: Test}, w)
		saved, loadErr := Load(w.saved)
		if !errors.Is(err, ErrInterrupted) || loadErr != nil {
			t.Fatalf("%s: %v, %v", name, err, loadErr)
		}
		if v, p := saved.Visits[0], saved.Peers[0]; v.Round != c.rounds || p.Outcome != c.outcome || len(p.Runs) != 1 {
			t.Errorf("%s: %+v, %+v", name, v, p)
		}
	}
}
