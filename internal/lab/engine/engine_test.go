package engine_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/ranking"
)

// crowd is a scene with something of everything in it, and chance.
const crowd = `
links:
  path: {rate: 20Mbit/s, rtt: 40ms, jitter: 4ms, loss: {random: 0.2%}}
  near: {rate: 30Mbit/s, rtt: 10ms}
peers:
  - {name: honest, count: 6, per_group: 2, link: path}
  - {name: near, link: near}
  - name: pacer
    bad: true
    link: near
    behaviour: [{do: {pace: {burst: 50kB, silence: 1.05s}}}]
  - name: sometimes
    bad: true
    link: near
    behaviour: [{when: {share: 40%}, do: {fail: {how: silent, at: 50%}}}]
  - {name: new, link: near, join: 40s, leaves: [{at: 70s, back: 5s, as: new}]}
workload:
  warmup: {each: 2, sizes: [300kB, 1MB]}
  fetches: 50
  sizes: [200kB, 1MB, 2MB]
  draw: true
  at_once: 3
  every: 4s
  critical: {every: 10, deadline: 3s}
faults:
  - {in_fetch: 20, after: 100ms, freeze: 1s}
`

// TestRepeats: the same seed makes the same picks and verdicts, and the same
// times within 1 %.
func TestRepeats(t *testing.T) {
	a, b := run(t, crowd, engine.Options{Seed: 3}), run(t, crowd, engine.Options{Seed: 3})
	if len(a.Transfers) != len(b.Transfers) || len(a.Events) != len(b.Events) {
		t.Fatalf("%d and %d transfers, events\n%v\n%v", len(a.Transfers), len(b.Transfers), a.Events, b.Events)
	}
	for i, x := range a.Transfers {
		y := b.Transfers[i]
		if x.Peer != y.Peer || x.Role != y.Role || x.End != y.End || x.Verdict != y.Verdict || x.Fetch != y.Fetch {
			t.Fatalf("transfer %d: %+v\nand %+v", i, *x, *y)
		}
	}
	for i, x := range a.Events {
		if y := b.Events[i]; x.Kind != y.Kind || x.Peer != y.Peer || x.Verdict != y.Verdict {
			t.Errorf("event %d: %+v and %+v", i, x, y)
		}
	}
	if math.Abs(a.Wait.Mean/b.Wait.Mean-1) > 0.01 || math.Abs(a.Wait.P95/b.Wait.P95-1) > 0.01 {
		t.Errorf("waits %+v and %+v", a.Wait, b.Wait)
	}
	if c := run(t, crowd, engine.Options{Seed: 4}); picks(c) == picks(a) {
		t.Error("another seed makes the same picks")
	}
}

func picks(r *engine.Result) string {
	var out []string
	for _, x := range r.Transfers {
		out = append(out, x.Peer)
	}
	return strings.Join(out, " ")
}

// TestChoosersMeetTheSameWorld: all see the same data, and nobody waits less than
// the oracle does.
func TestChoosersMeetTheSameWorld(t *testing.T) {
	s := parse(t, crowd)
	s.Without = []string{"pacer"}
	d := playAll(t, s, 5, map[string]engine.New{"round_robin": engine.NewRoundRobin})
	robin := d.Rivals["round_robin"]
	assays, robins := users(d.Assay), users(robin)
	for i, f := range users(d.Oracle) {
		if a, r := assays[i], robins[i]; a.Size != f.Size || r.Size != f.Size || a.Critical != f.Critical {
			t.Fatalf("fetch %d is of %d, %d and %d bytes", i, f.Size, a.Size, r.Size)
		}
	}
	if d.Oracle.Wait.Mean > d.Assay.Wait.Mean*1.02 || d.Assay.Wait.Mean > robin.Wait.Mean {
		t.Errorf("mean waits: oracle %.3f, assay %.3f, round robin %.3f", d.Oracle.Wait.Mean, d.Assay.Wait.Mean, robin.Wait.Mean)
	}
	if p := peer(t, robin, "pacer"); p.Picks.User < 2 {
		t.Errorf("round robin asked the pacer %d times", p.Picks.User)
	}
	if d.Without == nil || len(d.Without.Peers) != len(d.Assay.Peers)-1 {
		t.Error("the run without the pacer has it, or there is none")
	}
	if n := len(d.Slim().Assay.Transfers); n != 0 || len(d.Assay.Transfers) == 0 {
		t.Errorf("a slim document has %d transfers", n)
	}
}

// users are the user's fetches.
func users(r *engine.Result) []*engine.FetchRecord {
	var out []*engine.FetchRecord
	for _, f := range r.Fetches {
		if f.User {
			out = append(out, f)
		}
	}
	return out
}

