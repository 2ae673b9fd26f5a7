package ranking

import (
	"math"
	"time"

	"github.com/assay-mux/assay/burst"
)

// initialWindow is the first window of a slow start in bytes: ten segments of 1460 (RFC 6928).
// Larger predicts fewer rounds.
const initialWindow = 14600

// leastRTO is the idleness that halves the window of a warm connection, or the round trip if that
// is longer. Linux waits for at least 200 ms and the round trip together (tcp_rto_min), so the
// window assumed here is at most the true one: in doubt a connection is cold, which predicts slower
// and accuses later. Larger keeps connections warm for longer.
const leastRTO = 200 * time.Millisecond

// Path is what a prediction knows of the way to a peer. The zero value is a path without delay.
type Path struct {
	// BaseRTT is the least round trip known by any means; not positive counts as none.
	BaseRTT time.Duration

	// HighRTT is a high quantile of the round trip (p95). What it has above BaseRTT is waiting that
	// the request will meet once. At or below BaseRTT, as when unknown, there is none.
	HighRTT time.Duration

	// Rate is the serialisation slope, s/B. Not positive counts as without limit, so give a prior
	// where it is unknown.
	Rate burst.SecondsPerByte

	// RateError is the standard error of Rate, s/B; not positive is unknown. It enters no prediction, only its
	// [Path.ErrorBar].
	RateError burst.SecondsPerByte

	// Lossy says that the path has been seen to lose packets; see [Path.ErrorBar].
	Lossy bool

	// StreamWindow is the credit in bytes that our multiplexer grants a stream: a sender never has
	// more under way. Not positive counts as without limit.
	StreamWindow int64

	// WindowRounds is how many round trips a full StreamWindow takes where it does not fill the path:
	// 1 if our multiplexer's two grants a window are under way together, 2 if they take turns. Less
	// than 1, as when unknown, counts as 1, more than 2 as 2. See [Path.RoundsAfter].
	WindowRounds float64

	// LastWindow is the congestion window the sender had when it last sent, in bytes, as far as we
	// can tell from what it delivered (see [Path.WindowAfter]). At most an initial window, as when
	// unknown, counts as cold.
	LastWindow int64

	// Idle is the time since the last answer was due, judged by what we asked for: a peer that falls
	// silent in mid-fetch is not idle. The window is halved for each timeout within it.
	Idle time.Duration
}

// Prediction is how long a transfer should take, and of what that consists:
// Total = RoundTrip + Waiting + Ramp + Transfer.
type Prediction struct {
	// Total is the time from request to last byte.
	Total time.Duration
	// RoundTrip is that of the request: the base.
	RoundTrip time.Duration
	// Waiting is what the high round trip has above the base.
	Waiting time.Duration
	// Ramp is the silence between the windows while they don't cover the path: slow start, or our
	// own credit where that is the limit.
	Ramp time.Duration
	// Transfer is size times rate.
	Transfer time.Duration

	// Windows is how many windows carry the datum.
	Windows int64
	// Stalls is after how many of them the sender falls silent to wait for us.
	Stalls int64
	// CreditLimited says that some of the silence is for want of our credit, not of the sender's
	// window: a larger stream window would help.
	CreditLimited bool
}

// FirstByte is the time from the request to its first byte.
func (p Prediction) FirstByte() time.Duration { return satAdd(p.RoundTrip, p.Waiting) }

