// Command compat runs hashicorp/yamux's own tests, at the version pinned in
// go.mod, against bare and against wrapped sessions, and compares them.
//
// A test that passes bare three times of three has to pass wrapped three times
// of three. One that fails bare is flaky: it is run again 400 times in each
// mode, alternating, and has to fail wrapped no more often (Fisher's exact
// test, one-sided, 5 %). So is one that passed bare and failed wrapped, before
// it counts as a difference: in 400 runs bare may turn out to fail too.
//
// A test that wants one Read to return a whole Write (see compat.Whole) holds for
// sure only while frames are written whole: it is compared with splitting off,
// and what it does as it is is printed below. With -strict nothing is exempt.
//
// It exits with 1 if wrapped sessions are worse, with 2 if it could not run, or
// not tell: a slow test that fails bare, as some do on a loaded machine, may run
// out of time before its rates can be compared.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/assay-mux/assay/bench/compat"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	worse, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	switch {
	case worse:
		os.Exit(1)
	case err != nil:
		os.Exit(2)
	}
}

func run(ctx context.Context) (worse bool, err error) {
	var (
		mode    = flag.String("mode", "wrapped", "how sessions are wrapped: wrapped (the defaults), async, every (a cookie on each frame) or nocookies")
		plan    = compat.Plan{Flaky: []string{"TestHalfCloseSessionShutdown"}}
		quick   = flag.Bool("quick", false, "one run of each test, 40 of the flaky ones")
		race    = flag.Bool("race", false, "compile with the race detector")
		only    = flag.String("only", "", "comma-separated names of the tests to run; empty for all")
		rate    = flag.String("rate", "", "comma-separated names of further tests to compare by rate")
		file    = flag.String("json", "", "also write the comparisons to this file")
		strict  = flag.Bool("strict", false, "judge also the tests that need whole frames as they are, split")
		verbose = flag.Bool("v", false, "print the output of failed runs")
	)
	flag.IntVar(&plan.Runs, "runs", 3, "runs of each test in each mode")
	flag.IntVar(&plan.Rate, "flaky-runs", 400, "runs of a flaky test in each mode")
	flag.DurationVar(&plan.Patience, "patience", 4*time.Minute, "longest time for one flaky test")
	flag.IntVar(&plan.Jobs, "jobs", runtime.NumCPU(), "tests that run at a time, but for the flaky ones")
	flag.Parse()
	if *quick {
		plan.Runs, plan.Rate = 1, 40
	}
	plan.Only = names(*only)
	plan.Flaky = append(plan.Flaky, names(*rate)...)

	m, err := compat.ModeNamed(*mode)
	if err != nil {
		return false, err
	}
	all, err := compare(ctx, m, *race, *strict, plan, *verbose)
	if err != nil {
		return false, err
	}
	if *file != "" {
		if err := write(*file, all); err != nil {
			return false, err
		}
	}
	return verdict(m, all)
}

// asIsRuns is how often a test that needs whole frames is also run split: enough
// to see whether it fails rarely or mostly.
const asIsRuns = 10

func compare(ctx context.Context, m compat.Mode, race, strict bool, plan compat.Plan, verbose bool) ([]compat.Comparison, error) {
	bare, err := compat.Build(compat.Bare, race)
	if err != nil {
		return nil, err
	}
	defer bare.Remove() //nolint:errcheck // a leftover temporary directory
	wrapped, err := compat.Build(m, race)
	if err != nil {
		return nil, err
	}
	defer wrapped.Remove() //nolint:errcheck // likewise

	fmt.Printf("%d tests of %s, bare beside %s\n", len(bare.Tests), compat.Upstream, m.Name)
	runWrapped, whole := wrapped.Run, compat.Whole()
	if strict {
		runWrapped, whole = wrapped.RunAsIs, nil
	}
	all := compat.Compare(ctx, bare.Tests, bare.Run, runWrapped, plan, func(c compat.Comparison) {
		fmt.Println(c)
		if why, ok := whole[c.Test]; ok {
			as := compat.Repeat(ctx, c.Test, wrapped.RunAsIs, asIsRuns)
			fmt.Printf("  with splitting off, for %s; split, as by default: %d/%d\n", why, as.Runs-as.Failed, as.Runs)
		}
		if verbose {
			show("bare", c.Bare.Output)
			show(m.Name, c.Wrapped.Output)
		}
	})
	return all, ctx.Err()
}

func show(mode, output string) {
	if output != "" {
		fmt.Printf("  %s: %s\n", mode, strings.ReplaceAll(strings.TrimSpace(output), "\n", "\n    "))
	}
}

var errUndecided = errors.New("compat: too few runs to compare some tests; run again when the machine is quiet, or with more -patience")

func verdict(m compat.Mode, all []compat.Comparison) (worse bool, err error) {
	flaky, bad, open := 0, []string(nil), []string(nil)
	for _, c := range all {
		if c.Flaky {
			flaky++
		}
		if !c.Good() {
			bad = append(bad, c.Test)
		}
		if c.Undecided() {
			open = append(open, c.Test)
		}
	}
	fmt.Printf("%d tests compared, %d of them flaky, %d worse %s\n", len(all), flaky, len(bad), m.Name)
	if len(bad) > 0 {
		fmt.Println("worse:", strings.Join(bad, ", "))
	}
	if len(open) > 0 {
		err = fmt.Errorf("%w: %s", errUndecided, strings.Join(open, ", "))
	}
	return len(bad) > 0, err
}

func names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func write(file string, all []compat.Comparison) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	if err := os.WriteFile(file, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	return nil
}
