package speedtest

import (
	"sync"
	"time"

	"github.com/assay-mux/assay/burst"
)

// Meter is what measures a connection for a ranker: a *mux.Meter.
type Meter interface {
	Reading() burst.Reading
	Begin() (end func())
}

// Shade is the meter of a peer, with the time that a speed test takes of the path
// counted as ours: give it to the ranker in place of the meter. A fetch that was
// made in the shade of a test for most of its time then says nothing of its peer,
// good or bad, whichever side tests the other. Build it with NewShade. Safe for
// concurrent use.
//
// It hides a fetch in twenty seconds of half a day, so that there is little to be gained from
// testing somebody to be excused meanwhile.
type Shade struct {
	meter Meter
	base  time.Time

	mu    sync.Mutex
	tests int           // under way
	since time.Duration // when the first of them began
	total time.Duration // of those before
}

// NewShade returns the shade of a meter.
func NewShade(m Meter) *Shade { return &Shade{meter: m, base: time.Now()} }

// Begin says that a fetch is outstanding, as the meter's own does.
func (s *Shade) Begin() (end func()) { return s.meter.Begin() }

// Reading is the meter's, with the time of tests in Ours.
func (s *Shade) Reading() burst.Reading {
	r := s.meter.Reading()
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Ours += s.total
	if s.tests > 0 {
		r.Ours += time.Since(s.base) - s.since
	}
	return r
}

// Test says that a test of this peer, or by it, is under way until end is called;
// further calls of end do nothing.
func (s *Shade) Test() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tests++; s.tests == 1 {
		s.since = time.Since(s.base)
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.tests--; s.tests == 0 {
			s.total += time.Since(s.base) - s.since
		}
	})
}
