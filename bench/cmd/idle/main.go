// Command idle measures what a wrapped connection costs in memory beyond a
// bare one, over many connections in one process: before any traffic, and
// after a transfer and a while of silence.
//
// The far ends run in a process of their own, so that what is counted is one
// end each. The bare and the wrapped ends are measured in two more processes,
// so that neither inherits the other's heap. What counts is heap and stack in
// use after a collection; the figures of the kernel's sockets are the same for
// both and are left out.
//
// It exits with 1 only with -strict, if a bar is missed, and with 2 if it
// could not run.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// The most that wrapping may add to a connection, in bytes: ten thousand idle
// ones then cost 80 MB more when new, 480 MB after use.
const (
	freshBar = 8 << 10
	usedBar  = 48 << 10
)

type flags struct {
	load
	role, addr, file string
	strict           bool
}

func main() {
	var f flags
	flag.IntVar(&f.Conns, "conns", 10_000, "connections in one process")
	flag.IntVar(&f.Bytes, "bytes", 1<<20, "bytes that each fetches")
	flag.IntVar(&f.Together, "together", 64, "how many fetch at a time")
	flag.DurationVar(&f.Silence, "silence", time.Minute, "how long to wait after the transfers")
	flag.BoolVar(&f.strict, "strict", false, "exit with 1 if a bar is missed")
	flag.StringVar(&f.file, "json", "", "also write the figures to this file")
	flag.StringVar(&f.role, "role", "", "for the command's own use: what this process is")
	flag.StringVar(&f.addr, "addr", "", "for the command's own use: where the far ends are")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(ctx context.Context, f flags) error {
	switch f.role {
	case "far":
		return far(os.Stdin, os.Stdout)
	case "bare", "wrapped":
		m, err := measure(f.addr, f.role == "wrapped", f.load)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(m)
	case "":
		r, err := compare(ctx, f.load)
		if err != nil {
			return err
		}
		return report(r, f)
	}
	return fmt.Errorf("idle: no role %q; leave -role to the command", f.role)
}

// result is both measurements. Costs are bytes for each connection.
type result struct {
	Conns   int         `json:"conns"`
	Bare    measurement `json:"bare"`
	Wrapped measurement `json:"wrapped"`
	// FreshAdded and UsedAdded are what wrapping adds.
	FreshAdded float64 `json:"fresh_added_bytes"`
	UsedAdded  float64 `json:"used_added_bytes"`
	Passed     bool    `json:"passed"`
}

func newResult(conns int, bare, wrapped measurement) result {
	r := result{Conns: conns, Bare: bare, Wrapped: wrapped}
	r.FreshAdded = wrapped.Fresh.InUse - bare.Fresh.InUse
	r.UsedAdded = wrapped.Used.InUse - bare.Used.InUse
	r.Passed = r.FreshAdded <= freshBar && r.UsedAdded <= usedBar
	return r
}

func report(r result, f flags) error {
	fmt.Printf("%d connections, bytes each in use (live objects)\n", r.Conns)
	fmt.Printf("%-34s %18s %18s %9s %9s\n", "", "bare", "wrapped", "added", "bar")
	line := func(name string, bare, wrapped cost, added float64, bar int) {
		verdict := "ok"
		if added > float64(bar) {
			verdict = "MISSED"
		}
		fmt.Printf("%-34s %8.0f (%7.0f) %8.0f (%7.0f) %9.0f %9d  %s\n", name,
			bare.InUse, bare.Live, wrapped.InUse, wrapped.Live, added, bar, verdict)
	}
	line("before any traffic", r.Bare.Fresh, r.Wrapped.Fresh, r.FreshAdded, freshBar)
	line(fmt.Sprintf("after %d bytes and %v", f.Bytes, f.Silence), r.Bare.Used, r.Wrapped.Used, r.UsedAdded, usedBar)
	if f.file != "" {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fmt.Errorf("idle: %w", err)
		}
		if err := os.WriteFile(f.file, append(b, '\n'), 0o600); err != nil {
			return fmt.Errorf("idle: %w", err)
		}
	}
	if f.strict && !r.Passed {
		os.Exit(1)
	}
	return nil
}
