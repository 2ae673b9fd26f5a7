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
	// usMaxGroups bounds the groups remembered, the longest silent dropped first.
	usMaxGroups = 4096
	// usMedianEvery is how old the common mode may be: it sorts, and a fetch must not wait for that.
	usMedianEvery = time.Second
)

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

	others, gaps, link hold

	promptAt time.Duration // when a group that votes last was as good as expected

	median float64
	medAt  time.Duration
	medOK  bool
}

func newItsUs() *itsUs { return &itsUs{last: map[Group]*list.Element{}, order: list.New()} }

// observe counts a finished fetch. Only a group that votes, that is one that is aged and clear,
// speaks; one that no longer does is forgotten. An excess that is not a number is none.
func (u *itsUs) observe(now time.Duration, g Group, excess float64, votes bool) {
	u.expire(now)
	if votes && excess == excess {
		o := u.speaker(g)
		o.at = now
		u.count(o, -1)
		o.excess = excess
		u.count(o, +1)
		u.prompt(now, excess)
	} else {
		u.forget(u.last[g])
	}
	u.judge(now)
}

// prompt takes in that a group was as good as expected, which no trouble of ours lets it be: it ends a
// hold that rests on two slow ones.
func (u *itsUs) prompt(now time.Duration, excess float64) {
	if excess >= usDegraded {
		return
	}
	u.promptAt = now
	if u.others.cause == slowProbe {
		u.others.cause = notHeld
	}
}

// speaker is the newest of the outcomes, that of the group.
func (u *itsUs) speaker(g Group) *outcome {
	if el := u.last[g]; el != nil {
		u.order.MoveToBack(el)
		return el.Value.(*outcome)
	}
	if u.order.Len() >= usMaxGroups {
		u.forget(u.order.Front())
	}
	o := &outcome{group: g}
	u.last[g] = u.order.PushBack(o)
	return o
}

// count keeps how many of the outcomes degrade.
func (u *itsUs) count(o *outcome, n int) {
	if o.excess >= usDegraded {
		u.degraded += n
	}
}

// enough says whether so many groups have spoken that their share tells.
func (u *itsUs) enough() bool { return u.order.Len() >= usGroups }

// evidence counts what speaks for trouble of our own, however few groups there are.
func (u *itsUs) evidence(now time.Duration, c holdCause) {
	switch c {
	case ownLink:
		u.link.hold(now, c)
	case ownGaps:
		u.gaps.ration(now, c, holdOwn)
	case slowProbe:
		u.others.ration(now, c, holdMost)
	case notHeld, manyGroups: // the latter is ours to find
	}
}

// held says whether verdicts are held, and why.
func (u *itsUs) held(now time.Duration) (holdCause, bool) {
	for _, h := range []*hold{&u.link, &u.gaps, &u.others} {
		if h.holds(now) {
			return h.cause, true
		}
	}
	return notHeld, false
}

// commonMode is the median over the groups of their last excess: what to subtract from every excess
// while verdicts are held, so that what is gross even among the slow still shows. 0 if they aren't
// held, or too few groups have spoken.
func (u *itsUs) commonMode(now time.Duration) float64 {
	u.expire(now)
	if _, held := u.held(now); !held || u.order.Len() < usGroups {
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

// judge starts a hold if most groups degrade, and ends one early if they no longer do.
func (u *itsUs) judge(now time.Duration) {
	n := u.order.Len()
	switch {
	case n < usGroups:
	case 100*u.degraded >= usShare*n:
		if !u.others.holds(now) {
			u.others.ration(now, manyGroups, holdMost)
			u.medOK = false
		}
	case 100*u.degraded < usEnd*n && u.others.cause == manyGroups:
		u.others.cause = notHeld
	}
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
	u.count(o, -1)
}
