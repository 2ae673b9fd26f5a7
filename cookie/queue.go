package cookie

import (
	"math/bits"
	"time"
)

// state is that of one entry in the ring.
type state uint8

const (
	outstanding state = iota // sent, not echoed
	answered                 // echoed, behind an older one that is not
	withdrawn                // taken back, behind an older one that is not
)

// entry is one cookie in the ring.
type entry struct {
	sentAt   time.Duration
	received uint64 // the caller's payload count at issue
	value    Value
	state    state
	loaded   bool // our own send queue delayed it
}

// Queue deals cookies and matches their echoes. Make one with NewQueue; the zero
// value is not usable. It is not safe for concurrent use: the caller holds one
// lock around each call. No call allocates but the first Issue (the cipher and
// the ring, about 1.4 KiB) and a change of keys, once in 2^31 cookies.
type Queue struct {
	cfg  Config
	key  [16]byte
	rtt  *RTT
	perm *permutation // nil until the first Issue
	prev *permutation // of the epoch before, nil in the first
	ring []entry      // indexed by sequence number, a power of two long

	// Sequence numbers. An invariant between calls: front == next, or the entry
	// at front is outstanding. So the front is the oldest unechoed cookie.
	front, next uint32
	waiting     int // outstanding entries in [front, next)
	passed      int // answered ones: all newer than the front

	lastIssue  time.Duration
	newestSent time.Duration
	hasNewest  bool
	history    history
	counts     Counts
}

// NewQueue returns an empty queue whose samples go to rtt, which may be nil. The
// key has to come from crypto/rand, fresh for each connection: who knows it can
// forge echoes. A config that does not validate is replaced by the default.
func NewQueue(cfg Config, key [16]byte, rtt *RTT) *Queue {
	return &Queue{cfg: cfg.orDefault(), key: key, rtt: rtt}
}

// Issue deals a cookie at now, or returns false: the interval since the last one
// is not over, or too many are outstanding after those past MaxAge were skipped.
// received is the payload the caller has read so far, in bytes.
func (q *Queue) Issue(now time.Duration, received uint64) (Value, bool) {
	if !q.intervalOver(now) {
		return 0, false
	}
	q.Expire(now, received)
	if q.full() {
		return 0, false
	}
	q.prepare()
	seq := q.next
	v := Marker | Value(q.perm.encode(seq))
	*q.at(seq) = entry{sentAt: now, received: received, value: v}
	q.history.forget(seq)
	q.next++
	q.waiting++
	q.lastIssue = now
	q.counts.Issued++
	return v, true
}

// Due reports whether Issue would deal a cookie at now. It costs a few
// comparisons and changes nothing.
func (q *Queue) Due(now time.Duration) bool {
	if !q.intervalOver(now) {
		return false
	}
	return !q.full() || q.aged(now)
}

// MarkLoaded says that our own send queue delayed the cookie, so that its sample
// belongs to the loaded reading. A value that is not outstanding is ignored.
func (q *Queue) MarkLoaded(v Value) {
	if e := q.outstandingEntry(v); e != nil {
		e.loaded = true
	}
}

// Withdraw takes back a cookie whose write failed before a byte of it left. It
// counts neither as skipped nor against the peer. Should it be echoed after all,
// that is Late. A value that is not outstanding is ignored.
func (q *Queue) Withdraw(v Value) {
	e := q.outstandingEntry(v)
	if e == nil {
		return
	}
	e.state = withdrawn
	q.waiting--
	q.counts.Withdrawn++
	q.advance()
}

// Echo says what the echo of v, read at now, is. A Sample has also entered the
// RTT. received is the payload the caller has read so far, in bytes.
func (q *Queue) Echo(v Value, now time.Duration, received uint64) Echo {
	if v&Marker == 0 {
		return Echo{Outcome: Foreign}
	}
	if q.perm == nil {
		q.counts.Forged++
		return Echo{Outcome: Forged}
	}
	seq := q.sequence(v)
	if seq >= q.next {
		return q.unknown(v)
	}
	if seq < q.front || q.at(seq).state != outstanding {
		return q.gone(seq)
	}
	return q.sample(seq, now, received)
}

// Expire skips the cookies that are MaxAge old or older and returns how many. It
// is for a caller's timer; Issue does the same. received is the payload the
// caller has read so far, in bytes.
func (q *Queue) Expire(now time.Duration, received uint64) int {
	n := 0
	for q.aged(now) {
		q.skipFront(now, received)
		n++
	}
	return n
}

// Len returns how many cookies are outstanding.
func (q *Queue) Len() int { return q.waiting }

// FrontAge returns the age of the oldest outstanding cookie, and false where
// there is none.
func (q *Queue) FrontAge(now time.Duration) (time.Duration, bool) {
	if q.waiting == 0 {
		return 0, false
	}
	return max(0, now-q.at(q.front).sentAt), true
}

// NewestEchoed returns the latest instant at which a cookie was sent that has
// been echoed as a Sample, and false before the first one. What was sent then
// has been read by the peer.
func (q *Queue) NewestEchoed() (sentAt time.Duration, ok bool) {
	return q.newestSent, q.hasNewest
}

// Counts returns the totals so far.
func (q *Queue) Counts() Counts { return q.counts }

// intervalOver reports whether the rate limit allows a cookie at now.
func (q *Queue) intervalOver(now time.Duration) bool {
	return q.counts.Issued == 0 || now-q.lastIssue >= q.cfg.MinInterval
}

