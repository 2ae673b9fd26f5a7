package metrics_test

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// node is the caller's own list of connections, by the identity of the peer.
type node struct {
	mu       sync.Mutex
	sessions map[string]*mux.Session
}

// Peers makes a node a metrics.Source.
func (n *node) Peers() []metrics.Peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	var peers []metrics.Peer
	for name, s := range n.sessions {
		peers = append(peers, metrics.Of(name, s.Meter()))
	}
	return peers
}

// leave drops a session and keeps its counts.
func (n *node) leave(name string, c *metrics.Collector) {
	n.mu.Lock()
	s := n.sessions[name]
	delete(n.sessions, name)
	n.mu.Unlock()
	s.Close()
	c.Retire(s.Meter())
}

func Example() {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	session, err := mux.Client(ours, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := &node{sessions: map[string]*mux.Session{"alice": session}}

	registry := prometheus.NewRegistry()
	collector := metrics.NewCollector(n, metrics.WithPerPeer(20))
	registry.MustRegister(collector) // promhttp.HandlerFor(registry, ...) serves it

	show := func() {
		families, err := registry.Gather()
		if err != nil {
			fmt.Println(err)
		}
		for _, f := range families {
			if f.GetName() == "assay_connections" {
				fmt.Println(f.GetName(), f.GetMetric()[0].GetGauge().GetValue())
			}
		}
	}
	show()
	n.leave("alice", collector)
	show()
	// Output:
	// assay_connections 1
	// assay_connections 0
}

func ExampleDescriptions() {
	for _, d := range metrics.Descriptions()[:3] {
		fmt.Println(d.Type, d.Name, d.Labels)
	}
	// Output:
	// counter assay_frames_total [direction]
	// counter assay_wire_bytes_total [direction]
	// counter assay_received_payload_bytes_total [counted]
}

// A host with a ranker shows it beside its connections.
func ExampleWithRanker() {
	ranker, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	began := time.Now()
	collector := metrics.NewCollector(nil, metrics.WithRanker(metrics.RankingFunc(func() metrics.Ranking {
		return metrics.OfRanker(ranker, time.Since(began), 1<<20, 5)
	})))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range families {
		if f.GetName() == "assay_ranking_verdicts_held" {
			m := f.GetMetric()[0]
			fmt.Println(f.GetName(), m.GetLabel()[0].GetValue(), m.GetGauge().GetValue())
		}
	}
	// Output:
	// assay_ranking_verdicts_held not_held 0
}