// Predict says how long n bytes take over a path, from the request to the last byte. Bytes that we
// still await from the same peer for other fetches belong in n: our own contention is predicted too.
// A negative n counts as none. It is pure.
//
// With R the base round trip, S the rate and W the window at the start, the datum goes in
// K = max(1, ceil(log2(n/W + 1))) windows, each double the one before. After a window of w bytes the
// sender is silent for R - S w if that is positive, which it is for Q = ceil(log2(R/(S W))) windows.
// So with P = min(Q, K-1)
//
//	Total = R + waiting + P R - S W (2^P - 1) + S n
//
// For S = 0 that is K R, and R + S n once W covers the path. It is the static model of a lossless
// slow start (Cardwell, Savage and Anderson, INFOCOM 2000). Our credit caps the windows: yamux
// returns it when half is used up, after which the other half is still to come, so that each wait for
// it is a silence of R - S V/2. At best there is one for a window of V bytes. But a reader that is late
// for a moment returns more than half at once, what is left is too little to be returned alone, and from
// then on there are two: on real machines that state is soon reached and stays. The silences of a
// window are WindowRounds times R - S V/2.
func Predict(n int64, p Path) Prediction {
	n = max(n, 0)
	c := p.course()
	k := c.windows(n)
	silence, stalls := c.silence(k - 1)
	out := Prediction{
		RoundTrip: seconds(c.rtt),
		Waiting:   max(0, p.HighRTT-max(0, p.BaseRTT)),
		Ramp:      seconds(silence),
		Transfer:  seconds(c.rate * float64(n)),
		Windows:   k, Stalls: stalls,
		CreditLimited: k-1 > c.growing && c.fullSilence > 0,
	}
	out.Total = satAdd(satAdd(out.RoundTrip, out.Waiting), satAdd(out.Ramp, out.Transfer))
	return out
}

// ErrorBar is how far a fetch of n bytes may be from what [Predict] says without saying anything of
// the peer, in either direction: twice the rate's standard error. On a path that loses packets it is
// the whole prediction if that is more: how soon the next packet is lost decides there, of which the
// spread within one transfer tells little. Over kernel TCP under CUBIC and BBR with 0.1 and 1 % lost,
// two standard errors (with the slack of an audit) held 89 of 100 fetches, this 96.
func (p Path) ErrorBar(n int64) time.Duration {
	e := min(max(0, float64(p.RateError)), 1e12) // as the rate
	if math.IsNaN(e) {
		e = 0
	}
	bar := seconds(2 * e * float64(max(n, 0)))
	if p.Lossy {
		bar = max(bar, Predict(n, p).Total)
	}
	return bar
}

// ChunkSize is the inverse of [Predict]: the most bytes that come within a time, 0 if not even one
// does.
func ChunkSize(within time.Duration, p Path) int64 {
	if Predict(1, p).Total > within {
		return 0
	}
	least, most := int64(1), int64(math.MaxInt64)
	for least < most {
		mid := most - (most-least)/2
		if Predict(mid, p).Total <= within {
			least = mid
		} else {
			most = mid - 1
		}
	}
	return least
}

// WindowAfter is the sender's congestion window in bytes once it has delivered n more, for the
// LastWindow of the next prediction. In slow start every byte acknowledged adds one. Beyond what
// covers the path it is not believed to grow, for a sender that its link limits need not.
func (p Path) WindowAfter(n int64) int64 {
	w := p.startWindow()
	grown := w + max(n, 0)
	if grown < w {
		grown = math.MaxInt64
	}
	p.StreamWindow = 0 // our credit is not the sender's window
	c := p.course()
	if c.rate <= 0 {
		return grown
	}
	covers := c.rtt / c.rate
	if covers >= float64(grown) {
		return grown
	}
	return max(w, int64(covers))
}

// learningWindows is how many full windows a transfer must have had for what it says of WindowRounds to
// weigh half of what it could. More follows slower, fewer takes the jitter of a few waits for a state.
// learningShare is what it could weigh beside earlier ones. It is far from 1, since the state is a
// stream's, and the next one's may be another (between 1.3 and 2 were measured of one connection).
const (
	learningWindows = 4
	learningShare   = 0.25
)

