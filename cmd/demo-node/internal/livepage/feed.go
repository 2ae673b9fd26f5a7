package livepage

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

const (
	// mostPeers is how many peers are shown. More makes frames larger than a page
	// can take twice a second.
	mostPeers = 1000
	// mostEvents is how many events are shown: some screens full.
	mostEvents = 60
)

// Feed is the Source of a live node, which tells it of its peers. The zero value
// is empty. Safe for concurrent use.
type Feed struct {
	mu     sync.Mutex
	conns  []conn  // guarded by mu
	rank   *ranker // nil if nobody ranks; guarded by mu
	events []Event // guarded by mu
	told   uint64  // how many events there were; guarded by mu
}

type conn struct {
	name  string
	meter *mux.Meter
}

type ranker struct {
	*ranking.Ranker
	clock func() time.Duration
	size  int64
}

// Add shows a peer. Of several connections of the same name the newest is shown.
func (f *Feed) Add(name string, m *mux.Meter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = append(f.conns, conn{name, m})
}

// Remove shows a connection no more.
func (f *Feed) Remove(m *mux.Meter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = slices.DeleteFunc(f.conns, func(c conn) bool { return c.meter == m })
}

// Rank shows what a ranker, whose base clock tells the time on, thinks of the
// peers for a datum of size bytes. Events of an earlier one are forgotten.
func (f *Feed) Rank(r *ranking.Ranker, clock func() time.Duration, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rank, f.events = &ranker{r, clock, size}, nil
}

// Tell shows an event of the ranker's.
func (f *Feed) Tell(e ranking.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.events) >= mostEvents {
		f.events = slices.Delete(f.events, 0, len(f.events)-mostEvents+1)
	}
	f.told++
	f.events = append(f.events, Event{f.told, e})
}

// Snapshot implements Source.
func (f *Feed) Snapshot(peer string) (mux.Snapshot, bool) {
	f.mu.Lock()
	var m *mux.Meter
	for _, c := range f.conns {
		if c.name == peer {
			m = c.meter
		}
	}
	f.mu.Unlock()
	if m == nil {
		return mux.Snapshot{}, false
	}
	return m.Snapshot(), true
}

// View implements Source.
func (f *Feed) View() View {
	f.mu.Lock()
	conns, r, v := slices.Clone(f.conns), f.rank, View{Events: slices.Clone(f.events)}
	f.mu.Unlock()
	left := make(map[string]*mux.Meter, len(conns))
	for _, c := range conns {
		left[c.name] = c.meter
	}
	if r != nil {
		v.rank(r, left)
	}
	v.rest(left)
	return v
}

// rank takes in what a ranker knows, with the peers that it ranks, which are then
// no longer left.
func (v *View) rank(r *ranker, left map[string]*mux.Meter) {
	now := r.clock()
	v.Ranked, v.Size = true, r.size
	v.Stats, v.Strata, v.FreeRates = r.Stats(now), r.Strata(), r.FreeRates()
	for _, s := range r.Rank(now, r.size, mostPeers) {
		p := Peer{Name: s.Peer, Standing: s}
		if m := left[s.Peer]; m != nil {
			p.Snapshot = m.Snapshot()
			delete(left, s.Peer)
		}
		v.Peers = append(v.Peers, p)
	}
}

// rest adds the peers that nobody ranks, the fastest first.
func (v *View) rest(left map[string]*mux.Meter) {
	ranked := len(v.Peers)
	for name, m := range left {
		v.Peers = append(v.Peers, Peer{Name: name, Snapshot: m.Snapshot()})
	}
	slices.SortFunc(v.Peers[ranked:], func(a, b Peer) int {
		return cmp.Or(cmp.Compare(b.rate(), a.rate()), cmp.Compare(a.Name, b.Name))
	})
}
