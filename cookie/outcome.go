package cookie

import "time"

// Value is a cookie as it travels: bit 31 set, the other 31 bits unpredictable.
// yamux counts its own pings up from 0, so bit 31 keeps the two apart.
type Value uint32

// Marker is the bit that every cookie has set and no ping of the multiplexer's
// own has, for its first 2^31.
const Marker Value = 1 << 31

// Outcome says what an echo was.
type Outcome uint8

const (
	// Foreign is a value without bit 31: not a cookie. The caller passes it on;
	// it is not counted.
	Foreign Outcome = iota
	// Sample is the first echo of an outstanding cookie: it measures.
	Sample
	// Late is the echo of a cookie that was given up or withdrawn, or that is too
	// old to be remembered. No sample, and no evidence against the peer.
	Late
	// Replay is a second echo of one cookie.
	Replay
	// Forged is a value that was never issued. An honest peer never sends one.
	Forged
)

// String names the outcome in lower case, as a metrics label would.
func (o Outcome) String() string {
	switch o {
	case Foreign:
		return "foreign"
	case Sample:
		return "sample"
	case Late:
		return "late"
	case Replay:
		return "replay"
	case Forged:
		return "forged"
	}
	return "unknown"
}

// Echo is what came of one echoed value. All but Outcome is zero unless Outcome
// is Sample.
type Echo struct {
	Outcome Outcome
	// RTT is the time from issue to echo, never negative.
	RTT time.Duration
	// SentAt is the instant at which the cookie was issued.
	SentAt time.Duration
	// Loaded says that a queue of payload, ours or the peer's, was in the way.
	Loaded bool
}

// Counts are totals since the queue was made. At any time
// Issued = Echoed + Skipped + Withdrawn + Len.
type Counts struct {
	Issued    uint64 // cookies dealt
	Echoed    uint64 // of which answered in time: the samples
	Skipped   uint64 // of which given up unanswered
	Withdrawn uint64 // of which taken back by us

	Late     uint64 // echoes of cookies already gone
	Replayed uint64 // echoes of cookies already echoed
	Forged   uint64 // echoes of cookies never issued
}
