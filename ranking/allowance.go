package ranking

import "time"

// costsPerDay is how many hedges a peer may cost us a day. More lets it stall more fetches at our
// expense; with fewer an honest peer's bad hour counts too much.
const costsPerDay = 2

const day = 24 * time.Hour

// allowance is how many hedges a peer may still cost us. The zero value is whole. Having cost them,
// a peer isn't relied on where a hedge may be needed.
type allowance struct {
	at [costsPerDay]time.Duration // when, the oldest first
	n  int
}

// left is how many more hedges the peer may cost.
func (a *allowance) left(now time.Duration) int {
	n := costsPerDay
	for _, at := range a.at[:a.n] {
		if now-at < day {
			n--
		}
	}
	return n
}

// charge counts a hedge that the peer cost, and says whether it was allowed. One that wasn't moves
// the oldest out, so that the peer waits a day from its last ones.
func (a *allowance) charge(now time.Duration) bool {
	ok := a.left(now) > 0
	if a.n == costsPerDay {
		copy(a.at[:], a.at[1:])
		a.n--
	}
	a.at[a.n] = now
	a.n++
	return ok
}

// ages are how long ago each cost was, the oldest first, for a state file.
func (a *allowance) ages(now time.Duration) []time.Duration {
	out := make([]time.Duration, a.n)
	for i := range out {
		out[i] = ageOf(now, a.at[i])
	}
	return out
}

// restored is the allowance of these ages, the oldest first; of too many the youngest count.
func restored(now time.Duration, ages []time.Duration) allowance {
	var a allowance
	for _, age := range ages {
		a.charge(now - age)
	}
	return a
}
