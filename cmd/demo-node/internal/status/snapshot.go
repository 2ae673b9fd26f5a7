package status

import (
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/mux"
)

// Snapshot is all that a node knows at one instant, for those who want more than
// metrics, or want to see whether those are right.
type Snapshot struct {
	// Resting says that nothing is fetched any more.
	Resting bool
	// Peers are the connections of now, Past those that have closed.
	Peers, Past []PeerSnapshot
	Ranking     metrics.Ranking
	// Residuals are the buckets of Ranking.Strata, in their order.
	Residuals [][]Bucket
}

// PeerSnapshot is what is known of one connection.
type PeerSnapshot struct {
	Name     string
	Snapshot mux.Snapshot
}

// Bucket counts the residuals at or below a bound.
type Bucket struct {
	Bound float64
	Count uint64
}

// Snapshots tells what a node knows over HTTP, as JSON. Make it with
// NewSnapshots. Safe for concurrent use. It keeps each connection's last figures,
// so it is for nodes that meet few.
type Snapshots struct {
	peers   *Peers
	ranking *Ranking
	resting atomic.Bool

	mu   sync.Mutex
	past []PeerSnapshot // guarded by mu
}

// NewSnapshots makes one of these peers and this ranker.
func NewSnapshots(p *Peers, r *Ranking) *Snapshots {
	s := &Snapshots{peers: p, ranking: r}
	p.OnRemove(s.keep)
	return s
}

// Rest says that nothing is fetched any more.
func (s *Snapshots) Rest() { s.resting.Store(true) }

func (s *Snapshots) keep(m *mux.Meter) {
	last := PeerSnapshot{Snapshot: m.Snapshot()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = append(s.past, last)
}

// Now is what the node knows now.
func (s *Snapshots) Now() Snapshot {
	now := Snapshot{Resting: s.resting.Load(), Ranking: s.ranking.Ranking()}
	for _, p := range s.peers.Peers() {
		now.Peers = append(now.Peers, PeerSnapshot{p.Name, p.Snapshot})
	}
	for i := range now.Ranking.Strata {
		var all []Bucket
		now.Ranking.Strata[i].Residuals.Buckets(func(bound float64, n uint64) bool {
			all = append(all, Bucket{bound, n})
			return true
		})
		now.Residuals = append(now.Residuals, all)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now.Past = append(now.Past, s.past...)
	return now
}

// ServeHTTP writes it.
func (s *Snapshots) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	b, err := json.Marshal(s.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b)
}
