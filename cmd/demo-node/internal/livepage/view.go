package livepage

import (
	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// Source tells what there is to show. It must be safe for concurrent use.
type Source interface {
	// View is everything, as of now. The page owns what it is given.
	View() View
	// Snapshot is what is measured of one peer now; false if it is not connected.
	Snapshot(peer string) (mux.Snapshot, bool)
}

// View is a node at one instant.
type View struct {
	// Peers are in rank order, the best first, or where nobody ranks them by rate.
	// Names are unique.
	Peers []Peer
	// Ranked says whether a ranker stands behind it. If not, what follows is empty.
	Ranked bool
	// Size is the datum in bytes that the peers are ranked for.
	Size      int64
	Stats     ranking.Stats
	Strata    []audit.Stratum
	FreeRates []audit.FreeRate
	// Events are the latest that the ranker reported, the oldest first.
	Events []Event
}

// Peer is one of them.
type Peer struct {
	Name string
	// Standing is what the ranker thinks of it; the zero value if it is not ranked.
	Standing ranking.Standing
	Snapshot mux.Snapshot
}

// ranked says whether the ranker knows the peer.
func (p *Peer) ranked() bool { return p.Standing.Peer != "" }

// rate is what it is estimated to deliver in bytes a second, 0 if unknown.
func (p *Peer) rate() float64 {
	if p.ranked() {
		return p.Standing.Rate.BytesPerSecond()
	}
	return p.Snapshot.Estimate.Rate.BytesPerSecond()
}

// Event is something the ranker reported.
type Event struct {
	// Number counts the events, so that the page can tell new ones.
	Number uint64
	ranking.Event
}
