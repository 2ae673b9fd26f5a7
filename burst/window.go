package burst

import "time"

// Echoes is the connection's own cookie queue, as far as a Window needs it.
type Echoes interface {
	// NewestEchoed returns the newest send time among the cookies whose echo was taken as a sample;
	// false before the first.
	NewestEchoed() (sentAt time.Duration, ok bool)
}

// Path is what is known of the way to the peer.
type Path struct {
	BaseRTT   time.Duration  // the least round trip anything vouches for; 0 unknown, then no bytes are left out as slow start
	Confirmed bool           // BaseRTT is confirmed by handshake or kernel, so that holding echoes cannot have widened it
	Rate      SecondsPerByte // the last estimate for this peer; 0 unknown
}

// Arrival is one read.
type Arrival struct {
	At time.Duration // when the read returned
	// Bytes is its payload: Data on open streams within the credit we granted, nothing else.
	Bytes int
	// Ours is the part of the gap since the previous arrival that is our own fault. It is clamped
	// to the gap.
	Ours time.Duration
	// Queued says that the bytes had been waiting for our reader to come back, so that At says
	// nothing about when they came. They count in Bytes only, and their gap is not the peer's.
	Queued bool
	// Unasked says that the bytes can answer nothing of ours: they came on a stream that the peer
	// opened, while ours are open. They count, but they are not the first byte of a fetch.
	Unasked bool
}

// Window is the gated burst window of one connection. Build it with [NewWindow]. It is not safe for
// concurrent use. Before its first payload it costs less than 512 B, afterwards about 2.5 KiB.
type Window struct {
	cfg    Config
	echoes Echoes
	path   Path

	tight       time.Duration // the spacing, from cfg and path
	rampSpacing time.Duration // the spacing between the windows of a slow start

	seen        bool          // any payload ever
	asked       bool          // Data of ours went out since the last arrival, first at askedAt
	askedBefore bool          // and since the last opening
	fresh       bool          // the next burst answers a request of ours: it may be ramping
	answered    bool          // the oldest open fetch has had payload while it was alone
	awaiting    bool          // no payload since the first of the open fetches began
	grown       int64         // payload since the connection was last cold
	need        int64         // bytes that must have come before the next stall passes as slow start
	roundAt     time.Duration // when the round of the slow start began, as far as it is known
	askedAt     time.Duration
	last        time.Duration // the last payload arrival
	lastAnswer  time.Duration // the last that may answer a request of ours
	from        time.Duration // time before this is accounted for
	firstAt     time.Duration // when their first read came
	firstRead   int64         // and its bytes, until they are counted
	spare       point         // what the bursts of these fetches left out of every rate
	fetches     []fetch       // open, in order of their begin
	nextFetch   Fetch

	gate     Gate
	deadline time.Duration
	burst    burst
	curve    *curve // made at the first burst

	totals totals
}

// burst is the bookkeeping of the open burst; its counted bytes and charged time are in the curve.
type burst struct {
	opened   time.Duration
	ours     time.Duration
	bytes    int64
	covered  int64
	before   int64 // bytes since the connection was last cold, when this burst opened
	how      how   // how the last arrival was taken
	ramping  bool  // it began with a request of ours, so slow start may go on in it
	cold     bool
	vetted   bool // it may earn coverage: something of ours asked for it
	declared bool
	slow     bool // a silence of the peer's is in it
	carried  bool // and one that had closed the burst before
}

// how an arrival is taken. Another at the same instant is taken alike, so that chopping a read in
// two changes nothing.
type how uint8

const (
	led     how = iota // its bytes carry a round trip: neither rate nor coverage
	counted            // bytes and gap are in the rate
	covered            // and the bytes in the coverage
)

// totals of time by kind, and of bursts by reason.
type totals struct {
	tight, ours, peers, waiting time.Duration
	bursts                      [Reasons]uint64
}

// silentEchoes vouch for nothing.
type silentEchoes struct{}

func (silentEchoes) NewestEchoed() (time.Duration, bool) { return 0, false }

