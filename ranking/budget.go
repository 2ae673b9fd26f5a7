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
	// floor is what may be spent however little was fetched, in bytes an hour. Larger weakens share on
	// idle nodes. 32 MiB: half of it, the ordinary part, lets a young node hedge one datum of 12 MB.
	floor int64
	// discovery is the part of the bytes of the last hour, out of the ordinary, that first trials may come
	// to, discoveryFloor what they may however little was fetched. Larger finds good peers sooner where
	// many are new; a flood of identities costs so much, and leaves the rest to hedges. 1 % and 8 MiB: eight
	// first ranges, as many newcomers of as many places at once as most nodes ever see.
	discovery      float64
	discoveryFloor int64
	// redundancy is the share that critical fetches may be redundant with from their start. Critical
	// items are few; larger lets more of them come twice.
	redundancy float64
	// redundancyFloor is to redundancy as floor is to share.
	redundancyFloor int64
}

func defaultBudgetLimits() budgetLimits {
	return budgetLimits{
		share: 0.05, reserve: 0.5, floor: 32 << 20,
		discovery: 0.01, discoveryFloor: 8 << 20,
		redundancy: 0.25, redundancyFloor: 64 << 20,
	}
}

// spending says what extra bytes are for.
type spending uint8

const (
	// ordinary is hedges, shadows and exploration but for first trials.
	ordinary spending = iota
	// discovery is first trials: a part of what is ordinary.
	discovery
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
	case discovery:
		return "discovery"
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
		all := max(int64(useful*b.limits.redundancy), b.limits.redundancyFloor)
		return max(all-b.used(now, redundant), 0)
	}
	all := max(int64(useful*b.limits.share), b.limits.floor)
	plain := b.used(now, ordinary) + b.used(now, discovery)
	left := all - plain - b.used(now, critical)
	if what != critical {
		left = min(left, int64(float64(all)*(1-b.limits.reserve))-plain)
	}
	if what == discovery {
		first := max(int64(useful*b.limits.discovery), b.limits.discoveryFloor)
		left = min(left, first-b.used(now, discovery))
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
