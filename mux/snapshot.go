package mux

import (
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cookie"
)

// RTT is what is known of the round trip. Times are 0 while unknown.
type RTT struct {
	// Base is the path's own round trip: the least of all that vouch for it
	// (echoes, handshake, the kernel's minimum, the first answer to a stream we
	// opened), so that a peer cannot raise it by holding echoes.
	Base time.Duration
	// Confirmed says that the handshake or the kernel is among them.
	Confirmed bool
	// P50 and P95 are of echoes that no load of ours or the peer's delayed.
	// Cookies given up unanswered count in P95 at their age.
	P50, P95 time.Duration
	// UnloadedP50 and UnloadedP95 are P50 and P95 with no loaded echo standing in
	// where there are no others.
	UnloadedP50, UnloadedP95 time.Duration
	// LoadedP50 and LoadedP95 are of echoes that waited in a send queue.
	LoadedP50, LoadedP95 time.Duration
	// Samples and LoadedSamples are how many of each, Censored how many
	// cookies were given up.
	Samples, LoadedSamples, Censored uint64
}

// Snapshot is all a Meter knows at one instant. It is a value and stays as it
// was.
type Snapshot struct {
	At       time.Duration    // since the connection was wrapped
	RTT      RTT              // round trip
	Estimate burst.Estimation // serialisation rate, its error and coverage
	Burst    burst.State      // the open burst, and time by whose it was
	Gaps     Gaps             // our own part of the silences, by cause
	Fetches  int              // outstanding
	Streams  int              // open ones that it follows, 65,536 at most

	Outstanding int           // cookies unanswered
	FrontAge    time.Duration // age of the oldest of them, 0 if none
	EchoAge     time.Duration // since the newest echoed cookie was sent, 0 before the first
	Cookies     cookie.Counts
	Counts      Counts
	Kernel      Kernel
}

// Snapshot returns the state of now. It takes the meter's lock for about a
// microsecond; that lock is never held across I/O or a call back, so that the
// connection waits no longer than that for it.
func (m *Meter) Snapshot() Snapshot {
	m.settle()
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	r := m.rtt.Reading(now)
	s := Snapshot{
		At: now,
		RTT: RTT{
			Base: m.path.BaseRTT, Confirmed: m.path.Confirmed,
			P50: r.P50, P95: r.P95, UnloadedP50: r.UnloadedP50, UnloadedP95: r.UnloadedP95, LoadedP50: r.LoadedP50, LoadedP95: r.LoadedP95,
			Samples: r.Samples, LoadedSamples: r.LoadedSamples, Censored: r.Censored,
		},
		Estimate:    m.estimate.Reading(now),
		Burst:       m.pair.window.State(),
		Gaps:        m.gaps,
		Fetches:     int(m.fetching.Load()),
		Streams:     len(m.ledger.streams),
		Outstanding: m.pair.cookies.Len(),
		Cookies:     m.pair.cookies.Counts(),
		Counts:      m.counts,
		Kernel:      m.kernel,
	}
	s.FrontAge, _ = m.pair.cookies.FrontAge(now)
	if sent, ok := m.pair.cookies.NewestEchoed(); ok {
		s.EchoAge = now - sent
	}
	m.out.into(&s.Counts)
	return s
}