// NewWindow returns the window of a connection whose cookie queue is e. A config that
// [Config.Validate] refuses is replaced by the default. A nil e vouches for nothing.
func NewWindow(cfg Config, e Echoes) *Window {
	if cfg.Validate() != nil {
		cfg = DefaultConfig()
	}
	if e == nil {
		e = silentEchoes{}
	}
	w := &Window{cfg: cfg, echoes: e, need: firstNeed(cfg.InitialWindow)}
	w.SetPath(Path{})
	return w
}

// SetPath tells what is known of the path. Call it when that changes, at most a few times a second.
func (w *Window) SetPath(p Path) {
	p.BaseRTT = max(p.BaseRTT, 0)
	if !(p.Rate > 0) || p.Rate > 1e6 { // unknown, not a number, or absurd
		p.Rate = 0
	}
	w.path = p
	sdu := time.Duration(float64(p.Rate) * float64(w.cfg.SDU) * 1e9)
	w.tight = max(w.cfg.TightSpacing, min(2*sdu, w.cfg.Horizon))
	w.rampSpacing = min(2*min(p.BaseRTT, w.cfg.RampSpacingMax), w.cfg.RampSpacingMax)
}

// Asked says that a Data frame of ours went out.
func (w *Window) Asked(at time.Duration) {
	if !w.asked {
		w.asked, w.askedAt = true, at
	}
	w.askedBefore = true
	if len(w.fetches) > 0 {
		return
	}
	w.fresh = true
	if w.gate == Idle || at > w.deadline {
		w.judgeCold(at)
	}
}

// judgeCold starts slow start anew if the connection has been idle. It is called when we ask, so
// that a peer's silence in mid-fetch never turns it cold.
func (w *Window) judgeCold(at time.Duration) {
	if !w.seen || at-w.last > max(w.cfg.ColdAfter, 2*w.path.BaseRTT) {
		w.grown, w.need = 0, firstNeed(w.cfg.InitialWindow)
	}
}

// Arrive takes one read, and returns the sample of the burst that it closed, if any. Arrivals must
// come in order of time; an earlier one is taken as simultaneous with the last. One without bytes
// is ignored.
func (w *Window) Arrive(a Arrival) (s Sample, closed bool) {
	if a.Bytes <= 0 {
		return s, false
	}
	if !w.seen {
		w.from = a.At
	}
	at, own := w.span(a.At, a.Ours)
	bytes, gap := int64(a.Bytes), at-w.from
	switch {
	case w.gate == Idle:
		w.open(at, bytes, gap-own, own, a.Queued)
	case gap == 0 && at == w.last:
		w.take(w.burst.how, bytes, 0)
	case at-own > w.deadline:
		s, closed = w.close(Horizon, 0), true
		w.open(at, bytes, gap-own, own, a.Queued)
	case w.anotherExchange(at, a.Queued, gap-own):
		s, closed = w.close(Exchange, 0), true
		w.open(at, bytes, gap-own, own, a.Queued)
	default:
		w.fold(at, bytes, gap-own, own, a.Queued)
	}
	w.arrived(at, bytes, a.Unasked)
	return s, closed
}

// span clamps an instant to the time already accounted for, and our part to the gap.
func (w *Window) span(at, ours time.Duration) (time.Duration, time.Duration) {
	at = max(at, w.from)
	return at, min(max(ours, 0), at-w.from)
}

// arrived notes what every arrival changes.
func (w *Window) arrived(at time.Duration, bytes int64, unasked bool) {
	w.seen, w.last, w.from, w.asked = true, at, at, false
	w.grown += bytes
	if unasked {
		return
	}
	w.lastAnswer = at
	if len(w.fetches) == 1 {
		w.answered = true
	}
	if w.awaiting {
		w.firstAt, w.awaiting = at, false
	}
	if at == w.firstAt && w.burst.how == led {
		w.firstRead += bytes
	}
}

