package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// run is main with its edges as arguments. It returns the exit code.
func run(ctx context.Context, args []string, out io.Writer) int {
	f := flag.NewFlagSet("e2e", flag.ContinueOnError)
	f.SetOutput(out)
	var t trial
	f.StringVar(&t.dir, "monitoring", "monitoring", "the `directory` with configuration, rules and dashboards")
	f.StringVar(&t.node, "node", "build/demo-node", "the demo node's program")
	f.StringVar(&t.build, "build", "build", "the `directory` for what is fetched")
	f.IntVar(&t.seconds, "seconds", 40, "how long the cast plays; it may play three times where this machine stands still")
	limit := f.Duration("limit", 6*time.Minute, "how long all may take")
	if f.Parse(args) != nil {
		return 2
	}
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	t.out = out
	switch err := t.run(ctx); {
	case errors.Is(err, errNoPrometheus):
		fmt.Fprintln(out, "SKIPPED: nothing was tried:", err)
	case err != nil:
		fmt.Fprintln(out, "e2e:", err)
		return 1
	}
	return 0
}
