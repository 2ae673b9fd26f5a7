package mux

import (
	"time"

	"github.com/assay-mux/assay/burst"
)

// arrived books one of the peer's frames, and the round trip it may show. The
// caller holds mu, here and below.
func (m *Meter) arrived(h header, now time.Duration) *account {
	a, answer := m.ledger.arrived(h, now)
	if answer > 0 {
		m.rtt.Vouch(now, answer)
		m.refreshBase()
	}
	return a
}

// payload books n bytes that count. The first of a batch decide whose the
// silence before them was, while the accounts still stand as they did then.
func (m *Meter) payload(a *account, b *batch, n int) {
	b.unasked = (b.unasked || b.bytes == 0) && m.ledger.unasked(a)
	if b.bytes == 0 {
		b.own, b.queued = m.attribute(b.silence)
		b.queued = m.inBacklog(b)
	}
	b.bytes += n
	m.counts.PayloadIn += uint64(n)
	m.ledger.payload(a, b.now, n)
}

// attribute keeps the causes of a silence in the books, where a silence means
// anything at all. It returns our part of it, and whether the bytes that ended
// it had waited for us, so that their time of arrival says nothing.
func (m *Meter) attribute(s silence) (own time.Duration, queued bool) {
	if !m.measuring() {
		return 0, false
	}
	s.last = max(s.last, m.since) // what was before is idleness
	c := m.causes(s)
	m.booked.add(&m.gaps, s.last, c)
	return c.union(), c.absent != span{} || c.frozen != span{}
}

// waitless is how soon a read returns that had nothing to wait for.
const waitless = 100 * time.Microsecond

// inBacklog says whether a batch had waited for us. After an absence of ours
// so has what the next reads bring, until one of them waits; but no longer
// than we were away, for a path as fast as our reads never makes them wait.
func (m *Meter) inBacklog(b *batch) bool {
	switch {
	case b.queued:
		m.backlog = b.now + b.own
	case b.now >= m.backlog:
	case b.now-b.began <= waitless:
		return true
	default:
		m.backlog = 0
	}
	return b.queued
}

// measuring says whether a burst is open or a fetch outstanding.
func (m *Meter) measuring() bool {
	_, open := m.pair.window.Deadline()
	return open || m.fetching.Load() > 0
}

// arrive feeds a batch to the window.
func (m *Meter) arrive(b *batch) (sample burst.Sample, closed bool) {
	w := m.pair.window
	if b.echoed {
		m.refreshBase() // before the gap of what came with it is judged
	}
	if b.bytes > 0 {
		if asked := m.asked.Load(); asked != 0 {
			m.asked.Store(0)
			w.Asked(time.Duration(asked))
		}
		sample, closed = w.Arrive(burst.Arrival{At: b.now, Bytes: b.bytes, Ours: b.own, Queued: b.queued, Unasked: b.unasked})
		m.fold(sample, closed)
		m.lastPayload = b.now
		m.burstOpened = w.State().Opened
		m.arm(b.now)
	}
	if b.echoed {
		w.Echoed(b.now)
	}
	if !closed {
		return m.inferFetch(b.now)
	}
	return sample, closed
}

// wasReset closes the account of a stream that was cancelled here.
func (m *Meter) wasReset(stream uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Resets++
	m.cutOff(resetFrame(stream), m.now())
	if a := m.ledger.streams[stream]; a != nil {
		m.ledger.settle(resetFrame(stream), a)
	}
}

// cut is when we last reset a stream that the peer had not ended, and our own part
// of the silence until then: the peer owed it, whatever the ledger says afterwards.
type cut struct{ at, own time.Duration }

// cutOff notes a reset of ours, before the ledger forgets the stream. The caller
// holds mu.
func (m *Meter) cutOff(h header, now time.Duration) {
	a := m.ledger.streams[h.stream]
	if h.flags&flagRST == 0 || a == nil || !a.unfinished(m.sinceWhen()) {
		return
	}
	own, _ := m.attribute(m.untilNow(now))
	m.cut = cut{now, own}
}
