// Command soak lets peers join, leave, misbehave and come back at random for an
// hour, over kernel TCP on emulated paths whose rate and delay change, while a
// node fetches from them through a ranker: `make soak`. Goroutines, descriptors
// and memory must not grow, and what must hold of every connection is looked at
// all the time. ARGS='-length 2m' is enough to see that it works.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/assay-mux/assay/internal/lab/kernelpath"
)

// options are what the flags say.
type options struct {
	length  time.Duration
	peers   int
	workers int
	seed    uint64
}

func main() {
	kernelpath.Carry()
	var o options
	flag.DurationVar(&o.length, "length", time.Hour, "how long")
	flag.IntVar(&o.peers, "peers", 12, "peers at a time")
	flag.IntVar(&o.workers, "workers", 6, "fetches at a time")
	flag.Uint64Var(&o.seed, "seed", 1, "of all that is random")
	flag.Parse()
	if err := kernelpath.Available(); err != nil {
		fmt.Println("SKIPPED:", err)
		return
	}
	faults, err := soak(o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	for _, f := range faults {
		fmt.Println("VIOLATED:", f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Println("nothing grew, nothing was violated")
}