// anotherExchange says whether, with no fetch declared, a gap ends one exchange and the answer to
// our next request begins another: we asked, and long enough ago for this to be the answer. (A stall
// of slow start is shorter than a round trip, so this tells them apart.)
func (w *Window) anotherExchange(at time.Duration, queued bool, quiet time.Duration) bool {
	return len(w.fetches) == 0 && w.asked && !queued && quiet > w.tight && at-w.askedAt >= w.path.BaseRTT
}

// open begins a burst with an arrival after quiet time. If a fetch owes us that silence it is
// carried into the rate, and the bytes that ended it count.
func (w *Window) open(at time.Duration, bytes int64, quiet, own time.Duration, queued bool) {
	if w.curve == nil {
		w.curve = new(curve)
	}
	w.curve.reset()
	carried := w.owed() && !queued
	ramping := w.fresh && !carried
	w.burst = burst{
		opened:   at,
		before:   w.grown,
		ramping:  ramping,
		cold:     ramping && w.grown == 0,
		vetted:   w.askedBefore || len(w.fetches) > 0,
		declared: len(w.fetches) > 0,
		slow:     carried,
		carried:  carried,
	}
	w.fresh, w.askedBefore, w.roundAt = false, false, at
	w.gate = w.gate.next(opening)
	w.deadline = at + w.cfg.Horizon
	w.totals.ours += own
	if !carried {
		w.totals.waiting += quiet
		w.take(led, bytes, 0)
		return
	}
	w.totals.peers += quiet
	w.burst.ours = own
	w.take(counted, bytes, quiet)
}

// fold adds an arrival to the open burst.
func (w *Window) fold(at time.Duration, bytes int64, quiet, own time.Duration, queued bool) {
	w.totals.ours += own
	w.burst.ours += own
	if queued || (quiet > w.tight && len(w.fetches) > 0 && !w.owed()) {
		// Our reader's backlog, or the time to first byte of a later fetch: like an opening.
		w.totals.waiting += quiet
		w.extend(at)
		w.take(led, bytes, 0)
		return
	}
	e := w.classify(at, quiet)
	if quiet <= w.tight {
		w.totals.tight += quiet
	} else {
		w.totals.peers += quiet
	}
	w.burst.slow = w.burst.slow || e == silent
	w.gate = w.gate.next(e)
	w.extend(at)
	if w.gate == Open {
		w.take(covered, bytes, quiet)
	} else {
		w.take(counted, bytes, quiet)
	}
}

// extend moves the deadline while the gate is open.
func (w *Window) extend(at time.Duration) {
	if w.gate == Open {
		w.deadline = max(w.deadline, at+w.cfg.Horizon)
	}
}

// take counts the bytes of an arrival, and its charged gap.
func (w *Window) take(h how, bytes int64, charged time.Duration) {
	b := &w.burst
	b.bytes += bytes
	b.how = h
	switch h {
	case led:
		w.curve.led(bytes)
		return
	case covered:
		b.covered += bytes
	}
	w.curve.add(bytes, charged)
}

// classify says what a gap means to the gate.
func (w *Window) classify(at, quiet time.Duration) event {
	switch {
	case quiet <= w.tight:
		return prompt
	case len(w.fetches) > 0 && w.vouched():
		return vouched
	case w.rampStall(quiet):
		w.nextRound(at)
		return prompt
	}
	return silent
}

// vouched says whether a cookie sent after the last payload has been echoed.
func (w *Window) vouched() bool {
	sent, ok := w.echoes.NewestEchoed()
	return ok && sent > w.last
}

// rampStall says whether a gap passes as one between two windows of a slow start: within two round
// trips, on ramp bytes, and only if the bytes that came before have grown as those of a slow start
// do. The growth asked for is half as much again at each stall (a receiver that delays its
// acknowledgements sees that instead of a doubling); a pacer's even bursts soon fall behind it.
func (w *Window) rampStall(quiet time.Duration) bool {
	return w.burst.ramping && quiet <= w.rampSpacing &&
		w.grown >= w.need && w.burst.bytes <= w.rampCap()+w.cfg.InitialWindow
}

