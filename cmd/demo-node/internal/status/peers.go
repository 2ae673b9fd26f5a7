package status

import (
	"slices"
	"sync"

	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/mux"
)

// Peers is the list of connected peers, a metrics.Source. The zero value is
// empty. Safe for concurrent use.
type Peers struct {
	mu   sync.Mutex
	list []entry // guarded by mu
}

type entry struct {
	name  string
	meter *mux.Meter
}

// Add lists a peer.
func (p *Peers) Add(name string, m *mux.Meter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, entry{name, m})
}

// Remove takes a peer off the list.
func (p *Peers) Remove(m *mux.Meter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.DeleteFunc(p.list, func(e entry) bool { return e.meter == m })
}

// Peers takes a snapshot of each.
func (p *Peers) Peers() []metrics.Peer {
	p.mu.Lock()
	list := slices.Clone(p.list)
	p.mu.Unlock()
	peers := make([]metrics.Peer, len(list))
	for i, e := range list {
		peers[i] = metrics.Of(e.name, e.meter)
	}
	return peers
}
