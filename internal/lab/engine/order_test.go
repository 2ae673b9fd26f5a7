package engine_test

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// equals are peers that are alike, each asked once.
const equals = `
links:
  path: {rate: 20Mbit/s, rtt: 40ms}
peers:
  - {name: equal, count: 4, link: path}
workload:
  warmup: {each: 1, sizes: [100kB]}
`

// TestTheOrderOfTheFileIsNoHint: who answers a hair sooner is not who comes first in the file, and no two
// are at the same instant.
func TestTheOrderOfTheFileIsNoHint(t *testing.T) {
	soonest := map[string]int{}
	const seeds = 12
	for seed := range uint64(seeds) {
		r := run(t, equals, engine.Options{Seed: seed + 1})
		least, slowest, seen := "", 0.0, map[float64]bool{}
		fastest := 0.0
		for _, x := range r.Transfers {
			if seen[x.First] {
				t.Errorf("seed %d: two answer after exactly %v s", seed, x.First)
			}
			seen[x.First] = true
			if least == "" || x.First < fastest {
				least, fastest = x.Peer, x.First
			}
			slowest = max(slowest, x.First)
		}
		if apart := slowest - fastest; apart > 2*(20*time.Microsecond).Seconds() {
			t.Errorf("seed %d: they are %v s apart, which is no hair", seed, apart)
		}
		soonest[least]++
	}
	if len(soonest) < 3 || soonest["equal-1"] > seeds/2 {
		t.Errorf("soonest, over %d seeds: %v", seeds, soonest)
	}
}
