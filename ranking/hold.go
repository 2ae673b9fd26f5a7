package ranking

import "time"

const (
	// holdMost is the longest hold, holdEvery the least time from the start of one to the next:
	// whoever can bring one about at will wins one minute in six, and no more than a delay.
	holdMost, holdEvery = 5 * time.Minute, 30 * time.Minute
	// holdOwn is how long one piece of evidence of our own holds.
	holdOwn = time.Minute
)

// holdCause says why verdicts are held.
type holdCause uint8

const (
	// notHeld: they are not.
	notHeld holdCause = iota
	// manyGroups: most groups degrade at once.
	manyGroups
	// ownGaps: more than half of the time of a fetch was lost by ourselves. Rationed, for a peer can
	// keep us busy.
	ownGaps
	// ownLink: our own link is at its known limit. Not rationed: only bytes we asked for fill it, and
	// it lasts as long as it lasts.
	ownLink
	// slowProbe: a peer that has long been clear is slow too. A peer's word, so rationed together
	// with that of the groups.
	slowProbe
)

// String returns the cause as a label: lower case, underscores.
func (c holdCause) String() string {
	switch c {
	case notHeld:
		return "not_held"
	case manyGroups:
		return "many_groups"
	case ownGaps:
		return "own_gaps"
	case ownLink:
		return "own_link"
	case slowProbe:
		return "slow_probe"
	}
	return "unknown"
}

// hold is a time during which no verdict is passed. The zero value is none yet.
type hold struct {
	cause holdCause
	began time.Duration
	until time.Duration
	next  time.Duration // the next rationed one does not start before
}

func (h *hold) holds(now time.Duration) bool { return h.cause != notHeld && now < h.until }

// hold holds for holdOwn from now.
func (h *hold) hold(now time.Duration, c holdCause) {
	h.cause, h.until = c, now+holdOwn
}

// ration holds for so long from now: never longer than holdMost from the start of the hold, and
// never twice within holdEvery.
func (h *hold) ration(now time.Duration, c holdCause, long time.Duration) {
	switch {
	case h.holds(now):
		h.until = min(max(h.until, now+long), h.began+holdMost)
	case now >= h.next:
		*h = hold{cause: c, began: now, until: now + min(long, holdMost), next: now + holdEvery}
	}
}
