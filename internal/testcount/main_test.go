package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module of the given files, and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.test/m\n\ngo 1.26.0\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	passing = "package p\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"
	failing = "package p\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) { t.Error(\"two is not three\") }\n"
	broken  = "package p\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) { undefined() }\n"
	hanging = "package p\n\nimport \"testing\"\n\nfunc TestD(t *testing.T) { select {} }\n"
)

// Real runs of go test, so that the events are those that the installed Go
// prints.
func TestRun(t *testing.T) {
	for _, tc := range []struct {
		name    string
		modules []map[string]string
		flags   []string
		code    int
		last    string // line of the output
		shows   string
	}{
		{"pass", []map[string]string{{"p/p_test.go": passing}}, nil, 0, "1 passed, 0 failed, 0 skipped", "example.test/m/p"},
		{"two modules", []map[string]string{{"p/p_test.go": passing}, {"p/p_test.go": passing}}, nil, 0, "2 passed, 0 failed, 0 skipped", ""},
		{"a failure in the first of two", []map[string]string{{"p/p_test.go": failing}, {"p/p_test.go": passing}}, nil, 1, "1 passed, 1 failed, 0 skipped", "two is not three"},
		{"does not build", []map[string]string{{"p/p_test.go": passing, "q/q_test.go": broken}}, nil, 1, "1 passed, 1 failed, 0 skipped", "undefined"},
		{"hangs", []map[string]string{{"p/p_test.go": hanging}}, []string{"-timeout", "1s"}, 1, "0 passed, 1 failed, 0 skipped", "timed out"},
		{"nothing ran", []map[string]string{{"p/p.go": "package p\n"}}, nil, 1, "0 passed, 0 failed, 0 skipped", "no test ran"},
		{"filtered to nothing", []map[string]string{{"p/p_test.go": passing}}, []string{"-flags", "-run NoSuch"}, 1, "0 passed, 0 failed, 0 skipped", "no test ran"},
		{"bad flag of go", []map[string]string{{"p/p_test.go": passing}}, []string{"-flags", "-mod=nosuch"}, 1, "0 passed, 1 failed, 0 skipped", "nosuch"},
		{"usage", nil, []string{"-race", "sometimes"}, 2, "", "use auto, on or off"},
		{"unknown flag", nil, []string{"-nosuch"}, 2, "", "-nosuch"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"-race", "off"}, tc.flags...)
			for _, files := range tc.modules {
				args = append(args, module(t, files))
			}
			var stdout, stderr strings.Builder
			if code := run(args, &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if got := lastLine(stdout.String()); got != tc.last {
				t.Errorf("last line %q, want %q", got, tc.last)
			}
			if all := stdout.String() + stderr.String(); !strings.Contains(all, tc.shows) {
				t.Errorf("wrote\n%s\nwithout %q", all, tc.shows)
			}
		})
	}
}

// A test that is built without the race detector only is run by -unraced, and
// the others only once.
func TestRunUnraced(t *testing.T) {
	if raceFlag("auto", io.Discard) == "" {
		t.Skip("the race detector does not work here")
	}
	dir := module(t, map[string]string{
		"p/p_test.go":     passing,
		"p/alloc_test.go": "//go:build !race\n\npackage p\n\nimport \"testing\"\n\nfunc TestAllocs(t *testing.T) {}\n",
	})
	for pattern, want := range map[string]string{"": "1 passed, 0 failed, 0 skipped", "Alloc": "2 passed, 0 failed, 0 skipped"} {
		var stdout, stderr strings.Builder
		if code := run([]string{"-race", "on", "-unraced", pattern, dir}, &stdout, &stderr); code != 0 {
			t.Errorf("%q: exit code %d: %s", pattern, code, stderr.String())
		}
		if got := lastLine(stdout.String()); got != want {
			t.Errorf("%q: last line %q, want %q", pattern, got, want)
		}
	}
}

func lastLine(s string) string {
	s = strings.TrimSuffix(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func TestRunWithoutDirectory(t *testing.T) {
	var stdout, stderr strings.Builder
	missing := filepath.Join(t.TempDir(), "missing")
	if code := run([]string{"-race", "off", missing}, &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(stderr.String(), missing) {
		t.Errorf("said %q, want the directory in it", stderr.String())
	}
}

func TestRaceFlag(t *testing.T) {
	for mode, want := range map[string]string{"on": "-race", "off": ""} {
		if got := raceFlag(mode, os.Stdout); got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}

// Without cgo the race detector does not work, and auto says so.
func TestRaceFlagFallsBackAloud(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	var out strings.Builder
	if got := raceFlag("auto", &out); got != "" {
		t.Skipf("the race detector works without cgo here: %q", got)
	}
	if !strings.Contains(out.String(), "without the race detector") {
		t.Errorf("said %q", out.String())
	}
}
