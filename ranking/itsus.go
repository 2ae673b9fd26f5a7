package ranking

import (
	"container/list"
	"slices"
	"time"
)

// The rule by which many peers' slowness at once is ours. Looser ones can be set off by a coalition:
// with a third of the groups hostile this one is in less than one window of a thousand.
const (
	// usWindow is how long a group's last outcome speaks for it.
	usWindow = time.Minute
	// usGroups is the least number of aged, clear groups that must have spoken.
	usGroups = 12
	// usShare is the share of them that must degrade, in percent; below usEnd the hold ends early.
	usShare, usEnd = 75, 50
	// usDegraded is the excess of actual over predicted from which a fetch counts: the audit's least
	// threshold.
	usDegraded = 0.8
	// usHold is the longest hold, usEvery the least time from one to the next: a coalition that
	// comes up in the right numbers wins one hold in six.
	usHold, usEvery = 5 * time.Minute, 30 * time.Minute
	// usOwn is how long evidence of our own holds verdicts.
	usOwn = time.Minute
	// usMaxGroups bounds the groups remembered, the longest silent dropped first.
	usMaxGroups = 4096
	// usMedianEvery is how old the common mode may be: it sorts, and a fetch must not wait for that.
	usMedianEvery = time.Second
)

// holdCause says why verdicts are held.
type holdCause uint8

const (
	// notHeld: they are not.
	notHeld holdCause = iota
	// manyGroups: most groups degrade at once.
	manyGroups
	// ownGaps: more than half of the time of a fetch was lost by ourselves.
	ownGaps
	// ownLink: our own link is at its known limit.
	ownLink
	// slowProbe: a peer that has long been clear is slow too.
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

// outcome is the last fetch of a group.
type outcome struct {
	group  Group
	at     time.Duration
	excess float64 // actual/predicted - 1
}

// itsUs tells our own trouble from the peers'. It is not safe for concurrent use.
type itsUs struct {
	last     map[Group]*list.Element // of *outcome
	order    *list.List              // the oldest in front
	degraded int

	cause  holdCause
	until  time.Duration // of the hold
	next   time.Duration // the next hold on the word of others is not before
	median float64
	medAt  time.Duration
	medOK  bool
}

func newItsUs() *itsUs { return &itsUs{last: map[Group]*list.Element{}, order: list.New()} }

// observe counts a finished fetch. Only a group that votes, that is one that is aged and clear,
// speaks; one that no longer does is forgotten.
func (u *itsUs) observe(now time.Duration, g Group, excess float64, votes bool) {
	u.expire(now)
	u.forget(u.last[g])
	if votes {
		if u.order.Len() >= usMaxGroups {
			u.forget(u.order.Front())
		}
		u.last[g] = u.order.PushBack(&outcome{g, now, excess})
		if excess >= usDegraded {
			u.degraded++
		}
	}
	u.judge(now)
}

// evidence counts what speaks for trouble of our own whatever the groups say. What we measure of
// ourselves holds verdicts for a minute each time; a probe is a peer's word and rationed like the
// groups'.
func (u *itsUs) evidence(now time.Duration, c holdCause) {
	switch c {
	case ownGaps, ownLink:
		if u.holding(now) {
			u.until = max(u.until, now+usOwn)
			return
		}
		u.cause, u.until = c, now+usOwn
	case slowProbe:
		u.start(now, c)
	case notHeld, manyGroups:
	}
}

// hold says whether verdicts are held, and why.
func (u *itsUs) hold(now time.Duration) (holdCause, bool) {
	if !u.holding(now) {
		return notHeld, false
	}
	return u.cause, true
}

// commonMode is the median over the groups of their last excess: what to subtract from every excess
// while verdicts are held. 0 if they aren't, or too few groups have spoken.
func (u *itsUs) commonMode(now time.Duration) float64 {
	u.expire(now)
	if !u.holding(now) || u.order.Len() < usGroups {
		return 0
	}
	if u.medOK && now-u.medAt < usMedianEvery {
		return u.median
	}
	all := make([]float64, 0, u.order.Len())
	for el := u.order.Front(); el != nil; el = el.Next() {
		all = append(all, el.Value.(*outcome).excess)
	}
	slices.Sort(all)
	u.median = max(0, (all[(len(all)-1)/2]+all[len(all)/2])/2)
	u.medAt, u.medOK = now, true
	return u.median
}

func (u *itsUs) holding(now time.Duration) bool { return u.cause != notHeld && now < u.until }

// judge starts a hold if most groups degrade, and ends one early if they no longer do.
func (u *itsUs) judge(now time.Duration) {
	n := u.order.Len()
	switch {
	case n < usGroups:
	case 100*u.degraded >= usShare*n:
		u.start(now, manyGroups)
	case 100*u.degraded < usEnd*n && u.cause == manyGroups:
		u.cause = notHeld
	}
}

// start begins a hold on the word of others, if it is time for one.
func (u *itsUs) start(now time.Duration, c holdCause) {
	if now < u.next {
		return
	}
	u.cause, u.until, u.next, u.medOK = c, now+usHold, now+usEvery, false
}

// expire forgets what is older than the window.
func (u *itsUs) expire(now time.Duration) {
	for el := u.order.Front(); el != nil && now-el.Value.(*outcome).at > usWindow; el = u.order.Front() {
		u.forget(el)
	}
}

func (u *itsUs) forget(el *list.Element) {
	if el == nil {
		return
	}
	o := u.order.Remove(el).(*outcome)
	delete(u.last, o.group)
	if o.excess >= usDegraded {
		u.degraded--
	}
}