// nextRound raises what the next stall asks for, if this one ended a round: a receiver that delays
// the acknowledgement of an odd last segment, by 40 ms and more, cuts each window of a slow start in
// two, and to ask twice a round would be to ask for more than a doubling. Three quarters of a round
// trip tell one from the other wherever both are longer than the spacing. A round trip beyond what
// spaces two windows at most is not waited for: it may be an inflated one.
func (w *Window) nextRound(at time.Duration) {
	if at-w.roundAt < min(w.path.BaseRTT, w.cfg.RampSpacingMax)*3/4 {
		return
	}
	w.need += w.need/2 + laterNeed(w.cfg.InitialWindow)
	w.roundAt = at
}

// firstNeed is what the first window of a slow start must have brought, in bytes: three eighths of
// an initial window. A kernel counts packets, and half of the ten may be ones of a dozen bytes: what an
// unwrapped yamux writes by itself, each header, window update and answer to a cookie (from 5 to 7
// full ones of ten were seen).
func firstNeed(window int64) int64 { return window * 3 / 8 }

// laterNeed is what each further window must bring beyond what growth asks for: a quarter less than an
// initial window, for segments and frames have headers.
func laterNeed(window int64) int64 { return window * 3 / 4 }

// Echoed says that the queue has just taken an echo as a sample. While a fetch is outstanding it
// extends the burst if its cookie was sent after the last payload: the peer is alive, not serving.
// It adds neither bytes nor coverage and never opens a burst.
func (w *Window) Echoed(at time.Duration) {
	if len(w.fetches) > 0 && w.gate == Open && at <= w.deadline && w.vouched() {
		w.extend(at)
	}
}

// Deadline returns when [Window.Tick] may have something to do; false if no burst is open.
func (w *Window) Deadline() (time.Duration, bool) {
	return w.deadline, w.gate != Idle
}

// Tick closes a burst whose deadline has passed without an arrival. Ours is the part of the time
// since the last arrival that is our own fault; while our own reader is away, rather don't tick:
// a burst closed too early costs the peer coverage.
func (w *Window) Tick(at, ours time.Duration) (Sample, bool) {
	at, own := w.span(at, ours)
	if w.gate == Idle || at-own <= w.deadline {
		return Sample{}, false
	}
	return w.close(Horizon, 0), true
}

// Close ends the connection and every open fetch, and returns the last sample if there is one. A
// silence that an open fetch is still owed counts; ours and finished are those of [Window.End].
func (w *Window) Close(at, ours time.Duration, finished bool) (Sample, bool) {
	at, own := w.span(at, ours)
	tail := time.Duration(0)
	if !finished {
		tail = w.tail(at, own)
	}
	w.fetches = w.fetches[:0]
	return w.finish(Closed, at, tail, own)
}

// State is a Window at one moment, for snapshots.
type State struct {
	Gate           Gate
	Opened, Last   time.Duration // of the open or, if the gate is idle, the last burst
	Deadline       time.Duration
	Bytes, Covered int64
	Fetches        int // open
	Cold           bool

	// All time since the first arrival, by whose it was. Waiting is idleness and time to first byte.
	Tight, Ours, Peers, Waiting time.Duration

	Bursts [Reasons]uint64 // closed, by reason
}

// State returns the present state; a value that holds on to nothing.
func (w *Window) State() State {
	b, t := &w.burst, &w.totals
	return State{
		Gate: w.gate, Opened: b.opened, Last: w.last, Deadline: w.deadline,
		Bytes: b.bytes, Covered: w.coverage(), Fetches: len(w.fetches), Cold: b.cold,
		Tight: t.tight, Ours: t.ours, Peers: t.peers, Waiting: t.waiting, Bursts: t.bursts,
	}
}

// coverage of the open burst: none if nothing of ours asked for it.
func (w *Window) coverage() int64 {
	if !w.burst.vetted {
		return 0
	}
	return w.burst.covered
}