// full reports whether there is no room for one more cookie. The ring itself
// fills only if many were withdrawn behind a front that is still waiting.
func (q *Queue) full() bool {
	if q.waiting >= q.cfg.MaxOutstanding {
		return true
	}
	return q.ring != nil && int(q.next-q.front) == len(q.ring)
}

// aged reports whether the front has reached MaxAge.
func (q *Queue) aged(now time.Duration) bool {
	return q.waiting > 0 && now-q.at(q.front).sentAt >= q.cfg.MaxAge
}

// at returns the ring's entry for a sequence number in [front, next].
func (q *Queue) at(seq uint32) *entry {
	return &q.ring[seq&uint32(len(q.ring)-1)]
}

// prepare makes the cipher and the ring before the first cookie, and changes the
// key when its numbers are used up.
func (q *Queue) prepare() {
	if q.perm == nil {
		q.perm = newPermutation(q.key)
		span := uint(q.cfg.MaxOutstanding + q.cfg.SkipAfter)
		q.ring = make([]entry, 1<<bits.Len(span-1))
	}
	if q.next == sequences {
		q.rekey()
	}
}

// rekey starts a new epoch: a derived key, numbers from 0 again. Cookies still
// out are withdrawn rather than skipped, for the change is our doing.
func (q *Queue) rekey() {
	q.counts.Withdrawn += uint64(q.waiting)
	q.prev, q.perm = q.perm, q.perm.successor()
	q.front, q.next = 0, 0
	q.waiting, q.passed = 0, 0
}

// sequence returns the sequence number of a value, issued or not. Two values are
// known without decoding: echoes mostly answer the oldest outstanding cookie, and
// the caller mostly marks or withdraws the newest.
func (q *Queue) sequence(v Value) uint32 {
	if q.front != q.next {
		if q.at(q.front).value == v {
			return q.front
		}
		if q.at(q.next-1).value == v {
			return q.next - 1
		}
	}
	return q.perm.decode(uint32(v &^ Marker))
}

// outstandingEntry finds v among the outstanding cookies, or returns nil.
func (q *Queue) outstandingEntry(v Value) *entry {
	if v&Marker == 0 || q.waiting == 0 {
		return nil
	}
	seq := q.sequence(v)
	if seq < q.front || seq >= q.next || q.at(seq).state != outstanding {
		return nil
	}
	return q.at(seq)
}

// unknown judges a value that this epoch has not issued: forged, unless it is one
// of the last of the epoch before, on its way when the key changed.
func (q *Queue) unknown(v Value) Echo {
	if q.prev != nil && q.prev.decode(uint32(v&^Marker)) >= sequences-remembered {
		q.counts.Late++
		return Echo{Outcome: Late}
	}
	q.counts.Forged++
	return Echo{Outcome: Forged}
}

// gone judges the echo of a number that was issued and is not outstanding.
func (q *Queue) gone(seq uint32) Echo {
	if q.next-seq <= remembered && q.history.answer(seq) {
		q.counts.Replayed++
		return Echo{Outcome: Replay}
	}
	q.counts.Late++
	return Echo{Outcome: Late}
}

// sample takes the first echo of an outstanding cookie.
func (q *Queue) sample(seq uint32, now time.Duration, received uint64) Echo {
	e := q.at(seq)
	e.state = answered
	q.history.answer(seq)
	q.waiting--
	q.passed++
	q.counts.Echoed++
	if !q.hasNewest || e.sentAt > q.newestSent {
		q.newestSent, q.hasNewest = e.sentAt, true
	}
	echo := Echo{
		Outcome: Sample,
		RTT:     max(0, now-e.sentAt),
		SentAt:  e.sentAt,
		Loaded:  q.crowded(e, received),
	}
	if q.rtt != nil {
		q.rtt.Observe(now, echo.RTT, echo.Loaded)
	}
	q.settle(now, received)
	return echo
}

// crowded reports whether a queue of payload stood in a cookie's way: our own, or
// the peer's, if enough came between the cookie and its echo or its end.
func (q *Queue) crowded(e *entry, received uint64) bool {
	return e.loaded || received > e.received && received-e.received >= uint64(q.cfg.LoadedAfter)
}

// settle moves the front to the oldest outstanding cookie and skips it as long as
// SkipAfter newer ones have been echoed. All answered entries still in the ring
// are newer than the front, so their number is the one to compare.
func (q *Queue) settle(now time.Duration, received uint64) {
	q.advance()
	for q.waiting > 0 && q.passed >= q.cfg.SkipAfter {
		q.skipFront(now, received)
	}
}

// skipFront gives up the front. Its age is a lower bound on its round-trip time.
func (q *Queue) skipFront(now time.Duration, received uint64) {
	e := q.at(q.front)
	age, loaded := max(0, now-e.sentAt), q.crowded(e, received)
	q.front++
	q.waiting--
	q.counts.Skipped++
	if q.rtt != nil {
		q.rtt.Censor(now, age, loaded)
	}
	q.advance()
}

// advance moves the front past entries that are no longer outstanding.
func (q *Queue) advance() {
	for q.front != q.next {
		switch q.at(q.front).state {
		case outstanding:
			return
		case answered:
			q.passed--
		case withdrawn:
		}
		q.front++
	}
}
