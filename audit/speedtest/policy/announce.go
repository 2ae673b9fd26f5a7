package policy

import (
	"slices"
	"time"
)

const (
	// mostAnnounced bounds the announcements kept, and mostOfGroup those of one
	// network group, so that one party cannot make us forget the others'.
	mostAnnounced = 1024
	mostOfGroup   = 8
)

// announcements are the testers that said they would come, the oldest first.
type announcements []entry

// add notes a tester, unless it is noted.
func (a *announcements) add(now time.Duration, w Who) {
	if _, ok := a.of(w); ok {
		return
	}
	group := 0
	for _, e := range *a {
		if e.who.Group == w.Group {
			group++
		}
	}
	switch {
	case group >= mostOfGroup:
		i := slices.IndexFunc(*a, func(e entry) bool { return e.who.Group == w.Group })
		*a = slices.Delete(*a, i, i+1)
	case len(*a) >= mostAnnounced:
		*a = slices.Delete(*a, 0, 1)
	}
	*a = append(*a, entry{at: now, who: w})
}

// of is when a tester announced itself.
func (a announcements) of(w Who) (time.Duration, bool) {
	i := slices.IndexFunc(a, func(e entry) bool { return e.who == w })
	if i < 0 {
		return 0, false
	}
	return a[i].at, true
}
