package main

import (
	"errors"
	"strings"
	"testing"
)

// script builds events from lines "action test", of package p.
func script(lines ...string) []event {
	var events []event
	for _, line := range lines {
		action, rest, _ := strings.Cut(line, " ")
		e := event{Action: action, Package: "p", Test: rest}
		if test, text, ok := strings.Cut(rest, ": "); ok {
			e.Test, e.Output = test, text+"\n"
		}
		events = append(events, e)
	}
	return events
}

func TestTally(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []event
		want   counts
		shows  []string // in this order
		hides  string
	}{
		{
			name:   "pass",
			events: script("run TestA", "output TestA: quiet", "pass TestA", "pass "),
			want:   counts{passed: 1},
			shows:  []string{"ok   p 0.0s: 1 passed, 0 failed, 0 skipped\n"},
			hides:  "quiet",
		},
		{
			name:   "skip with its reason",
			events: script("run TestA", "output TestA: no kernel", "skip TestA", "pass "),
			want:   counts{skipped: 1},
			shows:  []string{"SKIP p TestA\nno kernel\n", "ok   p"},
		},
		{
			name:   "fail with what it printed",
			events: script("run TestA", "output TestA: === RUN TestA", "output TestA: got 1", "fail TestA", "fail "),
			want:   counts{failed: 1},
			shows:  []string{"FAIL p TestA\ngot 1\n", "FAIL p 0.0s"},
			hides:  "=== RUN",
		},
		{
			name:   "subtests count in their parent's place",
			events: script("run TestA", "run TestA/x", "run TestA/y", "pass TestA/x", "skip TestA/y", "pass TestA", "pass "),
			want:   counts{passed: 1, skipped: 1},
		},
		{
			name:   "a failed subtest counts once",
			events: script("run TestA", "run TestA/x", "run TestA/x/y", "fail TestA/x/y", "fail TestA/x", "fail TestA", "fail "),
			want:   counts{failed: 1},
		},
		{
			name:   "a slash in a subtest's own name begins no test",
			events: script("run TestA", "run TestA/x/y", "pass TestA/x/y", "pass TestA", "run TestB", "fail TestB", "fail "),
			want:   counts{passed: 1, failed: 1},
			hides:  "TestA",
		},
		{
			name:   "a parent that fails by itself counts",
			events: script("run TestA", "run TestA/x", "pass TestA/x", "fail TestA", "fail "),
			want:   counts{passed: 1, failed: 1},
		},
		{
			name:   "a fuzz target counts once",
			events: script("run FuzzA", "run FuzzA/seed#0", "run FuzzA/seed#1", "pass FuzzA/seed#0", "pass FuzzA/seed#1", "pass FuzzA", "pass "),
			want:   counts{passed: 1},
		},
		{
			name:   "a fuzz target that fails in a seed counts once",
			events: script("run FuzzA", "run FuzzA/seed#0", "output FuzzA/seed#0: bad", "fail FuzzA/seed#0", "fail FuzzA", "fail "),
			want:   counts{failed: 1},
			shows:  []string{"bad"},
		},
		{
			name:   "a test cut off by the time limit failed",
			events: script("run TestA", "run TestA/x", "output TestA/x: panic: test timed out", "fail "),
			want:   counts{failed: 1},
			shows:  []string{"panic: test timed out"},
		},
		{
			name:   "a package that fails outside its tests",
			events: script("run TestA", "pass TestA", "output : goroutines leaked", "fail "),
			want:   counts{passed: 1, failed: 1},
			shows:  []string{"goroutines leaked"},
		},
		{
			name: "a package that does not build",
			events: []event{
				{Action: "build-output", ImportPath: "p [p.test]", Output: "undefined: x\n"},
				{Action: "build-output", ImportPath: "q [q.test]", Output: "another's\n"},
				{Action: "build-fail", ImportPath: "p [p.test]"},
				{Action: "start", Package: "p"},
				{Action: "fail", Package: "p", FailedBuild: "p [p.test]"},
			},
			want:  counts{failed: 1},
			shows: []string{"undefined: x"},
			hides: "another's",
		},
		{
			name:   "a package without tests",
			events: script("start ", "output : no test files", "skip "),
			hides:  "p",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			tally := newTally(&out)
			for _, e := range tc.events {
				tally.add(e)
			}
			if tally.counts != tc.want {
				t.Errorf("counted %v, want %v", tally.counts, tc.want)
			}
			expectOutput(t, out.String(), tc.shows, tc.hides)
		})
	}
}

func expectOutput(t *testing.T, got string, shows []string, hides string) {
	t.Helper()
	rest := got
	for _, want := range shows {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Errorf("wrote\n%s\nwithout %q, or not in order", got, want)
		}
		rest = after
	}
	if hides != "" && strings.Contains(got, hides) {
		t.Errorf("wrote\n%s\nwith %q", got, hides)
	}
}

// Packages run side by side, so that their events mix.
func TestTallyKeepsPackagesApart(t *testing.T) {
	var out strings.Builder
	tally := newTally(&out)
	for _, e := range []event{
		{Action: "run", Package: "p", Test: "TestA"},
		{Action: "run", Package: "q", Test: "TestA"},
		{Action: "run", Package: "q", Test: "TestA/x"},
		{Action: "fail", Package: "q", Test: "TestA/x"},
		{Action: "pass", Package: "p", Test: "TestA"},
		{Action: "fail", Package: "q", Test: "TestA"},
		{Action: "fail", Package: "q"},
		{Action: "pass", Package: "p"},
	} {
		tally.add(e)
	}
	if want := (counts{passed: 1, failed: 1}); tally.counts != want {
		t.Errorf("counted %v, want %v", tally.counts, want)
	}
	expectOutput(t, out.String(), []string{"FAIL q", "0 passed, 1 failed", "ok   p", "1 passed, 0 failed"}, "")
}

func TestEachEvent(t *testing.T) {
	var got []event
	in := `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p","Elapsed":1.5,"Unknown":3}` + "\n"
	if err := eachEvent(strings.NewReader(in), func(e event) { got = append(got, e) }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Test != "TestA" || got[1].Elapsed != 1.5 {
		t.Errorf("read %+v", got)
	}
}

func TestEachEventRefusesOtherLines(t *testing.T) {
	err := eachEvent(strings.NewReader("go: no such flag\n"), func(event) { t.Error("an event") })
	if err == nil || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("error %v, want one that shows the line", err)
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

func TestEachEventReportsReadErrors(t *testing.T) {
	broken := errors.New("broken")
	if err := eachEvent(brokenReader{broken}, func(event) {}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}
