package engine

import (
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// Chooser decides whom to fetch from. It speaks in the types of package ranking,
// whose ranker is one; a rival that only has an opinion on whom to ask next is a
// [Rule], and [NewSimple] makes a Chooser of it. Instants are since the start of the
// run. All methods are safe for concurrent use and must not wait.
//
// Whoever chooses, the host has the same hard timeout and the same failover: it
// asks again, and excludes whom it has asked for this datum.
type Chooser interface {
	// Name is a label: lower case, underscores.
	Name() string
	// Join and Leave tell of connections.
	Join(now time.Duration, p Joining) (ranking.Conn, error)
	Leave(now time.Duration, c ranking.Conn)
	// Offer tells that a peer has a datum, and what is said of its size.
	Offer(now time.Duration, peer, datum string, s ranking.Size)
	// Choose plans a fetch; the error is ranking.ErrNoPeer where nobody is left.
	Choose(now time.Duration, q ranking.Query) (ranking.Plan, error)
	// Begin starts the primary's part of a plan.
	Begin(now time.Duration, p ranking.Plan) (Transfer, error)
	// Tick is called once a second.
	Tick(now time.Duration)
	// Events returns what has happened since the last call.
	Events() []ranking.Event
}

// Transfer is one peer's part in a fetch. *ranking.Fetch says what each method
// means.
type Transfer interface {
	Pick() ranking.Pick
	Add(now time.Duration, p ranking.Pick) (Transfer, error)
	Progress(now time.Duration, bytes int)
	Pause(now time.Duration)
	Resume(now time.Duration)
	Received(now time.Duration)
	Done(now time.Duration, size int64) audit.Verdict
	Fail(now time.Duration, how ranking.Failure) audit.Verdict
	Abort(now time.Duration) audit.Verdict
	Advice(now time.Duration) ranking.Advice
}

// Joining is a peer that joins.
type Joining struct {
	ranking.Peer
	// Measured is what our shim measures of the connection; Peer.Meter is the same.
	Measured *mux.Meter
	// Ungated is the naive burst rate in bytes per second, 0 unknown: bytes over time
	// within bursts, silences of more than a second left out.
	Ungated func() float64
	// Tested is the rate that a speed test showed, in s/B, 0 without one.
	Tested burst.SecondsPerByte
	// Truth is how long a fetch of so many bytes would really take if it were asked
	// for now, in failures the host's timeout and more. Only the oracle may ask.
	Truth func(now time.Duration, a Ask) time.Duration
}

// Ask is a fetch that the oracle is asked about.
type Ask struct {
	Datum    int
	Size     int64
	Critical bool
	// Ahead is how many bytes the peer still owes us, which come first.
	Ahead int64
}

// New makes a chooser for a run.
type New func(Setting) (Chooser, error)

// Setting is what a chooser may know of a run beforehand.
type Setting struct {
	Seed uint64
	// Window is the credit of a stream in bytes.
	Window int64
	// DownloadLimit is the limit of our own link in B/s where the host knows it.
	DownloadLimit int64
	Dry           bool
	Copies        int // of critical data, 0 is the default
}
