// Command bench measures wrapped sessions against bare ones over loopback TCP,
// the modes taking turns within each round, with other multiplexers and a bare
// connection beside them.
//
// It prints, for each workload and mode, the median reading with its spread,
// the ratio to bare of the same round, and whether the bar is cleared. Other
// load on the machine can hide a real gain, so a missed bar fails the command
// only with -strict: exit code 1. It exits with 2 if it could not measure.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/assay-mux/assay/bench/speed"
)

type flags struct {
	file, modes, workloads string
	strict, quick, tls     bool
	plan                   speed.Plan
}

func main() {
	var f flags
	flag.StringVar(&f.file, "json", "", "also write the figures to this file")
	flag.StringVar(&f.modes, "modes", "", "comma-separated modes to measure; empty for all")
	flag.StringVar(&f.workloads, "workloads", "", "measure only workloads whose name contains this")
	flag.BoolVar(&f.strict, "strict", false, "exit with 1 if a bar is missed")
	flag.BoolVar(&f.quick, "quick", false, "5 short rounds: a smoke test, whose verdicts mean little")
	flag.BoolVar(&f.tls, "tls", false, "over TLS, for which there are no bars")
	flag.IntVar(&f.plan.Rounds, "rounds", 61, "rounds; at least 15 for a verdict")
	flag.DurationVar(&f.plan.Target, "target", 80*time.Millisecond, "about how long one measurement takes")
	flag.DurationVar(&f.plan.Limit, "limit", 280*time.Second, "stop early after this long, once there are 15 rounds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	missed, err := run(ctx, f)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if missed && f.strict {
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) (missed bool, err error) {
	p, err := f.complete()
	if err != nil {
		return false, err
	}
	began := time.Now()
	tables, err := speed.Run(ctx, p)
	if err != nil {
		return false, err
	}
	r := report{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0),
		Seconds: time.Since(began).Seconds(), Tables: tables,
	}
	r.print()
	if f.file != "" {
		err = r.write(f.file)
	}
	return r.Missed > 0, err
}

// complete is the plan with the modes and workloads asked for.
func (f flags) complete() (speed.Plan, error) {
	p := f.plan
	if f.quick {
		p.Rounds, p.Target = 5, 30*time.Millisecond
	}
	wanted := strings.Split(f.modes, ",")
	for _, m := range speed.Modes() {
		if f.tls {
			m = m.OverTLS()
		}
		if f.modes == "" || contains(wanted, m.Name) {
			p.Modes = append(p.Modes, m)
		}
	}
	for _, w := range speed.Workloads() {
		if strings.Contains(w.Name, f.workloads) {
			p.Workloads = append(p.Workloads, w)
		}
	}
	if p.Rounds < 1 || len(p.Workloads) == 0 {
		return p, fmt.Errorf("bench: nothing to measure; check -rounds and -workloads")
	}
	p.Progress = func(done int) { fmt.Fprintf(os.Stderr, "\rround %d of at most %d ", done, p.Rounds) }
	return p, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if strings.TrimSpace(x) == s {
			return true
		}
	}
	return false
}

// report is what the command prints and writes.
type report struct {
	Go      string        `json:"go"`
	OS      string        `json:"os"`
	Arch    string        `json:"arch"`
	CPUs    int           `json:"cpus"`
	Seconds float64       `json:"seconds"`
	Tables  []speed.Table `json:"tables"`
	Bars    int           `json:"bars"`
	Missed  int           `json:"missed"`
}

func (r *report) print() {
	fmt.Fprintln(os.Stderr)
	for _, m := range speed.Modes() {
		fmt.Printf("%-9s %s\n", m.Name, m.About)
	}
	for _, t := range r.Tables {
		fmt.Printf("\n%s, %s: median [min..max]; ratio to bare of the same round, 95 %% bounds of its median\n", t.Workload, t.Unit)
		for _, row := range t.Rows {
			r.row(row)
		}
	}
	fmt.Printf("\n%d of %d bars cleared in %.0f s", r.Bars-r.Missed, r.Bars, r.Seconds)
	if r.Missed > 0 {
		fmt.Print("; other load on the machine may be the reason, or its processor: docs/limits.md has figures of two")
	}
	fmt.Println()
}

func (r *report) row(row speed.Row) {
	v, x := row.Value, row.Ratio
	verdict := ""
	if row.Bar != nil {
		r.Bars++
		verdict = "ok"
		if !*row.Passed {
			r.Missed++
			verdict = "MISSED"
		}
		verdict = fmt.Sprintf("  %-6s (%v)", verdict, row.Bar)
	}
	fmt.Printf("  %-9s %8.1f [%7.1f..%7.1f]  ratio %5.3f [%5.3f..%5.3f] (%5.3f, %5.3f)  cpu %5.3f%s\n",
		row.Mode, v.Median, v.Min, v.Max, x.Median, x.Min, x.Max, x.Lower95, x.Upper95, row.CPURatio.Median, verdict)
}

func (r *report) write(file string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if err := os.WriteFile(file, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}
