//go:build !race

package keystream

import "testing"

func TestAlloc(t *testing.T) {
	p := make([]byte, 32<<10)
	send, check := NewSource(key, 0), NewSource(key, 0)
	var s Sum
	if n := testing.AllocsPerRun(100, func() {
		send.Fill(p)
		s.Add(p)
		if err := check.Check(p); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a chunk, want none", n)
	}
}
