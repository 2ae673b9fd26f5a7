package compat

import (
	"context"
	"errors"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// scripted is a Runner that fails in the given runs of each test, counted from 0.
func scripted(calls *atomic.Int32, fails func(test string, run int) bool) Runner {
	runs := map[string]int{}
	lock := make(chan struct{}, 1)
	return func(_ context.Context, test string) Result {
		lock <- struct{}{}
		defer func() { <-lock }()
		calls.Add(1)
		run := runs[test]
		runs[test]++
		if fails(test, run) {
			return Result{Output: test + " failed"}
		}
		return Result{Passed: true}
	}
}

func never(string, int) bool { return false }

func always(string, int) bool { return true }

func TestCompare(t *testing.T) {
	everyFifth := func(_ string, run int) bool { return run%5 == 0 }
	late := func(_ string, run int) bool { return run == 7 }
	once := func(_ string, run int) bool { return run == 0 }
	tests := []struct {
		name          string
		bare, wrapped func(string, int) bool
		known         bool // to be flaky
		good, flaky   bool
		runs          int // of each mode
	}{
		{"sound", never, never, false, true, false, 3},
		{"broken by the shim", never, always, false, false, false, 100},
		{"broken before", always, always, false, true, true, 100},
		{"mended by the shim", always, never, false, true, true, 100},
		{"flaky alike", everyFifth, everyFifth, false, true, true, 100},
		{"flakier wrapped", everyFifth, always, false, false, true, 100},
		{"known to be flaky", never, never, true, true, true, 100},
		{"failed wrapped first, flaky all along", late, once, false, true, true, 100},
		{"failed wrapped once, never bare", never, once, false, false, false, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int32
			p := Plan{Runs: 3, Rate: 100, Patience: time.Minute, Jobs: 2}
			if tt.known {
				p.Flaky = []string{"TestX"}
			}
			all := Compare(context.Background(), []string{"TestX"}, scripted(&calls, tt.bare), scripted(&calls, tt.wrapped), p, nil)
			c := all[0]
			if c.Good() != tt.good || c.Flaky != tt.flaky {
				t.Errorf("good %v, flaky %v, want %v, %v: %v", c.Good(), c.Flaky, tt.good, tt.flaky, c)
			}
			if c.Bare.Runs != tt.runs || c.Wrapped.Runs < tt.runs {
				t.Errorf("%d and %d runs, want %d", c.Bare.Runs, c.Wrapped.Runs, tt.runs)
			}
			if c.Wrapped.Failed > 0 && c.Wrapped.Output == "" {
				t.Error("the output of a failed run is lost")
			}
		})
	}
}

func TestCompareKeepsOrderAndReports(t *testing.T) {
	var calls atomic.Int32
	names := []string{"TestC", "TestA", "TestB", "TestD"}
	var told []string
	all := Compare(context.Background(), names, scripted(&calls, never), scripted(&calls, never),
		Plan{Runs: 2, Jobs: 3, Only: []string{"TestB", "TestC", "TestD"}},
		func(c Comparison) { told = append(told, c.Test) })
	if want := []string{"TestC", "TestB", "TestD"}; !slices.Equal(told, want) || len(all) != 3 {
		t.Errorf("told of %v, want %v", told, want)
	}
	if calls.Load() != 12 {
		t.Errorf("%d runs, want 12", calls.Load())
	}
	if len(names) != 4 || names[1] != "TestA" {
		t.Errorf("the list was changed: %v", names)
	}
}

func TestCompareAlternates(t *testing.T) {
	var order []string
	note := func(mode string) Runner {
		return func(context.Context, string) Result {
			order = append(order, mode)
			return Result{Passed: true}
		}
	}
	Compare(context.Background(), []string{"TestX"}, note("b"), note("w"), Plan{Runs: 4, Jobs: 1}, nil)
	if got := strings.Join(order, ""); got != "bwwbbwwb" {
		t.Errorf("order %s: the second of a pair would always follow the same mode", got)
	}
}

func TestCompareStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	run := func(context.Context, string) Result {
		if n++; n == 5 {
			cancel()
		}
		return Result{}
	}
	Compare(ctx, []string{"TestX"}, run, run, Plan{Runs: 1, Rate: 100, Patience: time.Minute}, nil)
	if n != 5 {
		t.Errorf("%d runs, want none after the fifth", n)
	}
}

func TestPatience(t *testing.T) {
	n := 0
	run := func(context.Context, string) Result { n++; return Result{} }
	all := Compare(context.Background(), []string{"TestX"}, run, run, Plan{Runs: 1, Rate: 1 << 40, Patience: time.Millisecond}, nil)
	if n < 2 || !all[0].Cut || !strings.Contains(all[0].String(), "cut short") {
		t.Errorf("%d runs, %v", n, all[0])
	}
}

