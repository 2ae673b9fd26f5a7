package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// options are what the flags say.
type options struct {
	fetches, attempts, seeds int
	first                    uint64
	groups                   int
	only, dir                string
	progress                 io.Writer
}

func main() {
	o := options{progress: os.Stderr}
	flag.IntVar(&o.fetches, "fetches", 10_000_000, "honest fetches of each seed and scenario")
	flag.IntVar(&o.attempts, "attempts", 2500, "attempts of each attack, seed and scenario")
	flag.IntVar(&o.seeds, "seeds", 3, "how many seeds")
	flag.Uint64Var(&o.first, "seed", 1000, "the first seed")
	flag.IntVar(&o.groups, "groups", Base.Groups, "honest groups of five peers")
	flag.StringVar(&o.only, "only", "", "run only the scenarios whose name contains this")
	flag.StringVar(&o.dir, "plots", "build", "directory for the plots; empty for none")
	flag.Parse()
	met, err := study(os.Stdout, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "auditstudy:", err)
		os.Exit(2)
	}
	if !met {
		os.Exit(1)
	}
}

// study runs all of it, and says whether all bars are met.
func study(out io.Writer, o options) (met bool, err error) {
	start := time.Now()
	all := slices.DeleteFunc(scenarios(), func(s scenario) bool { return !strings.Contains(s.name, o.only) })
	if len(all) == 0 {
		return false, fmt.Errorf("no scenario's name contains %q", o.only)
	}
	for i := range all {
		all[i].pop.Groups = o.groups
	}
	outcomes := runAll(all, o)
	fmt.Fprintf(out, "%d scenarios, %d seeds from %d, %d honest fetches each; %s\n",
		len(all), o.seeds, o.first, o.fetches, time.Since(start).Round(time.Second))
	honestTable(out, outcomes)
	thresholdTable(out, outcomes)
	attackTable(out, outcomes)
	freeTable(out)
	met = barTable(out, outcomes)
	if o.dir == "" {
		return met, nil
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return met, err
	}
	return met, plots(o.dir, outcomes)
}

// runAll runs every seed of every scenario, as many at once as there are processors.
func runAll(all []scenario, o options) []outcome {
	results := make([][]result, len(all))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, s := range all {
		results[i] = make([]result, o.seeds)
		for j := range results[i] {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				start := time.Now()
				results[i][j] = run(s, o.first+uint64(j), o.fetches, o.attempts)
				fmt.Fprintf(o.progress, "%s, seed %d: %s\n", s.name, o.first+uint64(j), time.Since(start).Round(time.Second))
			})
		}
	}
	wg.Wait()
	outcomes := make([]outcome, len(all))
	for i, s := range all {
		outcomes[i] = gather(s, results[i])
	}
	return outcomes
}

// barTable prints each bar, and says whether all are met.
func barTable(out io.Writer, outcomes []outcome) bool {
	fmt.Fprintln(out, "\nBars")
	met, n := true, 0
	for i := range outcomes {
		for _, b := range outcomes[i].bars() {
			fmt.Fprintln(out, b)
			met = met && b.met()
			n++
		}
	}
	fmt.Fprintf(out, "%d bars, all met: %t\n", n, met)
	return met
}
