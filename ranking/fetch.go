package ranking

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// Fetch is one transfer under way from one peer. Tell it what happens, with instants of the ranker's
// base; [Fetch.Reader] does that by itself. It is over after Done, Fail or Abort, one of which must be
// called; further calls do nothing. All methods are safe for concurrent use.
type Fetch struct {
	r    *Ranker
	job  *job
	peer *peer
	conn *conn
	pick Pick
	end  func() // of the meter

	// Guarded by r.mu.
	began, firstAt, lastAt, receivedAt time.Duration
	first, received, ended             bool
	got                                int64
	awaited                            int64 // of it, counted in the peer's outstanding
	all                                int64 // bytes that the claim is for: own contention is in it
	servedBefore                       int64 // the peer's bytes when it began
	startOurs, startCredit             time.Duration
	startLoss                          uint64
	startGot                           int64 // the connection's bytes when it began
	halfAt                             time.Duration
	halfGot                            int64
	quiet                              quiet
	pace                               pace
	pause                              pause
	reserved                           reservation
	holdsReserve                       bool
	dropTold, won                      bool
	troubled                           Trouble       // at the last advice
	final                              burst.Reading // of the meter, at the end
}

// job is one datum on its way, in one or more transfers.
type job struct {
	plan      Plan
	fetches   []*Fetch
	booked    *entry // begun in the book of sizes; nil if not
	delivered bool
	trials    []Pick // of the plan, not begun yet
	hedges    int
}

// Failure says how a fetch failed.
type Failure uint8

// The failures.
const (
	// TimedOut: the host waited no longer.
	TimedOut Failure = iota
	// Reset: the peer reset the stream, or sent nonsense.
	Reset
	// Disconnected: the connection ended.
	Disconnected
	// NotFound: the peer says that it does not have it.
	NotFound
	// Corrupt: the bytes do not have the hash.
	Corrupt

	failures
)

var failureNames = [failures]string{"timed_out", "reset", "disconnected", "not_found", "corrupt"}

// String returns the failure as a label: lower case, underscores.
func (f Failure) String() string {
	if f >= failures {
		return "unknown"
	}
	return failureNames[f]
}

// Begin starts the primary's part of a plan: send the request right after it. The other parts are
// started by [Fetch.Add]. The errors are [ErrStalePlan].
func (r *Ranker) Begin(now time.Duration, p Plan) (*Fetch, error) {
	r.mu.Lock()
	f, err := r.start(now, &job{plan: p, trials: p.Shadow}, p.Primary)
	if err != nil {
		r.mu.Unlock()
		return nil, err
	}
	if r.begun(p.id) {
		f.job.trials = p.Shadow
	} else {
		f.job.trials = nil
	}
	if p.Datum != "" {
		r.now = now
		r.book.begin(p.Datum, r.aged)
		f.job.booked = r.book.data[p.Datum]
	}
	r.mu.Unlock()
	r.open(f)
	return f, nil
}

// Add starts another part of the same fetch: one of the plan's, or the hedge that an advice names.
// The errors are [ErrEnded], [ErrStalePlan] and [ErrBudget].
func (f *Fetch) Add(now time.Duration, p Pick) (*Fetch, error) {
	r := f.r
	r.mu.Lock()
	g, err := r.addTo(now, f, p)
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r.open(g)
	return g, nil
}

func (r *Ranker) addTo(now time.Duration, f *Fetch, p Pick) (*Fetch, error) {
	j := f.job
	if j.delivered && p.Role != Shadow && p.Role != Exploration {
		return nil, ErrEnded
	}
	reserved, ok := r.budget.reserve(now, j.purse(p), p.bytes)
	if !ok {
		return nil, ErrBudget
	}
	g, err := r.start(now, j, p)
	if err != nil {
		r.budget.settle(now, reserved, 0)
		return nil, err
	}
	g.reserved, g.holdsReserve = reserved, true
	if p.first {
		g.peer.group.tried(now)
	}
	for i, t := range j.trials {
		if t.Peer == p.Peer && t.Role == p.Role {
			j.trials = append(append([]Pick(nil), j.trials[:i]...), j.trials[i+1:]...)
			break
		}
	}
	if p.Role == Hedge {
		j.hedges++
		if f.troubled != AtRisk { // to hedge for a deadline of ours is not its doing
			f.peer.costs.charge(now)
			r.touch(f.peer)
		}
		r.tally.Hedges++
		r.tell(now, Hedged, f.peer, j.plan.Datum, fmt.Sprintf("%d bytes asked of %s instead", p.bytes, p.Peer))
	}
	return g, nil
}

