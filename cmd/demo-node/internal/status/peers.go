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
	mu     sync.Mutex
	list   []entry            // guarded by mu
	retire []func(*mux.Meter) // guarded by mu
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

// Remove takes a peer off the list, once its connection has closed, and tells
// who asked with OnRemove.
func (p *Peers) Remove(m *mux.Meter) {
	p.mu.Lock()
	p.list = slices.DeleteFunc(p.list, func(e entry) bool { return e.meter == m })
	retire := slices.Clone(p.retire)
	p.mu.Unlock()
	for _, tell := range retire {
		tell(m)
	}
}

// OnRemove asks for a call with each meter that leaves the list, after it has.
func (p *Peers) OnRemove(f func(*mux.Meter)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retire = append(p.retire, f)
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
