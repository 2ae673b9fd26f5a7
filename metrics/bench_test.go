package metrics

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/assay-mux/assay/mux"
)

// BenchmarkScrape is a whole scrape of 500 peers, as the registry does it.
func BenchmarkScrape(b *testing.B) {
	peers := make([]Peer, 500)
	for i := range peers {
		peers[i] = Peer{Name: fmt.Sprintf("peer-%03d", i), Meter: new(mux.Meter), Snapshot: full()}
	}
	for name, opts := range map[string][]Option{
		"default":    nil,
		"perpeer=50": {WithPerPeer(50)},
	} {
		b.Run(name, func(b *testing.B) {
			reg := prometheus.NewRegistry()
			reg.MustRegister(NewCollector(of(peers...), opts...))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reg.Gather(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
