package ranking

import "time"

// The hour over which budgets are counted, in slots: a spending is forgotten with its slot, so up
// to a minute early.
const (
	budgetSlots = 60
	budgetSlot  = time.Minute
)

// budgetLimits are the knobs of a budget.
type budgetLimits struct {
	// share of the bytes of the last hour may be extra: hedges, shadows, exploration. Larger
	// recovers more stalled fetches and costs more. 5 %: attackers that win half of all picks drain
	// it, and the reserve outlasts them.
	share float64
	// reserve is the part of that only critical fetches may use. Larger starves ordinary hedges.
	reserve float64
	// floor is what may be spent before anything has been fetched, in bytes an hour: one stalled
	// fetch of a young node. Larger weakens share on idle nodes.
	floor int64
	// redundancy is the share that critical fetches may be redundant with from their start. Critical
	// items are few; larger lets more of them come twice.
	redundancy float64
	// redundancyFloor is to redundancy as floor is to share.
	redundancyFloor int64
}

func defaultBudgetLimits() budgetLimits {
	return budgetLimits{
		share: 0.05, reserve: 0.5, floor: 16 << 20,
		redundancy: 0.25, redundancyFloor: 64 << 20,
	}
}

// spending says what extra bytes are for.
type spending uint8

const (
	// ordinary is hedges, shadows and exploration.
	ordinary spending = iota
	// critical is hedges of critical fetches.
	critical
	// redundant is the second copy of a critical fetch from its start.
	redundant
	spendings
)

// String returns the spending as a label.
func (s spending) String() string {
	switch s {
	case ordinary:
		return "ordinary"
	case critical:
		return "critical"
	case redundant:
		return "redundant"
	}
	return "unknown"
}

// budget rations extra bytes over a sliding hour. It is not safe for concurrent use.
type budget struct {
	limits   budgetLimits
	useful   hour
	spent    [spendings]hour
	reserved [spendings]int64
}

// reservation is extra bytes set aside. It ends by [budget.settle], once.
type reservation struct {
	what  spending
	bytes int64
}

func newBudget(l budgetLimits) *budget { return &budget{limits: l} }

// fetched counts bytes that were wanted.
func (b *budget) fetched(now time.Duration, bytes int64) { b.useful.add(now, bytes) }

// reserve sets extra bytes aside, the most that may come, if they are within what is left.
func (b *budget) reserve(now time.Duration, what spending, bytes int64) (reservation, bool) {
	if bytes < 0 || bytes > b.left(now, what) {
		return reservation{}, false
	}
	b.reserved[what] += bytes
	return reservation{what, bytes}, true
}

// settle replaces a reservation by what it came to. A hedge of a peer that delivers nothing more
// costs nothing: extra is what came beyond the datum itself.
func (b *budget) settle(now time.Duration, r reservation, extra int64) {
	b.reserved[r.what] -= r.bytes
	b.spent[r.what].add(now, max(extra, 0))
}

// left is what may be reserved for a purpose.
func (b *budget) left(now time.Duration, what spending) int64 {
	useful := float64(b.useful.sum(now))
	if what == redundant {
		return max(int64(useful*b.limits.redundancy), b.limits.redundancyFloor) - b.used(now, redundant)
	}
	all := max(int64(useful*b.limits.share), b.limits.floor)
	plain := b.used(now, ordinary)
	left := all - plain - b.used(now, critical)
	if what == ordinary {
		left = min(left, int64(float64(all)*(1-b.limits.reserve))-plain)
	}
	return max(left, 0)
}

func (b *budget) used(now time.Duration, what spending) int64 {
	return b.spent[what].sum(now) + b.reserved[what]
}

// hour sums over the last hour. The zero value is empty.
type hour struct {
	slots [budgetSlots]int64
	at    int64 // the number of the newest slot
	total int64
}

func (h *hour) add(now time.Duration, n int64) {
	h.age(now)
	h.slots[h.at%budgetSlots] += n
	h.total += n
}

func (h *hour) sum(now time.Duration) int64 {
	h.age(now)
	return h.total
}

// age empties the slots that are an hour old. An instant before the newest slot ages nothing.
func (h *hour) age(now time.Duration) {
	at := int64(max(now, 0) / budgetSlot)
	if at-h.at >= budgetSlots {
		*h = hour{at: at}
		return
	}
	for h.at < at {
		h.at++
		h.total -= h.slots[h.at%budgetSlots]
		h.slots[h.at%budgetSlots] = 0
	}
}

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
		out[i] = now - a.at[i]
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