// purse is the budget a role is paid from.
func (j *job) purse(p Pick) spending {
	switch {
	case p.Role == Redundant && j.plan.Critical:
		return redundant
	case p.Role == Hedge && j.plan.Critical:
		return critical
	case p.first:
		return discovery
	}
	return ordinary
}

// start makes a transfer.
func (r *Ranker) start(now time.Duration, j *job, p Pick) (*Fetch, error) {
	q := r.peers[p.Peer]
	if q == nil || !q.connected() {
		return nil, fmt.Errorf("%w: %q", ErrStalePlan, p.Peer)
	}
	c := r.conns[p.Conn]
	if c == nil || c.peer != q {
		c = q.conn()
	}
	f := &Fetch{
		r: r, job: j, peer: q, conn: c, pick: p,
		began: now, lastAt: now, awaited: p.bytes, all: p.bytes + q.outstanding, servedBefore: q.bytes,
		startOurs: c.reading.Ours, startCredit: c.reading.Credit, startLoss: c.reading.OutOfOrder, startGot: c.got,
		pace: pace{at: now, from: now},
	}
	q.outstanding += p.bytes
	c.outstanding += p.bytes
	q.picked++
	q.active = append(q.active, f)
	j.fetches = append(j.fetches, f)
	r.tally.Picks[p.Role]++
	r.touch(q)
	return f, nil
}

// open tells the meter, outside the lock, and takes its reading as what was before.
func (r *Ranker) open(f *Fetch) {
	reading := f.conn.meter.Reading()
	end := f.conn.meter.Begin()
	r.mu.Lock()
	f.startOurs, f.startCredit, f.startLoss = reading.Ours, reading.Credit, reading.OutOfOrder
	ended := f.ended || f.received
	f.end = end
	r.mu.Unlock()
	if ended {
		end()
	}
}

// Peer returns the name of the peer it is fetched from.
func (f *Fetch) Peer() string { return f.pick.Peer }

// Pick returns the part of the plan that it is.
func (f *Fetch) Pick() Pick { return f.pick }

// FirstByte says that the reply has begun. Progress says so too.
func (f *Fetch) FirstByte(now time.Duration) {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	if !f.ended && !f.received {
		f.firstByte(now)
	}
}

func (f *Fetch) firstByte(now time.Duration) {
	if f.first {
		return
	}
	f.first, f.firstAt, f.lastAt = true, now, now
	if d := now - f.began; d > 0 && (f.conn.leastFirst == 0 || d < f.conn.leastFirst) {
		f.conn.leastFirst = d
	}
	f.pace = pace{at: now, from: now}
}

// Progress says that so many bytes of the reply have just come. Only payload counts.
func (f *Fetch) Progress(now time.Duration, bytes int) {
	r := f.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.ended || f.received || bytes <= 0 {
		return
	}
	paused, lost := f.pause.read(now)
	f.quiet.over(now-f.lastAt-paused, f.quietAfter(), f.first)
	f.skip(lost)
	f.firstByte(now)
	n := int64(bytes)
	f.got += n
	f.lastAt = max(now, f.lastAt)
	f.peer.bytes += n
	f.conn.got += n
	f.release(min(n, f.awaited))
	f.pace.add(now, f.got)
	if f.halfAt == 0 && 2*f.got >= f.pick.bytes {
		f.halfAt, f.halfGot = now, f.got
	}
	if r.link.add(now, n, r.cfg.DownloadLimit) {
		r.us.evidence(now, ownLink)
		r.noteHold(now)
	}
}

// skip leaves time that was lost by us out of how fast it goes.
func (f *Fetch) skip(lost time.Duration) {
	f.pace.skip(lost)
	if f.halfAt > 0 {
		f.halfAt += lost
	}
}

// release takes bytes off what is awaited of the peer.
func (f *Fetch) release(n int64) {
	f.awaited -= n
	f.peer.outstanding = max(f.peer.outstanding-n, 0)
	f.conn.outstanding = max(f.conn.outstanding-n, 0)
	f.r.touch(f.peer)
}

