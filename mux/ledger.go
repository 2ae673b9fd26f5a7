package mux

import "time"

// initialCredit is the receive window every yamux stream starts with, before
// any window update (yamux specification, "Flow Control").
const initialCredit = 256 << 10

// maxStreams bounds the ledger against a peer that opens streams without end;
// payload on a stream beyond it is not measured.
const maxStreams = 1 << 16

// grant is one window update of ours: when it was written, and all the credit
// the peer had been given by then.
type grant struct {
	at    time.Duration
	total uint64
}

// grantsKept is how many window updates are remembered per stream. Yamux sends
// one per half window, so two or three can be unused at a time.
const grantsKept = 4

// account is what the ledger knows of one stream.
type account struct {
	received uint64 // payload that has arrived
	settled  uint64 // credit given before the oldest grant kept
	granted  uint64 // credit given in all
	grants   [grantsKept]grant
	kept     int           // how many of grants are in use, oldest first
	last     time.Duration // when payload last arrived
	opened   time.Duration // when our SYN went out
	mine     bool          // we opened it
	waiting  bool          // our SYN is out and nothing has come back
	peerDone bool          // the peer sent its FIN
	weDone   bool          // we sent ours
}

// give records a window update. When no slot is left the two newest are
// merged under the earlier time: we then claim less of a gap, never more.
func (a *account) give(at time.Duration, credit uint32) {
	if a.kept == 0 {
		a.settled = a.granted
	}
	a.granted += uint64(credit)
	if a.kept == grantsKept {
		a.grants[grantsKept-1].total = a.granted
		return
	}
	a.grants[a.kept] = grant{at: at, total: a.granted}
	a.kept++
}

// take records payload and forgets the grants that it has used up.
func (a *account) take(at time.Duration, n uint64) {
	a.received += n
	a.last = at
	used := 0
	for used < a.kept && a.grants[used].total <= a.received {
		a.settled = a.grants[used].total
		used++
	}
	if used > 0 {
		a.kept = copy(a.grants[:], a.grants[used:a.kept])
	}
}

// usable is the first instant at which the peer can have sent more and we can
// have received it: the write of the grant that it lacked, plus one round
// trip. It is 0 if the peer had credit all along, and limit if it has none.
func (a *account) usable(roundTrip, limit time.Duration) time.Duration {
	switch {
	case a.kept == 0 && a.granted > a.received, a.kept > 0 && a.settled > a.received:
		return 0
	case a.kept == 0:
		return limit
	default:
		return min(a.grants[0].at+roundTrip, limit)
	}
}

// unfinished says whether the stream carried payload since from, and the peer may still send on it.
func (a *account) unfinished(from time.Duration) bool {
	return !a.peerDone && a.received > 0 && a.last >= from
}

// ledger is the receive side of every open stream: what makes payload count
// (open stream, within credit) and whose fault silence is. It follows the
// headers that pass; the local yamux keeps the books that bind.
//
// Not safe for concurrent use; the meter's lock guards it.
type ledger struct {
	streams map[uint32]*account
	busy    int // streams that carried payload and are not done by the peer
	mine    int // streams that we opened
}

// sent follows one of our own frames.
func (l *ledger) sent(h header, at time.Duration) {
	if h.kind > kindWindow {
		return
	}
	a := l.streams[h.stream]
	if a == nil {
		if h.flags&flagSYN == 0 {
			return
		}
		if a = l.open(h.stream); a == nil {
			return
		}
		a.opened, a.mine, a.waiting = at, true, true
		l.mine++
	}
	if h.kind == kindWindow && h.length > 0 {
		a.give(at, h.length)
	}
	if h.flags&flagFIN != 0 {
		a.weDone = true
	}
	l.settle(h, a)
}

// arrived follows one of the peer's frames. It returns the account payload of
// this frame goes to, nil if it must not count, and, for the first answer to
// a stream that we opened, the round trip that took.
func (l *ledger) arrived(h header, at time.Duration) (a *account, answer time.Duration) {
	if h.kind > kindWindow {
		return nil, 0
	}
	a = l.streams[h.stream]
	if a == nil {
		if h.flags&flagSYN == 0 {
			return nil, 0
		}
		if a = l.open(h.stream); a == nil {
			return nil, 0
		}
	}
	if a.waiting {
		a.waiting = false
		answer = at - a.opened
	}
	over := a.received+uint64(h.body()) > a.granted || a.peerDone
	if h.flags&flagFIN != 0 && !a.peerDone {
		l.finish(a)
	}
	l.settle(h, a)
	if over {
		return nil, answer
	}
	return a, answer
}

func (l *ledger) open(id uint32) *account {
	if len(l.streams) >= maxStreams {
		return nil
	}
	if l.streams == nil {
		l.streams = make(map[uint32]*account)
	}
	a := &account{settled: initialCredit, granted: initialCredit}
	l.streams[id] = a
	return a
}

// finish notes that the peer will send no more on the stream.
func (l *ledger) finish(a *account) {
	a.peerDone = true
	if a.received > 0 {
		l.busy--
	}
}

// settle closes the account of a stream that is reset or done on both sides.
func (l *ledger) settle(h header, a *account) {
	if h.flags&flagRST != 0 && !a.peerDone {
		l.finish(a)
	}
	if h.flags&flagRST != 0 || a.peerDone && a.weDone {
		delete(l.streams, h.stream)
		if a.mine {
			l.mine--
		}
	}
}

// unasked says whether payload for a can answer nothing of ours: the peer
// opened the stream, while some of ours are open. A request that it sends us
// must not pass for the first byte of our fetch.
func (l *ledger) unasked(a *account) bool { return l.mine > 0 && !a.mine }

// payload books n bytes that arrived for a.
func (l *ledger) payload(a *account, at time.Duration, n int) {
	if a.received == 0 && !a.peerDone {
		l.busy++
	}
	a.take(at, uint64(n))
}

// exhausted says until when the silence since last was for want of credit: the
// least of the instants at which one of the streams that carried payload since
// from, and are not done, can have been heard again. It is last itself if one
// of them had credit throughout, or if there is no such stream. While we fetch,
// payload on streams that cannot answer us is of no account: a peer could keep one
// of them exhausted as an excuse for every silence on ours.
func (l *ledger) exhausted(from, last, now, roundTrip time.Duration, fetching bool) time.Duration {
	until, some := now, false
	for _, a := range l.streams {
		if a.peerDone || a.last < from || a.received == 0 || fetching && l.unasked(a) {
			continue
		}
		some = true
		if until = min(until, a.usable(roundTrip, now)); until <= last {
			return last
		}
	}
	if !some {
		return last
	}
	return until
}

// unfinished says whether the peer may still send on a stream that carried payload
// since from.
func (l *ledger) unfinished(from time.Duration) bool {
	for _, a := range l.streams {
		if a.unfinished(from) {
			return true
		}
	}
	return false
}
