//go:build !race

package audit

import (
	"testing"
	"time"
)

// A fetch of a known peer allocates nothing, whatever it moves.
func TestObserveAllocatesNothing(t *testing.T) {
	a := New(DefaultConfig())
	now := voters(a, "g", 13, func(g int) float64 { return 0.2 + 0.01*float64(g) })
	records := []Record{
		plain("g3.0", "g3", 0.1), plain("g3.0", "g3", 0.9), plain("g4.1", "g4", 5),
		with(2, func(r *Record) { r.Peer, r.Group, r.Critical = "g5.0", "g5", true }),
		with(9, func(r *Record) { r.Peer, r.Group, r.Ours = "g5.0", "g5", 9*time.Second }),
	}
	for _, r := range records {
		a.Observe(now, r)
	}
	i := 0
	if n := testing.AllocsPerRun(2000, func() {
		now += time.Second
		a.Observe(now, records[i%len(records)])
		i++
	}); n != 0 {
		t.Errorf("%v allocations a fetch", n)
	}
	if n := testing.AllocsPerRun(100, func() { a.Verdict("g3.0") }); n != 0 {
		t.Errorf("%v allocations a look", n)
	}
}

// No peer takes more than 12 KiB, its share of groups and strata included.
func TestMemoryOfAPeer(t *testing.T) {
	if got := most(200); got > 12<<10 {
		t.Errorf("%.0f bytes", got)
	}
}