// RoundsAfter is the WindowRounds of the next prediction, after a transfer of n bytes that waited so long
// for our credit. One that could not have waited by this path teaches nothing.
func (p Path) RoundsAfter(n int64, credit time.Duration) float64 {
	known, before, share := p.WindowRounds, p.windowRounds(), learningShare
	if !(known > 0) {
		known, share = 0, 1
	}
	if n <= p.StreamWindow { // the first credit carries it
		return known
	}
	p.WindowRounds = 1
	c := p.course()
	full := c.windows(max(n, 0)) - 1 - c.growing
	if full <= 0 || c.fullSilence <= 0 {
		return known
	}
	w := float64(full)
	seen := Path{WindowRounds: credit.Seconds() / (w * c.fullSilence)}.windowRounds()
	return before + (seen-before)*share*w/(w+learningWindows)
}

// windowRounds is WindowRounds within what there can be.
func (p Path) windowRounds() float64 {
	if !(p.WindowRounds > 1) {
		return 1
	}
	return min(p.WindowRounds, 2)
}

// startWindow is the window a transfer starts with.
func (p Path) startWindow() int64 {
	if p.LastWindow <= initialWindow {
		return initialWindow
	}
	halvings := max(p.Idle, 0) / max(leastRTO, p.BaseRTT)
	return max(initialWindow, p.LastWindow>>min(uint64(halvings), 63))
}

// course is how the windows of a transfer follow each other, in seconds and bytes.
type course struct {
	rtt, rate float64
	window    float64 // the first
	full      float64 // our credit; +Inf without limit
	growing   int64   // how many windows are below it

	fullSilence float64 // after each window that is the full credit
}

func (p Path) course() course {
	c := course{
		rtt:  max(0, p.BaseRTT.Seconds()),
		rate: min(max(0, float64(p.Rate)), 1e12), // beyond any time there is, and not infinite
		full: math.Inf(1), window: float64(p.startWindow()),
		growing: math.MaxInt64,
	}
	if c.rate != c.rate { // not a number
		c.rate = 0
	}
	if p.StreamWindow > 0 {
		c.full = float64(p.StreamWindow)
		c.growing = doublings(c.full / c.window)
		c.fullSilence = p.windowRounds() * max(0, c.rtt-c.rate*c.full/2)
	}
	return c
}

// windows is how many windows carry n bytes, one at least.
func (c course) windows(n int64) int64 {
	k := max(1, doublings(float64(n)/c.window+1))
	if k <= c.growing {
		return k
	}
	rest := float64(n) - c.window*(math.Ldexp(1, int(c.growing))-1)
	return c.growing + max(1, int64(min(math.Ceil(rest/c.full), 1<<62)))
}

// silence is how long the sender is silent after the first so many windows, in seconds, and after
// how many of them it is.
func (c course) silence(windows int64) (float64, int64) {
	growing := min(windows, c.growing)
	p := growing
	if c.rate > 0 {
		p = min(p, doublings(c.rtt/(c.rate*c.window)))
	}
	stalls := p
	s := float64(p)*c.rtt - c.rate*c.window*(math.Ldexp(1, int(p))-1)
	if capped := windows - growing; capped > 0 && c.fullSilence > 0 {
		s += float64(capped) * c.fullSilence
		stalls += capped
	}
	if c.rtt <= 0 {
		return 0, 0
	}
	return max(s, 0), stalls
}

// doublings is the least k with 2^k >= x: ceil(log2 x), 0 where x <= 1, without the rounding of a
// logarithm.
func doublings(x float64) int64 {
	if !(x > 1) {
		return 0
	}
	if x > math.MaxInt64 {
		return 63
	}
	frac, exp := math.Frexp(x)
	if frac == 0.5 {
		exp--
	}
	return int64(exp)
}

// seconds is a time from seconds, the longest there is if it is longer than that.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(s * 1e9))
}

// satAdd adds two times that are not negative, to the longest there is at most.
func satAdd(a, b time.Duration) time.Duration {
	if s := a + b; s >= 0 {
		return s
	}
	return math.MaxInt64
}
