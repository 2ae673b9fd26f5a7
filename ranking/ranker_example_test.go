package ranking_test

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/ranking"
)

// steady is a meter that always reads the same; in a node it is a *mux.Meter.
type steady struct{ rtt time.Duration }

func (s steady) Reading() burst.Reading { return burst.Reading{BaseRTT: s.rtt, P95RTT: s.rtt} }
func (steady) Begin() func()            { return func() {} }

// A node's fetch logic: choose, fetch through a reader that tells the ranker everything, verify, say
// so. Instants come from the node's own clock; this example has one that stands still in between.
func ExampleRanker() {
	ranker, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	var now time.Duration
	for i, id := range []string{"near", "far"} {
		if _, err := ranker.Join(now, ranking.Peer{
			ID: id, Addr: netip.AddrFrom4([4]byte{192, 0, 2 + byte(i), 1}),
			Meter: steady{time.Duration(1+9*i) * 20 * time.Millisecond},
		}); err != nil {
			fmt.Println(err)
			return
		}
		_ = ranker.Offer(now, id, "a datum", ranking.Size{Bytes: 50_000})
	}

	plan, err := ranker.Choose(now, ranking.Query{Datum: "a datum"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ask", plan.Primary.Peer)

	fetch, err := ranker.Begin(now, plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := func() time.Duration { now += 10 * time.Millisecond; return now }
	reply := fetch.Reader(bytes.NewReader(make([]byte, 50_000)), clock)
	defer reply.Close()
	n, err := io.Copy(io.Discard, reply) // and hash it
	if err != nil {
		return // the reader has told the ranker
	}
	verdict := fetch.Done(now, n)
	fmt.Println(verdict)
	for i, s := range ranker.Rank(now, 50_000, 10) {
		fmt.Printf("%d. %s, %.0f %% measured\n", i+1, s.Peer, 100*s.Measured)
	}
	// Output:
	// ask near
	// clear: nothing stands against it
	// 1. near, 91 % measured
	// 2. far, 0 % measured
}

// While a fetch runs, ask what to do about it.
func ExampleFetch_Advice() {
	ranker, _ := ranking.New(ranking.DefaultConfig())
	for id, rtt := range map[string]time.Duration{"a": 20 * time.Millisecond, "b": time.Second} {
		_, _ = ranker.Join(0, ranking.Peer{ID: id, Meter: steady{rtt}})
	}
	plan, _ := ranker.Choose(0, ranking.Query{Size: 1e6})
	fetch, _ := ranker.Begin(0, plan)
	fetch.Progress(40*time.Millisecond, 300_000)
	fmt.Println(fetch.Advice(500 * time.Millisecond))
	fmt.Println(fetch.Advice(1500 * time.Millisecond))
	// Output:
	// wait (none)
	// add_hedge (stalled): ask b for 700000 bytes from 300000
}
