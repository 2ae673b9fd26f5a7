package ranking

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Query says what is to be fetched. The zero value of a field asks for nothing special.
type Query struct {
	// Datum names it, as in Offer. Where connected peers offered it only they are chosen from; else,
	// or if it is empty, all connected ones.
	Datum string
	// Size is its size in bytes; 0 takes what the book of sizes believes.
	Size int64
	// Deadline is the instant by which it is needed; 0 none. Plan.Late says if it can't be kept.
	Deadline time.Duration
	// Critical asks for copies of distinct groups from the start, and for no peer that missed
	// critical fetches to be alone.
	Critical bool
	// Priority orders data that are fetched at the same time. A fetch is not put on a peer that serves
	// one of a higher priority, if another would do within twice the time.
	Priority int
	// Exclude names peers not to choose.
	Exclude []string
	// RTT limits the choice to a class of distances.
	RTT RTTClass
}

// RTTClass is a range of base round trips, From inclusive to To exclusive; zero is open. Peers whose
// round trip is unknown are in none but the open one. Delivery is not one number: a far peer may be
// the fastest for large data, so keep some of each class.
type RTTClass struct{ From, To time.Duration }

func (c RTTClass) has(rtt time.Duration) bool {
	if c == (RTTClass{}) {
		return true
	}
	return rtt > 0 && rtt >= c.From && (c.To == 0 || rtt < c.To)
}

// Role says what one peer's part in a plan is.
type Role uint8

// The roles.
const (
	// Primary is the peer the datum is fetched from.
	Primary Role = iota
	// Redundant is a second copy from the start.
	Redundant
	// Hedge is one begun in flight, for what is missing.
	Hedge
	// Shadow is a copy for a demoted peer to redeem itself; nobody waits for it.
	Shadow
	// Exploration is a copy, or its first range, from a peer that too little is known of.
	Exploration
)

// String returns the role as a label: lower case.
func (r Role) String() string {
	switch r {
	case Primary:
		return "primary"
	case Redundant:
		return "redundant"
	case Hedge:
		return "hedge"
	case Shadow:
		return "shadow"
	case Exploration:
		return "exploration"
	}
	return "unknown"
}

// Pick is one peer's part in a plan: ask it, over the connection named, for Bytes bytes from Offset.
type Pick struct {
	Peer  string
	Conn  Conn
	Group Group
	Role  Role
	// Offset and Bytes are the range to ask for; Bytes 0 is to the end, however long that is.
	Offset, Bytes int64
	// Predicted is when it should be done, from the request: what it was chosen by.
	Predicted time.Duration

	bytes     int64 // expected
	claim     Prediction
	claimed   bool
	claimFor  int64 // bytes
	coverage  int64
	path      Path
	expected  float64 // seconds, the least that a failure is a multiple of
	contested bool
	first     bool // trial, of a peer never tried
}

// Plan is what to do about a query. Begin it within a minute, or drop it. It is a value.
type Plan struct {
	Datum string
	// Size is what the plan was made for, in bytes; not to be trusted before the hash is checked.
	Size     Size
	Critical bool
	Deadline time.Duration
	Priority int

	Primary Pick
	// Redundant are the further copies to ask for at once.
	Redundant []Pick
	// Shadow are copies that nobody waits for, the bytes of which are within the budget: begin them
	// too, check them, and drop them.
	Shadow []Pick
	// Predicted is that of the primary.
	Predicted time.Duration
	// Late says that no peer is expected to keep the deadline.
	Late bool
	Why  Why

	id      uint64
	exclude []string // of the query, for hedges
	rtt     RTTClass
}

// Why says how a choice came about.
type Why struct {
	// Candidates is how many peers were compared, Band how many were so near to the best that any would
	// do, Groups how many groups those were of.
	Candidates, Band, Groups int
	// Kept says that it is one of the band that was chosen and served before; else chance decided.
	Kept bool
	// Best is the expected time of the best, Next that of the best outside the band; 0 if none.
	Best, Next time.Duration
	// Measured is how much of the choice rests on completed fetches, 0 to 1; the rest is prediction.
	Measured float64
	// Disputed says that the size is disputed and the choice is good for both ends; LastResort that
	// nobody better than a demoted or otherwise unreliable peer could be asked.
	Disputed, LastResort bool
}

// String returns the reason as a sentence.
func (w Why) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "best of %d at %v", w.Candidates, round(w.Best))
	switch {
	case w.Kept && w.Band > 1:
		fmt.Fprintf(&b, ", kept of %d within reach of it", w.Band)
	case w.Band > 1:
		fmt.Fprintf(&b, ", drawn from %d within reach of it", w.Band)
	}
	if w.Next > 0 {
		fmt.Fprintf(&b, ", the next at %v", round(w.Next))
	}
	fmt.Fprintf(&b, "; %.0f %% measured", 100*w.Measured)
	if w.Disputed {
		b.WriteString("; the size is disputed")
	}
	if w.LastResort {
		b.WriteString("; nobody more reliable has it")
	}
	return b.String()
}

// round leaves three digits or so.
func round(d time.Duration) time.Duration {
	switch {
	case d > time.Minute:
		return d.Round(time.Second)
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}

// Picks returns all parts of a plan, the primary first.
func (p Plan) Picks() []Pick {
	return slices.Concat([]Pick{p.Primary}, p.Redundant, p.Shadow)
}
