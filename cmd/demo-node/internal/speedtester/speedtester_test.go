package speedtester

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
)

// serving starts a node and returns it with its address.
func serving(t *testing.T, cfg node.Config) (*node.Node, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := node.New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); n.Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); <-done })
	return n, l.Addr().String()
}

func willing() *policy.Policy {
	p := policy.Default()
	p.Interval = 0
	return &p
}

func tester(through bool) *Tester {
	us := node.New(node.Config{})
	cfg := Config{Node: us, Direct: true, Test: speedtest.Config{Length: 1200 * time.Millisecond, Rate: 2e6}}
	if through {
		cfg.Exit = us
	}
	return New(cfg)
}

func TestVisit(t *testing.T) {
	n, addr := serving(t, node.Config{Speedtest: willing(), Limit: 50e6})
	h := NewHost(t.Context(), tester(true), filepath.Join(t.TempDir(), "state"))
	p := report.Peer{Name: "n", Address: addr}
	f, out, notice := h.Tell(p, time.Hour)
	if f == nil || out || notice != 0 || f.Limit != 50e6 || f.Phase != report.Before {
		t.Fatalf("told: %+v, %v, %v", f, out, notice)
	}
	runs, before, after := h.Test(p)
	if len(runs) != 2 || runs[0].Setup != report.Direct || runs[1].Setup != report.Through || before == nil || after == nil {
		t.Fatalf("%+v, %v, %v", runs, before, after)
	}
	for _, r := range runs {
		if r.Outcome != report.Measured || r.FromTarget == nil || r.ToTarget == nil || r.Capacity != min(r.FromTarget.Median, r.ToTarget.Median) {
			t.Errorf("%+v", r)
		}
	}
	if f := h.Look(p); f == nil || f.Phase != report.After {
		t.Errorf("looked: %+v", f)
	}
	// From now on it is left alone, whoever asks.
	n.Speedtest().SetOptOut(true)
	moved := n.Speedtest().Counts().Moved
	if f, out, _ := h.Tell(p, 0); f == nil || !out {
		t.Errorf("told after the opt-out: %+v, %v", f, out)
	}
	runs, _, _ = h.Test(p)
	if len(runs) != 1 || runs[0].Outcome != report.OptedOut || n.Speedtest().Counts().Moved != moved {
		t.Errorf("tested after the opt-out: %+v", runs)
	}
	if h.Interrupted() {
		t.Error("interrupted")
	}
}

// TestNotANodeWithTests: one that has no responder, and nobody.
func TestNotANodeWithTests(t *testing.T) {
	_, addr := serving(t, node.Config{})
	h := NewHost(t.Context(), tester(false), "")
	for _, a := range []string{addr, "127.0.0.1:1"} {
		p := report.Peer{Name: "n", Address: a}
		if f, out, _ := h.Tell(p, 0); f != nil || out {
			t.Errorf("%s: told %+v, %v", a, f, out)
		}
		runs, before, after := h.Test(p)
		if len(runs) != 1 || runs[0].Outcome != report.Failed || runs[0].Error == "" || before != nil || after != nil || h.Look(p) != nil {
			t.Errorf("%s: %+v", a, runs)
		}
	}
}

func TestGather(t *testing.T) {
	run := func(w message.Way, rate float64, by report.Limit) speedtest.Run {
		return speedtest.Run{Way: w, Flow: report.Flow{Median: rate}, LimitedBy: by, LowerBound: by != report.ByPeer,
			Streams: 4, Bytes: 10, Elapsed: time.Second, Omitted: time.Second / 4, RTTLoaded: time.Duration(rate)}
	}
	ways := []message.Way{message.FromTarget, message.ToTarget, message.ThroughIn, message.ThroughOut}
	broken := errors.New("broken off")
	got := gather(7, ways, speedtest.Result{RTTIdle: time.Second, Runs: []speedtest.Run{
		run(message.FromTarget, 5, report.ByPeer), run(message.ToTarget, 3, report.ByCPU), run(message.ThroughIn, 4, report.ByPeer),
	}}, broken)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	d, th := got[0], got[1]
	if d.Setup != report.Direct || d.Capacity != 3 || d.LimitedBy != report.ByCPU || !d.LowerBound || d.Bytes != 20 || d.Seconds != 2 || d.Omitted != 0.5 ||
		d.FromTarget.Median != 5 || d.ToTarget.Median != 3 || d.Started != 7 || d.RTTIdle != 1 || d.RTTLoaded != 5e-9 {
		t.Errorf("direct: %+v", d)
	}
	// One way is no figure, whoever broke off: it may be the faster one.
	if th.Setup != report.Through || th.Outcome != report.Failed || th.Capacity != 0 || th.ToTarget != nil || th.FromTarget == nil ||
		th.Bytes != 10 || !strings.Contains(th.Error, "broken off") {
		t.Errorf("through: %+v", th)
	}
	got = gather(7, ways[:2], speedtest.Result{Runs: []speedtest.Run{run(message.FromTarget, 5, report.ByPeer)}}, nil)
	if len(got) != 1 || got[0].Outcome != report.Failed || got[0].Capacity != 0 || !strings.Contains(got[0].Error, "allowed no more") {
		t.Errorf("a peer that allowed one way: %+v", got)
	}
	if len(gather(0, ways, speedtest.Result{}, nil)) != 0 {
		t.Error("a run of nothing")
	}
}

// TestOneWayIsNoFigure: a target that lets itself be measured one way only.
func TestOneWayIsNoFigure(t *testing.T) {
	pol := willing()
	pol.Runs = 1
	_, addr := serving(t, node.Config{Speedtest: pol})
	runs, _, err := tester(false).Test(t.Context(), "n", addr, 0)
	p := report.Peer{Runs: runs}
	p.Settle()
	if err != nil || p.Outcome != report.Failed || p.Capacity != 0 || len(runs) != 1 || runs[0].FromTarget == nil {
		t.Errorf("%v: %+v", err, p)
	}
}

func TestPrior(t *testing.T) {
	tt := tester(false)
	d := message.Descriptor{}
	d.Advertised, d.Observed = 100, 300
	if got := tt.prior(200, d); got != 300 {
		t.Errorf("%g, want the most that anyone says", got)
	}
	tt.cfg.Test.Limit = 50
	if got := tt.prior(200, d); got != 50 {
		t.Errorf("%g, want our own limit", got)
	}
}

// TestKeepIsAllOrNothing: the old one stays where the new one can't be written.
func TestKeepIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "state")
	for _, text := range []string{"old", "new"} {
		if err := Keep(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); string(got) != text || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if err := Keep(filepath.Join(dir, "missing", "state"), nil); err == nil || !strings.Contains(err.Error(), "cannot keep") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Keep(filepath.Join(dir, "taken"), nil); err == nil {
		t.Error("wrote over a directory")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no lock there")
	}
	file := filepath.Join(t.TempDir(), "state")
	unlock, err := Lock(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Keep(file, []byte("new")); err != nil { // the state is replaced under it
		t.Fatal(err)
	}
	if _, err := Lock(file); !errors.Is(err, ErrLocked) {
		t.Errorf("twice: %v", err)
	}
	if other, err := Lock(file + "2"); err != nil {
		t.Errorf("another campaign: %v", err)
	} else {
		other()
	}
	unlock()
	if again, err := Lock(file); err != nil {
		t.Errorf("after its end: %v", err)
	} else {
		again()
	}
	if _, err := Lock(filepath.Join(file, "x")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("no directory: %v", err)
	}
}
