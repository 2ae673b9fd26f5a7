// Command kernelcast plays honest and bad peers over kernel TCP on emulated
// paths, and holds the ranking that comes of it to what must be: `make
// kernel-cast`. `make cast` is the same over simulated links, in a minute.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/assay-mux/assay/internal/lab/kernelpath"
)

func main() {
	kernelpath.Carry()
	kernelpath.Prefer()
	length := flag.Duration("survey", 75*time.Second, "how long each peer is asked for data by itself")
	fetches := flag.Int("fetches", 1000, "how many fetches of all there must be")
	flag.Parse()
	if err := kernelpath.Available(); err != nil {
		fmt.Println("SKIPPED:", err)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, *length, *fetches); {
	case errors.Is(err, errBars):
		fmt.Println(err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "kernelcast:", err)
		os.Exit(2)
	}
}
