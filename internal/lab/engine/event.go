package engine

import (
	"time"

	"github.com/assay-mux/assay/ranking"
)

// Event is something that happens in a run, for a live view. It is a value.
type Event struct {
	At   time.Duration // since the start
	Kind EventKind
	Peer string
	// Fetch is the number of the datum it is about, 0 none; Bytes what came, or the
	// datum's size. User says that the datum is one of the user's, and not of the
	// warm-up; Failed that nobody brought it, for FetchEnded.
	Fetch        int
	Bytes        int64
	User, Failed bool
	// Role is the peer's part, for TransferBegan and TransferEnded.
	Role ranking.Role
	// Predicted and Took are of a transfer or a fetch.
	Predicted, Took time.Duration
	// Ranking is what the chooser reports, for ChooserSaid.
	Ranking ranking.Event
	// Text is for people: a clause.
	Text string
}

// EventKind is a kind of Event.
type EventKind uint8

// The kinds of events.
const (
	// PeerJoined and PeerLeft: a connection began or ended.
	PeerJoined EventKind = iota
	PeerLeft
	// FetchBegan and FetchEnded: a datum is wanted, and is there or given up.
	FetchBegan
	FetchEnded
	// TransferBegan, TransferAdvised and TransferEnded: one peer's part in it.
	TransferBegan
	TransferAdvised
	TransferEnded
	// ChooserSaid: the ranker reports something, a verdict say.
	ChooserSaid
	// FaultBegan: something goes wrong on our own side.
	FaultBegan
	// Violated: a check of the lab itself failed.
	Violated
	// FetchPlanned: the chooser has said whom to ask first, and why.
	FetchPlanned
)

// String returns the kind as a label.
func (k EventKind) String() string {
	names := [...]string{
		"peer_joined", "peer_left", "fetch_began", "fetch_ended",
		"transfer_began", "transfer_advised", "transfer_ended", "chooser_said", "fault_began", "violated",
		"fetch_planned",
	}
	return names[min(int(k), len(names)-1)]
}
