package metrics

import "github.com/assay-mux/assay/mux"

// Peer is one connection to a peer at one instant. A peer with several
// connections is listed once for each.
type Peer struct {
	// Name is the peer label of the series that WithPerPeer adds; nothing else
	// shows it. Connections of one name share their series. A peer without a name
	// has none.
	Name string
	// Meter is the meter the snapshot is of. It tells one connection from
	// another and a new one from an old; it is never called. If it is nil, Name
	// and the place among peers of the same name do that, and a reconnection shows
	// only by its counters having fallen.
	Meter *mux.Meter
	// Snapshot is what the meter knew.
	Snapshot mux.Snapshot
}

// Of returns the peer with a snapshot of now. It is as safe for concurrent use
// as mux.Meter.Snapshot, that is entirely; m must not be nil.
func Of(name string, m *mux.Meter) Peer {
	return Peer{Name: name, Meter: m, Snapshot: m.Snapshot()}
}

// Source lists the connections of now.
type Source interface {
	// Peers is called once for each scrape and from one goroutine at a time. It
	// should not block, and must not call the collector. The collector only reads
	// the slice, and only until the next call.
	Peers() []Peer
}

// SourceFunc is a function as a [Source].
type SourceFunc func() []Peer

// Peers calls f.
func (f SourceFunc) Peers() []Peer { return f() }

// Ranked is a [Source] that may know which peers are better than others. The
// rank slots and the peers that WithPerPeer shows then follow its order.
type Ranked interface {
	Source
	// Ranked says whether Peers come best first. It is called after Peers, in the
	// same scrape. Where it returns false, or the Source is not Ranked, the
	// highest estimated rate is first.
	Ranked() bool
}
