package report

import "testing"

// BenchmarkAssess is one claim of as many peers as Tor had relays, with 100 resamples.
func BenchmarkAssess(b *testing.B) {
	s := network(5000, 0.1)
	for b.Loop() {
		assess(Advertised, s, Options{Resamples: 100, Seed: 1})
	}
}
