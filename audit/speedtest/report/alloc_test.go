//go:build !race

package report

import "testing"

// A resample allocates nothing: thousands of them are drawn over thousands of peers.
func TestResampleAllocs(t *testing.T) {
	s := network(100, 0)
	c := newCorrelator(s)
	count := ones(100)
	if n := testing.AllocsPerRun(100, func() {
		c.all(count)
		s.network(count)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
