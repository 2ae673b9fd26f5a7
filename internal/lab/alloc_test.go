//go:build !race

package lab

import "testing"

// TestSteadyTrafficAllocatesNothing: benchmarks over the pair measure what they
// put on it, not the pair.
func TestSteadyTrafficAllocatesNothing(t *testing.T) {
	a, b := Pair(Link{})
	p := make([]byte, 4096)
	if n := testing.AllocsPerRun(1000, func() {
		a.Write(p)
		b.Read(p)
	}); n != 0 {
		t.Errorf("%v allocations per write and read, want none", n)
	}
}
