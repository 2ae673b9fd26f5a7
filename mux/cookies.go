package mux

import (
	"time"

	"github.com/assay-mux/assay/cookie"
)

// cookieDue says, without the lock, whether it is worth asking for a cookie.
func (m *Meter) cookieDue(now time.Duration) bool { return now >= time.Duration(m.due.Load()) }

// retryAfter is how long to wait before asking again when the limit of
// unanswered cookies is reached.
const retryAfter = time.Millisecond

// issue makes a cookie that is about to be written.
func (m *Meter) issue(now time.Duration) (cookie.Value, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cookiesStopped() {
		return 0, false
	}
	v, ok := m.pair.cookies.Issue(now, m.counts.PayloadIn)
	m.setDue(now + max(m.interval, retryAfter))
	if ok {
		m.setDue(now + m.interval)
	}
	return v, ok
}

// setDue moves the next cookie's time, unless cookies have been stopped. The
// caller holds mu; stopCookies may come from outside.
func (m *Meter) setDue(at time.Duration) {
	old := m.due.Load()
	if old != int64(never) {
		m.due.CompareAndSwap(old, int64(at))
	}
}

// stopCookies ends the sending of cookies for good.
func (m *Meter) stopCookies() { m.due.Store(int64(never)) }

func (m *Meter) cookiesStopped() bool { return m.due.Load() == int64(never) }

func (m *Meter) withdraw(v cookie.Value) {
	m.mu.Lock()
	m.pair.cookies.Withdraw(v)
	m.mu.Unlock()
}

func (m *Meter) markLoaded(v cookie.Value) {
	m.mu.Lock()
	m.pair.cookies.MarkLoaded(v)
	m.mu.Unlock()
}

// sent books one of our own frames that opens, closes or feeds a stream. It is
// called before the write, for the answer may come before that returns.
func (m *Meter) sent(h header, now time.Duration) {
	m.mu.Lock()
	m.cutOff(h, now)
	m.ledger.sent(h, now)
	m.mu.Unlock()
}

// askedFor notes a Data frame of ours. Only the first since the last payload
// is kept: warm or cold is judged by how idle the path was when we asked, and
// asking again during a stall must not make the peer cold.
func (m *Meter) askedFor(now time.Duration) {
	if m.asked.Load() == 0 {
		m.asked.Store(max(int64(now), 1))
	}
}

// wroteFrame notes the time of a frame of ours while that matters.
func (m *Meter) wroteFrame(now time.Duration) {
	if m.fetching.Load() > 0 {
		m.wrote.Store(int64(now))
	}
}

// echo settles an inbound answer with bit 31 set. One that is not ours is kept
// from the host too, for some close the session on an answer they did not ask
// for. The caller holds mu.
func (m *Meter) echo(v cookie.Value, b *batch) {
	e := m.pair.cookies.Echo(v, b.now, m.counts.PayloadIn)
	m.counts.EchoesStripped++
	switch e.Outcome {
	case cookie.Sample:
		b.echoed = true
	case cookie.Forged:
		m.counts.ForeignEchoes++
	case cookie.Foreign, cookie.Late, cookie.Replay: // the queue has counted them
	}
}
