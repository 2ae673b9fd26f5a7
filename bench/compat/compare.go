package compat

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/assay-mux/assay/bench/stats"
)

// A Tally counts the runs of one test in one mode.
type Tally struct {
	Runs   int    `json:"runs"`
	Failed int    `json:"failed"`
	Output string `json:"output,omitempty"` // of the first that failed
}

func (t *Tally) add(r Result) {
	t.Runs++
	if !r.Passed {
		if t.Failed == 0 {
			t.Output = r.Output
		}
		t.Failed++
	}
}

// A Comparison is one test, bare and wrapped.
type Comparison struct {
	Test    string        `json:"test"`
	Bare    Tally         `json:"bare"`
	Wrapped Tally         `json:"wrapped"`
	Took    time.Duration `json:"took_ns"` // the longest run
	// Flaky says that the test has failed bare, or is known to: what counts
	// then is the rate, over more runs.
	Flaky bool `json:"flaky"`
	// Cut says that the comparison by rate ran out of time: fewer runs than
	// planned, and so less to tell a difference from.
	Cut bool `json:"cut"`
	// P is the one-sided p-value of wrapped failing more often than bare.
	P float64 `json:"p"`
}

// Good is the verdict: a sound test never fails wrapped; a flaky one fails not
// more often, at the 5 % level.
func (c Comparison) Good() bool {
	if c.Flaky {
		return c.P >= 0.05
	}
	return c.Wrapped.Failed == 0
}

// enough is how many runs of each mode a comparison by rate needs to mean
// anything: with fewer even twice the failures would pass for chance.
const enough = 20

// Undecided says that a comparison by rate was cut short before it could tell
// anything. Such a test is slow and fails bare, as on a machine without the
// processor time that its short timeouts take for granted.
func (c Comparison) Undecided() bool { return c.Good() && c.Flaky && c.Cut && c.Bare.Runs < enough }

// A Plan says how much to run.
type Plan struct {
	Runs int // of each test in each mode, first
	// Rate is how many runs of each mode, in turn, compare a flaky test.
	Rate int
	// Patience bounds the time for one such comparison; it is cut short at
	// the end of a pair of runs.
	Patience time.Duration
	// Jobs is how many tests run at a time in the first pass. Rates are always
	// compared one run at a time.
	Jobs int
	// Flaky names tests to compare by rate whatever the first runs say.
	Flaky []string
	// Only names the tests to run; empty for all.
	Only []string
}

// Runner runs one test once. Suite.Run is one.
type Runner func(ctx context.Context, test string) Result

// Compare runs the tests as planned and returns a comparison of each, in the
// order given. progress, which may be nil, is told of each comparison as it is
// settled, one at a time.
func Compare(ctx context.Context, tests []string, bare, wrapped Runner, p Plan, progress func(Comparison)) []Comparison {
	if len(p.Only) > 0 {
		tests = slices.DeleteFunc(slices.Clone(tests), func(t string) bool { return !slices.Contains(p.Only, t) })
	}
	all := make([]Comparison, len(tests))
	first(ctx, all, tests, bare, wrapped, p)
	for i := range all {
		c := &all[i]
		c.Flaky = c.Bare.Failed > 0 || slices.Contains(p.Flaky, c.Test)
		if c.Flaky || c.Wrapped.Failed > 0 {
			c.rate(ctx, bare, wrapped, p)
		}
		c.P = stats.Worse(c.Bare.Failed, c.Bare.Runs, c.Wrapped.Failed, c.Wrapped.Runs)
		if progress != nil {
			progress(*c)
		}
	}
	return all
}

// first runs each test a few times in both modes, several tests at a time, for
// most of them only wait.
func first(ctx context.Context, all []Comparison, tests []string, bare, wrapped Runner, p Plan) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(p.Jobs, 1))
	for i, test := range tests {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			c := &all[i]
			c.Test = test
			for range p.Runs {
				c.pair(ctx, bare, wrapped)
			}
		})
	}
	wg.Wait()
}

// Repeat runs one test n times, one run after the other.
func Repeat(ctx context.Context, test string, run Runner, n int) Tally {
	var t Tally
	for range n {
		if ctx.Err() != nil {
			break
		}
		t.add(run(ctx, test))
	}
	return t
}

// pair runs the test once in each mode. Which goes first alternates, so that a
// slow moment of the machine falls on both alike.
func (c *Comparison) pair(ctx context.Context, bare, wrapped Runner) {
	one := func(t *Tally, run Runner) {
		if ctx.Err() != nil {
			return
		}
		r := run(ctx, c.Test)
		t.add(r)
		c.Took = max(c.Took, r.Took)
	}
	if c.Bare.Runs%2 == 0 {
		one(&c.Bare, bare)
		one(&c.Wrapped, wrapped)
		return
	}
	one(&c.Wrapped, wrapped)
	one(&c.Bare, bare)
}

// rate runs a test that fails now and then until there are enough runs to
// compare how often, starting anew, so that the runs that made us look do not
// bias what we see. A test that failed wrapped alone gets the same hearing: if
// it fails bare too it was flaky all along.
func (c *Comparison) rate(ctx context.Context, bare, wrapped Runner, p Plan) {
	suspect := !c.Flaky
	before := c.Wrapped
	c.Bare, c.Wrapped = Tally{}, Tally{Output: before.Output}
	until := time.Now().Add(p.Patience)
	for range p.Rate {
		if c.Cut = ctx.Err() != nil || time.Now().After(until); c.Cut {
			break
		}
		c.pair(ctx, bare, wrapped)
	}
	c.Flaky = c.Flaky || c.Bare.Failed > 0
	if suspect && !c.Flaky {
		c.Wrapped.Runs += before.Runs
		c.Wrapped.Failed += before.Failed
	}
}

// String is the comparison as a line of a table.
func (c Comparison) String() string {
	verdict := "ok"
	switch {
	case !c.Good():
		verdict = "WORSE"
	case c.Undecided():
		verdict = "UNDECIDED"
	case c.Flaky:
		verdict = "ok, flaky"
	}
	if c.Cut {
		verdict += ", cut short"
	}
	return fmt.Sprintf("%-46s bare %3d/%-3d  wrapped %3d/%-3d  p %.3f  %6.2fs  %s",
		c.Test, c.Bare.Runs-c.Bare.Failed, c.Bare.Runs, c.Wrapped.Runs-c.Wrapped.Failed, c.Wrapped.Runs,
		c.P, c.Took.Seconds(), verdict)
}