// TestOracleKnows: the oracle's times are what a fetch takes then.
func TestOracleKnows(t *testing.T) {
	for name, tc := range map[string]string{
		"honest":     "bad: false",
		"pace":       "behaviour: [{do: {pace: {burst: 50kB, silence: 300ms}}}]",
		"rate":       "behaviour: [{do: {rate: 100kB/s}}]",
		"delay":      "behaviour: [{do: {delay: 0ms..2s}}]",
		"late stall": "behaviour: [{do: {stalls: [{at: 99%, for: 1s..3s}]}}]",
		"ramp":       "behaviour: [{do: {rate: 50kB/s, rate_to: 10%}}]",
		"both":       "behaviour: [{do: {rate: 400kB/s, delay: 1s}}, {when: {every: 2}, do: {stalls: [{at: 30%, for: 1s}]}}]",
	} {
		t.Run(name, func(t *testing.T) {
			spy := &spying{}
			text := strings.Replace(one(tc), "  - {name: other, count: 2, link: path}\n", "", 1)
			r := run(t, strings.Replace(text, "warmup: {each: 10, sizes: [1MB], every: 1s}", "fetches: 10\n  sizes: [1MB, 300kB]\n  every: 20s", 1), engine.Options{
				New: func(engine.Setting) (engine.Chooser, error) { return engine.NewSimple(spy), nil },
			})
			for i, x := range r.Transfers {
				if want := spy.said[i].Seconds(); math.Abs(x.Took/want-1) > 0.05 {
					t.Errorf("%d: took %.3f s, the oracle says %.3f", i, x.Took, want)
				}
			}
		})
	}
}

// spying notes what the oracle would be told.
type spying struct{ said []time.Duration }

func (*spying) Name() string                        { return "spying" }
func (*spying) Learn(time.Duration, engine.Outcome) {}
func (s *spying) Pick(now time.Duration, w engine.Want, c []engine.Candidate) int {
	s.said = append(s.said, c[0].Truth(now, engine.Ask{Datum: w.Number, Ahead: c[0].Outstanding}))
	return 0
}

// TestCandidates: a rule is told what rivals rank by.
func TestCandidates(t *testing.T) {
	var mu sync.Mutex
	var last []engine.Candidate
	rule := watching(func(c []engine.Candidate) int {
		mu.Lock()
		defer mu.Unlock()
		last = c
		return len(c) - 1
	})
	text := `
links:
  path: {rate: 20Mbit/s, rtt: 40ms}
peers:
  - {name: a, link: path, claims: {factor: 0.5}}
  - {name: b, link: path, behaviour: [{when: {every: 2}, do: {fail: {how: not_found}}}]}
workload:
  warmup: {each: 4, sizes: [1MB], every: 3s}
  fetches: 3
  sizes: [1MB]
  every: 5s
`
	run(t, text, engine.Options{New: func(engine.Setting) (engine.Chooser, error) { return engine.NewSimple(rule), nil }})
	if len(last) != 2 {
		t.Fatalf("%d candidates", len(last))
	}
	a, b := last[0], last[1]
	if a.Advertised != 500_000 || b.Advertised != 1_000_000 {
		t.Errorf("advertised %d and %d", a.Advertised, b.Advertised)
	}
	if a.RTT < 39*time.Millisecond || a.RTT > 45*time.Millisecond {
		t.Errorf("RTT %v", a.RTT)
	}
	if rate := a.Ungated() * 8; math.Abs(rate/20e6-1) > 0.2 {
		t.Errorf("ungated rate %.0f bit/s", rate)
	}
	if a.Completions != 4+1 || b.Failures != 3 || b.Completions != 3 || a.Outstanding != 0 || a.Transfers != 0 {
		t.Errorf("a %d completed, b %d completed and %d failed; a owes %d", a.Completions, b.Completions, b.Failures, a.Outstanding)
	}
	if a.Last.Took < 400*time.Millisecond || a.Last.First < 40*time.Millisecond || a.Last.Bytes != 1_000_000 || a.Last.Failed {
		t.Errorf("last %+v", a.Last)
	}
}

type watching func([]engine.Candidate) int

func (watching) Name() string                        { return "watching" }
func (watching) Learn(time.Duration, engine.Outcome) {}
func (w watching) Pick(_ time.Duration, _ engine.Want, c []engine.Candidate) int {
	return w(c)
}

// TestObserver: a live view is told what happens, in order.
func TestObserver(t *testing.T) {
	var events []engine.Event
	r := run(t, one("behaviour: [{do: {fail: {how: silent}}}]"), engine.Options{Observe: func(e engine.Event) { events = append(events, e) }})
	count := map[engine.EventKind]int{}
	last := time.Duration(0)
	for _, e := range events {
		count[e.Kind]++
		if e.At < last {
			t.Errorf("%v after %v", e.At, last)
		}
		last = e.At
		if e.Kind.String() == "" {
			t.Errorf("%+v has no name", e)
		}
	}
	if count[engine.PeerJoined] != 3 || count[engine.FetchBegan] != 30 || count[engine.FetchEnded] != 30 ||
		count[engine.TransferBegan] != len(r.Transfers) || count[engine.TransferEnded] != len(r.Transfers) || count[engine.TransferAdvised] == 0 {
		t.Errorf("%v", count)
	}
}

