package mux

import (
	"cmp"
	"slices"
	"time"
)

// Gaps are the shares of the silence inside bursts and fetches that were our
// own fault, by cause. A moment with two causes counts under both.
type Gaps struct {
	Credit time.Duration // the peer had used up the receive window we granted
	Absent time.Duration // nobody was reading the connection
	Frozen time.Duration // the process did not run
}

// booked is what is in the books of the silence since an instant. A fetch may end
// in a silence that goes on, and whoever looks next sees all of it again.
type booked struct {
	since time.Duration
	gaps  Gaps
}

// add books what is new of a silence. The caller holds the meter's lock.
func (b *booked) add(total *Gaps, since time.Duration, c causes) {
	if b.since != since {
		*b = booked{since: since}
	}
	for _, k := range [...]struct {
		total, had *time.Duration
		is         span
	}{
		{&total.Credit, &b.gaps.Credit, c.credit},
		{&total.Absent, &b.gaps.Absent, c.absent},
		{&total.Frozen, &b.gaps.Frozen, c.frozen},
	} {
		more := max(k.is.length()-*k.had, 0)
		*k.total += more
		*k.had += more
	}
}

const (
	// worthwhile is the shortest gap whose causes are looked into.
	worthwhile = time.Millisecond

	// atOnce is how soon a Read must return to show that data had waited for
	// it. A read of waiting bytes takes microseconds; a busy machine may add
	// some hundreds.
	atOnce = time.Millisecond
)

// silence is one gap before a payload arrival, or before now.
type silence struct {
	last  time.Duration // the previous payload arrival
	now   time.Duration // this one
	left  time.Duration // when the read before this one returned
	began time.Duration // when the read that brought this one began
}

// span is an interval of time; it is empty unless from < to.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return max(s.to-s.from, 0) }

// causes are the provable parts of a silence that were our own fault. What
// cannot be proved is the peer's: our absence counts only if the next read
// returned at once, data having waited for it, and a freeze only if it
// returned as soon as the process ran again.
type causes struct{ credit, absent, frozen span }

// causes looks into a silence. The caller holds mu.
func (m *Meter) causes(s silence) causes {
	var c causes
	if s.now-s.last < worthwhile {
		return c
	}
	c.credit = span{s.last, m.ledger.exhausted(m.burstOpened, s.last, s.now, m.path.BaseRTT, m.fetching.Load() > 0)}
	if absent := (span{max(s.left, s.last), s.began}); s.now-s.began <= atOnce && absent.length() >= worthwhile {
		c.absent = absent
	}
	if from, to, ok := m.watcher.Frozen(m.base.Add(s.last), m.base.Add(s.now)); ok && m.base.Add(s.now).Sub(to) <= watchTick {
		c.frozen = span{from.Sub(m.base), to.Sub(m.base)}
	}
	return c
}

// union is the time that the causes cover together.
func (c causes) union() time.Duration {
	if c == (causes{}) {
		return 0 // nearly always, once a read
	}
	spans := [...]span{c.credit, c.absent, c.frozen}
	slices.SortFunc(spans[:], func(a, b span) int { return cmp.Compare(a.from, b.from) })
	total, end := time.Duration(0), spans[0].from
	for _, s := range spans {
		s.from = max(s.from, end)
		total += s.length()
		end = max(end, s.to)
	}
	return total
}
