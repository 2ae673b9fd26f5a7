package mux

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cookie"
)

// estimateHalfLife is how fast a burst's weight in the estimate decays: an
// hour is several fetches of a busy peer, and a changed path shows the same day.
const estimateHalfLife = time.Hour

// never is an instant that does not come.
const never = time.Duration(1<<63 - 1)

// A Meter measures one connection. All methods are safe for concurrent use and
// none waits for I/O.
type Meter struct {
	base      time.Time // instants are offsets from here; taken per connection
	watcher   *Watcher
	sink      func(burst.Sample)
	handshake time.Duration
	infer     bool
	interval  time.Duration           // between cookies
	lone      func(now time.Duration) // sends a cookie without a frame to ride on
	settle    func()                  // brings out up to date

	// Read by the writing goroutine before each frame, so that it takes the
	// lock about once a millisecond only. Nanoseconds since base.
	due      atomic.Int64 // when the next cookie may be sent
	asked    atomic.Int64 // our first Data frame since the last payload, 0 if none
	wrote    atomic.Int64 // our last frame, kept while a fetch is outstanding
	fetching atomic.Int32 // fetches outstanding
	reading  atomic.Bool  // a read of the inner conn is pending

	mu          sync.Mutex // guards what follows; never held across I/O or a call back
	pair        pairing
	rtt         *cookie.RTT
	estimate    *burst.Estimate
	ledger      ledger
	path        burst.Path
	kernel      Kernel
	burstOpened time.Duration // of the latest burst
	lastPayload time.Duration
	since       time.Duration // when the first of the fetches outstanding began
	backlog     time.Duration // until when reads may bring what had waited for us
	inferred    burst.Fetch   // the fetch WithInferredFetches began
	inferring   bool
	pulse       pulse
	gaps        Gaps
	booked      booked
	cut         cut
	counts      Counts // what the reading goroutine counts
	out         *outCounts
}

func newMeter(o *options, out *outCounts) *Meter {
	rtt := cookie.NewRTT(cookie.DefaultRTTConfig())
	m := &Meter{
		base:      time.Now(),
		watcher:   o.watcher,
		sink:      o.sink,
		handshake: o.handshake,
		infer:     o.infer,
		interval:  o.cookie.MinInterval,
		pair:      newPairing(o.cookie, o.burst, rtt),
		rtt:       rtt,
		estimate:  burst.NewEstimate(estimateHalfLife),
		out:       out,
	}
	if !o.cookies {
		m.stopCookies()
	}
	m.refreshBase()
	return m
}

// now is the current instant. time.Since reads only the monotonic clock, which
// costs half of time.Now.
func (m *Meter) now() time.Duration { return time.Since(m.base) }

// emit hands a closed burst to the sink, outside the lock.
func (m *Meter) emit(s burst.Sample, closed bool) {
	if closed && m.sink != nil {
		m.sink(s)
	}
}

// fold takes a closed burst into the estimate. The caller holds mu, here and
// below.
func (m *Meter) fold(s burst.Sample, closed bool) {
	if closed {
		m.estimate.Fold(s, s.Closed)
		m.path.Rate = m.estimate.Reading(s.Closed).Rate
		m.pair.window.SetPath(m.path)
	}
}

// refreshBase tells the window the path's base RTT: the least of all that
// vouch for it, so that a peer gains no allowance by holding its echoes.
func (m *Meter) refreshBase() {
	base := m.rtt.Base()
	for _, d := range [...]time.Duration{m.handshake, m.kernel.MinRTT} {
		if d > 0 && (base == 0 || d < base) {
			base = d
		}
	}
	m.path.BaseRTT = base
	m.path.Confirmed = m.handshake > 0 || m.kernel.MinRTT > 0
	m.pair.window.SetPath(m.path)
}