// TestRealTime: outside a bubble the same runs in real time.
func TestRealTime(t *testing.T) {
	s := parse(t, strings.Replace(crowd, "fetches: 50", "fetches: 2", 1))
	s.Peers = s.Peers[1:2]
	s.Peers = append(s.Peers, scenario.Peer{Name: "second", Count: 1, PerGroup: 1, Link: "near", Frame: 16 << 10})
	s.Workload.Warmup, s.Faults, s.Workload.Every, s.Workload.Sizes = nil, nil, 0, []scenario.Size{50_000}
	began := time.Now()
	r, err := engine.Run(t.Context(), s, engine.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Wait.Count != 2 || r.Failed > 0 || len(r.Violations) > 0 {
		t.Errorf("%+v %+v", r.Wait, r.Violations)
	}
	if took := time.Since(began); math.Abs(took.Seconds()-r.Seconds) > 1 {
		t.Errorf("%v for %.3f s", took, r.Seconds)
	}
}

// TestCancelled: a run ends when it is told to, and leaves nothing.
func TestCancelled(t *testing.T) {
	cause := errors.New("enough")
	s := parse(t, crowd)
	bubble.Run(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(25*time.Second, func() { cancel(cause) })
		began := time.Now()
		r, err := engine.Run(ctx, s, engine.Options{Seed: 1})
		if r != nil || !errors.Is(err, cause) || time.Since(began) > 40*time.Second {
			t.Errorf("%v, %v after %v", r, err, time.Since(began))
		}
		synctest.Wait()
	})
}

// TestNoChooser: what can't be made is said.
func TestNoChooser(t *testing.T) {
	s := parse(t, crowd)
	broken := errors.New("broken")
	_, err := engine.Run(t.Context(), s, engine.Options{New: func(engine.Setting) (engine.Chooser, error) { return nil, broken }})
	if !errors.Is(err, engine.ErrRun) || !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestSettings: what the file says of our node reaches the chooser.
func TestSettings(t *testing.T) {
	s := parse(t, strings.Replace(one("bad: true"), "links:", "node: {window: 1MiB, ingress: 8Mbit/s, knows_ingress: true, dry: true, copies: 3}\nlinks:", 1))
	want := engine.Setting{Seed: 9, Window: 1 << 20, DownloadLimit: 1_000_000, Dry: true, Copies: 3}
	_, _ = engine.Run(t.Context(), s, engine.Options{Seed: 9, New: func(got engine.Setting) (engine.Chooser, error) {
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		return nil, ranking.ErrConfig
	}})
}

// TestPlayTogetherInRealTime: outside a bubble the runs of a play may go on at the
// same time; an observer sees each of the user's fetches wished for, planned and
// ended, and can look into the chooser.
func TestPlayTogetherInRealTime(t *testing.T) {
	s := parse(t, `
links: {near: {rate: 100Mbit/s, rtt: 4ms}}
peers: [{name: honest, count: 2, link: near}]
workload: {warmup: {each: 1, sizes: [50kB]}, fetches: 8, sizes: [50kB], every: 60ms}
`)
	seen := map[engine.EventKind]int{}
	made := 0
	began := time.Now()
	d, err := engine.Play(t.Context(), s, engine.PlayOptions{
		Seed: 1, Together: true,
		New: func(set engine.Setting) (engine.Chooser, error) { made++; return engine.NewAssay(set) },
		Observe: func(e engine.Event) {
			if e.User {
				seen[e.Kind]++
			}
			if e.Kind == engine.FetchPlanned && (e.Text == "" || e.Peer == "" || e.Bytes != 50_000) {
				t.Errorf("planned: %+v", e)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if took, sum := time.Since(began).Seconds(), d.Assay.Seconds+d.Oracle.Seconds; took > 0.9*sum {
		t.Errorf("two runs took %.2f s, of %.2f s in all: one after the other", took, sum)
	}
	if made != 1 || seen[engine.FetchBegan] != 8 || seen[engine.FetchPlanned] < 8 || seen[engine.FetchEnded] != 8 || seen[engine.TransferBegan] < 8 {
		t.Errorf("%d choosers, events %v", made, seen)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err := engine.Play(ctx, s, engine.PlayOptions{Together: true}); err == nil || err.Error() != "enough" {
		t.Errorf("interrupted: %v", err)
	}
}
