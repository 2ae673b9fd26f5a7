package main

import (
	"fmt"
	"io"
	"strings"
)

// record is what one package's tests did. Tests are kept in the order they
// began.
type record struct {
	tests  map[string]*outcome
	order  []string
	output []string // of no test
}

// outcome is how one test ended: "" while it has not.
type outcome struct {
	result string
	output []string
	parent bool // of subtests, which count in its place
}

func newRecord() *record { return &record{tests: map[string]*outcome{}} }

// test finds a test by its name, and makes it if need be.
func (r *record) test(name string) *outcome {
	o := r.tests[name]
	if o == nil {
		o = &outcome{}
		r.tests[name] = o
		r.order = append(r.order, name)
	}
	return o
}

// begin notes that a test runs. The test above it has begun before; a name that holds
// a slash of its own has none right above.
func (r *record) begin(name string) {
	r.test(name)
	for above, ok := parent(name); ok; above, ok = parent(above) {
		if o := r.tests[above]; o != nil {
			o.parent = true
			return
		}
	}
}

// print keeps what a test printed, but for the lines that say it began or
// went on.
func (r *record) print(name, line string) {
	switch {
	case name == "":
		r.output = append(r.output, line)
	case !strings.HasPrefix(line, "=== "):
		o := r.test(name)
		o.output = append(o.output, line)
	}
}

// finish notes how a test ended, and forgets what a test that passed printed.
func (r *record) finish(name, result string) {
	o := r.test(name)
	o.result = result
	if result == "pass" {
		o.output = nil
	}
}

// count counts the tests of a package that ended with the given action. In one
// that failed, a test that never ended failed with it; and if none failed, the
// package did by itself, which counts as one.
func (r *record) count(action string) counts {
	r.settle(action)
	var c counts
	for _, name := range r.order {
		if !r.countable(name) {
			continue
		}
		switch r.tests[name].result {
		case "pass":
			c.passed++
		case "skip":
			c.skipped++
		default:
			c.failed++
		}
	}
	if action == "fail" && c.failed == 0 {
		c.failed = 1
	}
	return c
}

// settle gives each test a result that has none: only a package that failed
// leaves a test unended.
func (r *record) settle(action string) {
	for _, o := range r.tests {
		if o.result == "" {
			o.result = action
		}
	}
}

// countable says whether a test counts by itself: its subtests count in its place
// unless it failed and none of them did; a fuzz target's seeds never do.
func (r *record) countable(name string) bool {
	o := r.tests[name]
	if strings.HasPrefix(name, "Fuzz") {
		return !strings.Contains(name, "/")
	}
	return !o.parent || o.result == "fail" && !r.failedBelow(name)
}

func (r *record) failedBelow(name string) bool {
	for other, o := range r.tests {
		if o.result == "fail" && strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// explain writes what each failed test printed, and each skipped one.
func (r *record) explain(w io.Writer, pkg string) {
	for _, name := range r.order {
		o := r.tests[name]
		switch {
		case o.result == "fail":
			fmt.Fprintf(w, "FAIL %s %s\n%s", pkg, name, strings.Join(o.output, ""))
		case o.result == "skip" && r.countable(name):
			fmt.Fprintf(w, "SKIP %s %s\n%s", pkg, name, strings.Join(o.output, ""))
		}
	}
}

// parent is the test that name is a subtest of, if there is no slash in its own name.
func parent(name string) (string, bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "", false
	}
	return name[:i], true
}
