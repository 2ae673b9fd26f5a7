package ranking_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/ranking"
)

// A far peer on a fast line: slow start, not the line, takes most of the time.
func ExamplePredict() {
	path := ranking.Path{
		BaseRTT: 268 * time.Millisecond,
		Rate:    burst.SecondsPerByte(8 / 100e6), // 100 Mbit/s
	}
	cold := ranking.Predict(12e6, path)
	fmt.Printf("cold: %v in %d windows, %v of it silence\n",
		cold.Total.Round(time.Millisecond), cold.Windows, cold.Ramp.Round(time.Millisecond))

	path.LastWindow = path.WindowAfter(12e6)
	warm := ranking.Predict(12e6, path)
	fmt.Printf("warm: %v\n", warm.Total.Round(time.Millisecond))

	path.StreamWindow = 256 << 10
	bound := ranking.Predict(12e6, path)
	fmt.Printf("with a stream window of 256 KiB: %v, limited by our credit: %v\n",
		bound.Total.Round(time.Millisecond), bound.CreditLimited)
	// Output:
	// cold: 3.074s in 10 windows, 1.846s of it silence
	// warm: 1.228s
	// with a stream window of 256 KiB: 12.816s, limited by our credit: true
}

// How much to ask of a peer so that it comes within a second.
func ExampleChunkSize() {
	for _, rtt := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond} {
		n := ranking.ChunkSize(time.Second, ranking.Path{BaseRTT: rtt, Rate: 1e-7})
		fmt.Printf("%v: %.1f MB\n", rtt, float64(n)/1e6)
	}
	// Output:
	// 20ms: 9.2 MB
	// 100ms: 3.9 MB
	// 250ms: 0.1 MB
}

// Two ways to write one network, and a map of systems that knows it.
func ExampleGroupOf() {
	plain := netip.MustParseAddr("192.0.2.7")
	tunnel := netip.MustParseAddr("2002:c000:0201::1") // 6to4 of 192.0.2.1
	fmt.Println(ranking.GroupOf("peer 1", plain, nil))
	fmt.Println(ranking.GroupOf("peer 2", tunnel, nil))

	systems := func(a netip.Addr) (uint32, bool) { return 64500, a.Is4() }
	fmt.Println(ranking.GroupOf("peer 2", tunnel, systems))
	// Output:
	// 192.0.2.0/24
	// 192.0.2.0/24
	// AS64500
}
