package mux

import (
	"sync"
	"time"

	"github.com/assay-mux/assay/burst"
)

// Begin says that a fetch is outstanding: data has been, or is about to be,
// asked of this peer. Call end once, as soon as the last byte has been read or
// the fetch is given up, before checking or storing anything; further calls do
// nothing. From its first byte to its end, silence that is not ours counts
// against the peer's rate. Any number of fetches may be outstanding.
func (m *Meter) Begin() (end func()) {
	m.mu.Lock()
	id, sample, closed := m.begin(m.now())
	m.mu.Unlock()
	m.emit(sample, closed)
	var once sync.Once
	return func() { once.Do(func() { m.end(id) }) }
}

// begin declares a fetch to the window. The caller holds mu.
func (m *Meter) begin(now time.Duration) (burst.Fetch, burst.Sample, bool) {
	id, sample, closed := m.pair.window.Begin(now)
	m.fold(sample, closed)
	if m.fetching.Add(1) == 1 {
		m.since = now
		m.wrote.Store(int64(now))
	}
	m.arm(now)
	return id, sample, closed
}

func (m *Meter) end(id burst.Fetch) {
	m.mu.Lock()
	sample, closed := m.finish(m.now(), id)
	m.mu.Unlock()
	m.emit(sample, closed)
}

// finish ends a fetch. The caller holds mu.
func (m *Meter) finish(now time.Duration, id burst.Fetch) (burst.Sample, bool) {
	at, own, done := m.lastSilence(now)
	sample, closed := m.pair.window.End(at, id, own, done)
	m.fold(sample, closed)
	m.fetching.Add(-1)
	return sample, closed
}

// lastSilence is the one that no more payload ends: until when the peer owed us
// some, our own part of it, and whether it had ended all that it was sending.
func (m *Meter) lastSilence(now time.Duration) (until, own time.Duration, done bool) {
	unfinished := m.ledger.unfinished(m.sinceWhen())
	if !unfinished && m.cut.at > m.lastPayload {
		return m.cut.at, m.cut.own, false
	}
	own, _ = m.attribute(m.untilNow(now))
	return now, own, !unfinished
}

// sinceWhen is since when a stream must have carried payload to be one of those that
// matter: an earlier burst of the fetches outstanding will do.
func (m *Meter) sinceWhen() time.Duration { return min(m.burstOpened, m.since) }

// untilNow is a silence that no read has ended: our absence in it cannot be
// proved.
func (m *Meter) untilNow(now time.Duration) silence {
	return silence{last: m.lastPayload, now: now, left: now, began: now}
}

// inferFetch begins a fetch of the meter's own with the first payload on an
// open stream, and ends it when the peer is done with all that carried some.
// The caller holds mu.
func (m *Meter) inferFetch(now time.Duration) (sample burst.Sample, closed bool) {
	switch busy := m.ledger.busy > 0; {
	case !m.infer || busy == m.inferring:
	case busy:
		m.inferring = true
		m.inferred, sample, closed = m.begin(now)
	default:
		m.inferring = false
		sample, closed = m.finish(now, m.inferred)
	}
	return sample, closed
}

// loneAfter is how long, at least, no frame of ours must have gone out during
// a fetch before a cookie goes alone: ten a second are a probe, not a load.
const loneAfter = 100 * time.Millisecond

// pulse is the one timer of a connection. It runs only while a burst is open,
// which it closes when the peer has fallen silent, or while a fetch is
// outstanding, for which it sends lone cookies.
type pulse struct {
	timer   *time.Timer
	at      time.Duration // when it fires, if armed
	armed   bool
	stopped bool
}

// The least time between two beats, whatever they find to do: usually, and
// while nobody reads the connection.
const (
	minBeat  = 10 * time.Millisecond
	idleBeat = time.Second
)

// period is the silence of ours after which a cookie goes alone. The caller
// holds mu, here and below.
func (m *Meter) period() time.Duration { return max(loneAfter, m.path.BaseRTT/2) }

// nextBeat is when there may be something to do.
func (m *Meter) nextBeat() (time.Duration, bool) {
	at, open := m.pair.window.Deadline()
	if m.fetching.Load() > 0 && !m.cookiesStopped() {
		lone := time.Duration(m.wrote.Load()) + m.period()
		if !open || lone < at {
			return lone, true
		}
	}
	return at, open
}

// arm sees to it that the timer fires in time.
func (m *Meter) arm(now time.Duration) {
	p := &m.pulse
	at, ok := m.nextBeat()
	if !ok || p.stopped || p.armed && p.at <= at {
		return
	}
	least := minBeat
	if !m.reading.Load() && m.fetching.Load() == 0 {
		least = idleBeat // a burst does not close while nobody reads
	}
	at = max(at, now+least)
	p.armed, p.at = true, at
	if p.timer == nil {
		p.timer = time.AfterFunc(at-now, m.beat)
		return
	}
	p.timer.Reset(at - now)
}

// beat is what the timer runs.
func (m *Meter) beat() {
	m.mu.Lock()
	if m.pulse.stopped {
		m.mu.Unlock()
		return
	}
	m.pulse.armed = false
	now := m.now()
	var sample burst.Sample
	var closed bool
	if m.reading.Load() { // else data may be waiting for us
		sample, closed = m.pair.window.Tick(now, m.causes(m.untilNow(now)).union())
		m.fold(sample, closed)
	}
	m.pair.cookies.Expire(now, m.counts.PayloadIn)
	alone := m.fetching.Load() > 0 && !m.cookiesStopped() && now-time.Duration(m.wrote.Load()) >= m.period()
	if alone {
		m.wrote.Store(int64(now))
	}
	m.mu.Unlock()
	m.emit(sample, closed)
	if alone {
		m.lone(now)
	}
	m.mu.Lock()
	m.arm(m.now())
	m.mu.Unlock()
}

// close ends the measuring: the last burst closes and the timer is stopped.
func (m *Meter) close() {
	m.stopCookies()
	m.mu.Lock()
	m.pulse.stopped = true
	if m.pulse.timer != nil {
		m.pulse.timer.Stop()
	}
	sample, closed := m.pair.window.Close(m.lastSilence(m.now()))
	m.fold(sample, closed)
	m.mu.Unlock()
	m.emit(sample, closed)
}
