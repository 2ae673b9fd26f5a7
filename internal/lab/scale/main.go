//go:build unix

// Command scale shows that what we do carries a thousand peers: `make scale`.
//
// It fetches over 1,000 connections on loopback, of bare yamux and then wrapped
// and through a ranker, from a process that serves with bare yamux both times,
// and compares processor time and memory. It scrapes the metrics and times
// choices meanwhile. Then it takes the completions of 10,000 peers, and of
// 10,000 others, through ranker and audit, whose memory has a bound.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// options are what the flags say.
type options struct {
	conns, workers, peers, completions int
	length                             time.Duration
}

func main() {
	if os.Getenv(serveEnv) != "" {
		serve()
		return
	}
	var o options
	flag.IntVar(&o.conns, "conns", 1000, "connections")
	flag.IntVar(&o.workers, "workers", 16, "fetches at a time")
	flag.DurationVar(&o.length, "length", time.Minute, "how long to fetch, bare and wrapped each")
	flag.IntVar(&o.peers, "peers", 10_000, "peers whose completions are recorded")
	flag.IntVar(&o.completions, "completions", 40, "completions of each")
	flag.Parse()
	bars, err := study(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(2)
	}
	met := true
	for _, b := range bars {
		fmt.Println(b)
		met = met && b.met()
	}
	if !met {
		os.Exit(1)
	}
}

// bar is a figure and what it may be.
type bar struct {
	what      string
	got, most float64
	unit      string
}

func (b bar) met() bool { return b.got <= b.most }

func (b bar) String() string {
	word := "met"
	if !b.met() {
		word = "missed"
	}
	return fmt.Sprintf("%-64s %10.4g %-8s at most %-8.4g %s", b.what, b.got, b.unit, b.most, word)
}

// study runs all of it.
func study(o options) ([]bar, error) {
	traffic, err := traffic(o)
	if err != nil {
		return nil, err
	}
	records, err := records(o.peers, o.completions)
	return append(traffic, records...), err
}