// Received says that the last byte has been read. The clocks stop; checking and storing are our own
// time. Done, Fail or Abort must follow.
func (f *Fetch) Received(now time.Duration) {
	f.r.mu.Lock()
	if _, on := f.pause.start(); !on {
		f.pause.read(now) // the end, if nothing else, had waited
	}
	f.r.mu.Unlock()
	if end := f.stop(now); end != nil {
		end()
	}
}

// stop stops the clocks, and returns what ends the meter's part: to be called outside the lock.
func (f *Fetch) stop(now time.Duration) func() {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	if f.ended || f.received {
		return nil
	}
	f.received, f.receivedAt = true, max(now, f.began)
	f.conn.lastAsked = now
	f.release(f.awaited)
	return f.end
}

// Done says that all that was asked for has come, and that it is right. size is that of the datum,
// the exact bytes its hash was verified over; 0 if this part alone proves nothing, as a range. A reply
// that ended short of what was asked for, with no hash to say that this is all, counts as failed. It
// returns what the audit says of the peer now. A host that has not said Received, and paused since the last
// byte, was checking: as there, that is its own time.
func (f *Fetch) Done(now time.Duration, size int64) audit.Verdict {
	if at, on := f.pause.start(); on {
		f.Received(min(at, now))
	}
	return f.finish(now, func(r *Ranker, reading *burst.Reading) {
		if size <= 0 && f.got < f.pick.bytes {
			r.fail(now, f, reading, "ended short", byOurTime)
			return
		}
		r.complete(now, f, reading)
		if size > 0 && !f.spare() { // a copy that is dropped delivers nothing
			r.deliver(now, f, size)
		}
	})
}

// Fail says that it ended without the data, by the peer's doing or the path's. It returns what the
// audit says of the peer now.
func (f *Fetch) Fail(now time.Duration, how Failure) audit.Verdict {
	return f.finish(now, func(r *Ranker, reading *burst.Reading) {
		r.fail(now, f, reading, how.String(), excuseFor(how))
		if how == NotFound {
			r.holders.drop(f.job.plan.Datum, f.peer)
		}
	})
}

// Abort says that we gave it up: another copy came first, or nobody wants it any more. If it was late
// by then, it counts as failed; else as nothing.
func (f *Fetch) Abort(now time.Duration) audit.Verdict {
	return f.finish(now, func(r *Ranker, reading *burst.Reading) {
		if f.late(now, reading) {
			r.fail(now, f, reading, "given up late", byOurTime)
		}
	})
}

// finish ends the fetch, once.
func (f *Fetch) finish(now time.Duration, conclude func(*Ranker, *burst.Reading)) audit.Verdict {
	if end := f.stop(now); end != nil {
		end()
	}
	reading := f.conn.meter.Reading()
	r := f.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.ended {
		return f.peer.verdict
	}
	f.ended, f.final = true, reading
	f.pause.cut(f.receivedAt, reading.Silence)
	r.now = now
	if r.conns[f.conn.id] == f.conn {
		r.take(now, f.conn, &f.final)
	}
	conclude(r, &f.final)
	r.close(now, f)
	return f.peer.verdict
}

// close lets go of what the fetch held.
func (r *Ranker) close(now time.Duration, f *Fetch) {
	p := f.peer
	for i, x := range p.active {
		if x == f {
			p.active = append(p.active[:i], p.active[i+1:]...)
			break
		}
	}
	if f.holdsReserve {
		extra := f.got
		if f.won && f.pick.Role == Hedge { // it brought what was missing
			extra = 0
		}
		r.budget.settle(now, f.reserved, extra)
		f.holdsReserve = false
	}
	if f.pick.Role == Exploration {
		r.explorer.done(p.id, f.received && f.got > 0 && p.penalty.running == 0)
	}
	r.touch(p)
	r.consider(now, p)
	r.closeJob(f.job)
}

// closeJob lets go of what the whole fetch held, once its last part has ended.
func (r *Ranker) closeJob(j *job) {
	for _, f := range j.fetches {
		if !f.ended {
			return
		}
	}
	for _, t := range j.trials {
		if t.Role == Exploration {
			r.explorer.done(t.Peer, false)
		}
	}
	j.trials = nil
	if j.booked != nil && r.book.data[j.plan.Datum] == j.booked { // else another fetch has settled it
		r.book.end(j.plan.Datum)
	}
	j.booked = nil
}
