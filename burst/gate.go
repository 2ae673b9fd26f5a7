package burst

// Gate says whether the peer is still serving the open burst promptly. It decides coverage and the
// extension of the burst, never what is charged.
type Gate uint8

// The states of a Gate.
const (
	// Idle: no burst is open.
	Idle Gate = iota
	// Open: each prompt or vouched arrival extends the burst and adds to its coverage.
	Open
	// Tripped: the peer fell silent with nothing to vouch for it. The extension is revoked for the
	// rest of the burst; what still arrives counts in the rate, not in coverage.
	Tripped
)

// String returns the state in lower case.
func (g Gate) String() string {
	switch g {
	case Idle:
		return "idle"
	case Open:
		return "open"
	case Tripped:
		return "tripped"
	}
	return "unknown"
}

// event is what happens to a gate.
type event uint8

const (
	opening event = iota // the first arrival of a burst
	prompt               // an arrival within the spacing
	vouched              // an arrival after a longer gap, with an echo that vouches for the peer
	silent               // an arrival after a longer gap that nothing vouches for
	closing              // the burst ends
	events               // the number of events
)

// next is the whole state machine: once tripped, only the end of the burst resets it.
func (g Gate) next(e event) Gate {
	switch {
	case e == opening:
		return Open
	case e == closing || g == Idle:
		return Idle
	case e == silent:
		return Tripped
	}
	return g
}
