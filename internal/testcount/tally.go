package main

import (
	"fmt"
	"io"
	"strings"
)

// counts are tests by how they ended.
type counts struct{ passed, failed, skipped int }

func (c *counts) add(o counts) {
	c.passed += o.passed
	c.failed += o.failed
	c.skipped += o.skipped
}

func (c counts) ran() int { return c.passed + c.failed + c.skipped }

// String is the line that a run closes with.
func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// tally counts the events of go test -json and writes a line a package, with
// what explains its failures and skips, as each package ends. It is not safe
// for concurrent use.
type tally struct {
	counts
	out      io.Writer
	packages map[string]*record  // that have not ended, by import path
	builds   map[string][]string // compiler output, by import path
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, packages: map[string]*record{}, builds: map[string][]string{}}
}

// add takes in the next event.
func (t *tally) add(e event) {
	switch e.Action {
	case "build-output":
		t.builds[e.ImportPath] = append(t.builds[e.ImportPath], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" && e.Package != "" {
			t.end(e)
			return
		}
		t.record(e.Package).finish(e.Test, e.Action)
	case "run":
		t.record(e.Package).begin(e.Test)
	case "output":
		t.record(e.Package).print(e.Test, e.Output)
	}
}

func (t *tally) record(pkg string) *record {
	r := t.packages[pkg]
	if r == nil {
		r = newRecord()
		t.packages[pkg] = r
	}
	return r
}

// end counts a package whose last event e is.
func (t *tally) end(e event) {
	r := t.record(e.Package)
	delete(t.packages, e.Package)
	c := r.count(e.Action)
	t.counts.add(c)
	r.explain(t.out, e.Package)
	if e.Action == "fail" {
		t.write(t.builds[e.FailedBuild])
		t.write(r.output)
	}
	if c.ran() > 0 { // else it has no tests, or none were asked for
		fmt.Fprintf(t.out, "%-4s %s %.1fs: %v\n", verdict(e.Action), e.Package, e.Elapsed, c)
	}
}

func (t *tally) write(lines []string) { io.WriteString(t.out, strings.Join(lines, "")) }

func verdict(action string) string {
	if action == "fail" {
		return "FAIL"
	}
	return "ok"
}
