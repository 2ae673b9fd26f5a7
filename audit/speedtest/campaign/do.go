package campaign

import (
	"errors"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// ErrInterrupted says that a host was told to end. The state it saved last is one
// to go on from.
var ErrInterrupted = errors.New("campaign: interrupted; start it again with the same state file and it goes on")

// Host does what a campaign decides. What it returns for a step that was
// interrupted is ignored, but for a test that is whole.
type Host interface {
	// Now is the instant, in seconds since 1970.
	Now() float64
	// Save keeps the state so that a kill leaves the old one or the new one.
	Save(state []byte) error
	// Tell announces the campaign, and returns what the peer publishes, nil if it
	// can't be reached; whether it has opted out, and the notice that it wants.
	Tell(p report.Peer, in time.Duration) (f *report.Published, optedOut bool, notice time.Duration)
	// Test tests a peer, if it has not opted out by then, and returns what it
	// published before and after, nil where that was not read.
	Test(p report.Peer) (runs []report.Run, before, after *report.Published)
	// Look reads what a peer publishes, nil if it can't be reached.
	Look(p report.Peer) *report.Published
	// Interrupted says that the host is to end.
	Interrupted() bool
}

// Do does a step other than Wait, Finished and Stopped, and saves the state. The
// error is ErrInterrupted or the host's.
func (s *State) Do(step Step, h Host) error {
	if step.Kind == Test {
		// From here to the end of the test a kill leaves a test that was begun.
		s.Begin(step.Peer, h.Now())
		if err := s.save(h); err != nil {
			return err
		}
	}
	note, whole := s.act(step, h)
	stop := h.Interrupted()
	if stop && !whole {
		return ErrInterrupted
	}
	note()
	if err := s.save(h); err != nil || !stop {
		return err
	}
	return ErrInterrupted
}

// complete says that all of a test was measured.
func complete(runs []report.Run) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r report.Run) bool { return r.Outcome != report.Measured })
}

// act does a step, and returns what notes it. whole says that it holds even if the
// host was interrupted after: the peer would not let us measure it again so soon.
func (s *State) act(step Step, h Host) (note func(), whole bool) {
	switch i := step.Peer; step.Kind {
	case Pretest:
		runs, _, _ := h.Test(*s.Control)
		return func() { s.Pretested(h.Now(), runs) }, complete(runs)
	case Tell:
		f, out, notice := h.Tell(s.Peers[i], s.Plan.Notice)
		return func() { s.Told(i, h.Now(), f, out, notice.Seconds()) }, false
	case Test:
		runs, before, after := h.Test(s.Peers[i])
		return func() {
			s.Look(i, before)
			s.Tested(i, h.Now(), runs, after)
		}, complete(runs)
	case Read:
		f := h.Look(s.Peers[i])
		return func() { s.Reread(i, f) }, false
	default: // nothing to do
		return func() {}, false
	}
}

func (s *State) save(h Host) error {
	b, err := s.Save()
	if err != nil {
		return err
	}
	return h.Save(b)
}