func TestUndecided(t *testing.T) {
	for _, tt := range []struct {
		c    Comparison
		want bool
	}{
		{Comparison{Flaky: true, Cut: true, Bare: Tally{Runs: 3, Failed: 2}, P: 0.5}, true},
		{Comparison{Flaky: true, Cut: true, Bare: Tally{Runs: 152, Failed: 33}, P: 0.9}, false},
		{Comparison{Flaky: true, Cut: true, Bare: Tally{Runs: 10, Failed: 1}, P: 0.001}, false}, // worse for sure
		{Comparison{Flaky: true, Bare: Tally{Runs: 3}, P: 1}, false},                            // so few were asked for
		{Comparison{Bare: Tally{Runs: 3}, P: 1}, false},
	} {
		if got := tt.c.Undecided(); got != tt.want || got != strings.Contains(tt.c.String(), "UNDECIDED") {
			t.Errorf("%v: %v, want %v", tt.c, got, tt.want)
		}
	}
}

func TestHooksAreGo(t *testing.T) {
	for _, m := range append(Modes(), Bare) {
		source, err := m.source()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "hook.go", source, parser.AllErrors); err != nil {
			t.Errorf("%s: %v\n%s", m.Name, err, source)
		}
		if got := strings.Contains(source, "mux.Wrap"); got == m.bare {
			t.Errorf("%s wraps: %v", m.Name, got)
		}
		for _, o := range m.Options {
			if strings.Count(source, o) != 1 {
				t.Errorf("%s: option %s is not passed", m.Name, o)
			}
		}
	}
}

func TestModeNamed(t *testing.T) {
	m, err := ModeNamed("async")
	if err != nil || m.Name != "async" || len(m.Options) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := ModeNamed("nonsense"); err == nil || !strings.Contains(err.Error(), "wrapped") {
		t.Errorf("error %v does not name the modes", err)
	}
}

func TestPatched(t *testing.T) {
	in := []byte("return newSession(config, conn, false), nil\nreturn newSession(config, conn, true), nil\n")
	out, err := patched("mux.go", in)
	if err != nil || strings.Count(string(out), "wrapHook(conn)") != 2 {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := patched("mux.go", []byte("package yamux")); !errors.Is(err, ErrUpstreamChanged) {
		t.Errorf("an unknown source was taken: %v", err)
	}
	if out, err := patched("stream.go", in); err != nil || string(out) != string(in) {
		t.Errorf("another file was changed: %s, %v", out, err)
	}
}

func TestBuildElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Build(Bare, false); !errors.Is(err, ErrWrongDirectory) {
		t.Errorf("error %v, want ErrWrongDirectory", err)
	}
}

func TestRepeat(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	third := func(_ context.Context, test string) Result {
		n++
		if n == 7 {
			cancel()
		}
		return Result{Passed: n%3 != 0, Output: test}
	}
	if got, want := Repeat(ctx, "TestX", third, 6), (Tally{Runs: 6, Failed: 2, Output: "TestX"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Repeat(ctx, "TestX", third, 6); got.Runs != 1 {
		t.Errorf("%d runs after the end, want 1", got.Runs)
	}
}

func TestModule(t *testing.T) {
	got := string(module([]byte("module a/bench\n\nrequire x v1\n\nreplace github.com/assay-mux/assay => ../\n"), "/some/where"))
	want := "module yamux.compat\n\nrequire x v1\n\nreplace github.com/assay-mux/assay => /some/where\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The real thing, small: two tests of theirs, on pipes without addresses and on
// TCP and TLS, each with a white-box look at the conn.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles yamux's tests")
	}
	for _, m := range []Mode{Bare, Modes()[0]} {
		s, err := Build(m, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Remove(); err != nil {
				t.Error(err)
			}
		})
		if len(s.Tests) < 30 || !slices.Contains(s.Tests, "TestHalfCloseSessionShutdown") {
			t.Errorf("%s: tests %v", m.Name, s.Tests)
		}
		for name := range Whole() {
			if !slices.Contains(s.Tests, name) {
				t.Errorf("%s is no test of theirs any more", name)
			}
		}
		for _, name := range []string{"TestPing", "TestPing_Timeout"} {
			if r := s.Run(context.Background(), name); !r.Passed || r.Took <= 0 {
				t.Errorf("%s, %s: %+v", m.Name, name, r)
			}
		}
	}
}
