package campaign

import (
	"slices"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// Kind is a kind of step.
type Kind uint8

// The kinds.
const (
	// Wait: nothing is due before At.
	Wait Kind = iota
	// Pretest: test the control; then Pretested.
	Pretest
	// Tell: announce the campaign to the peer and read its figures; then Told.
	Tell
	// Test: read its figures, test it, read them again; Begin before, Tested after.
	Test
	// Read: read its figures; then Reread.
	Read
	// Finished: all is done.
	Finished
	// Stopped: the control was not found right, so nobody is tested.
	Stopped

	kinds
)

// String returns the kind as a label.
func (k Kind) String() string {
	return [kinds + 1]string{"wait", "pretest", "tell", "test", "read", "finished", "stopped", "unknown"}[min(k, kinds)]
}

// Step is what to do.
type Step struct {
	Kind Kind
	// Peer is the index of whom in Peers, for Tell, Test and Read; and of whom is
	// next, for Wait: TheControl if that is the control.
	Peer int
	// Round is of a test, from 0.
	Round int
	// At is when it is due, or over for Wait, in seconds since 1970.
	At float64
}

// TheControl stands in a Step for the control, which is none of the Peers.
const TheControl = -1

// mostTells is how often a peer is told that can't be reached, and tellAgain how
// long after, in seconds. The control is tried again as soon, for as long as it takes.
const (
	mostTells = 3
	tellAgain = 600
)

// mostTries is how many tests may be begun in a round for one that is measured.
const mostTries = 3

// Next says what is to be done at an instant: what has been due longest.
func (s *State) Next(now float64) Step {
	switch {
	case !s.Passed && s.Control != nil && s.Control.Outcome == report.Measured:
		return Step{Kind: Stopped, At: now}
	case !s.Passed && s.ControlDue > now:
		return Step{Kind: Wait, Peer: TheControl, At: s.ControlDue}
	case !s.Passed:
		return Step{Kind: Pretest, Peer: TheControl, At: now}
	}
	best := Step{Kind: Finished, At: now}
	for place, i := range s.order() {
		if step, ok := s.due(i, place); ok && (best.Kind == Finished || step.At < best.At) {
			best = step
		}
	}
	if best.Kind != Finished && best.At > now {
		best.Kind = Wait
	}
	return best
}

// due is what a peer is due next, and when; false if nothing is.
func (s *State) due(i, place int) (Step, bool) {
	p, v := s.Peers[i], s.Visits[i]
	switch {
	case !v.Told:
		return Step{Kind: Tell, Peer: i, At: v.Due}, true
	case s.First == 0:
		return Step{}, false // others are still to be told
	case !p.OptedOut && v.Round < s.Plan.Rounds:
		at := v.Due
		if at == 0 {
			at = max(s.First+s.Plan.slot(v.Round, place), v.ToldAt+v.Notice)
		}
		return Step{Kind: Test, Peer: i, Round: v.Round, At: at}, true
	case !v.Read && v.Last > 0:
		return Step{Kind: Read, Peer: i, At: v.Last + s.Plan.Memory.Seconds()}, true
	}
	return Step{}, false
}

// Pretested notes the test of the control, and says whether it was found right:
// within the tolerance of what it is known to have. A test without a figure proves
// nothing either way and is made up for: the control may not be up yet, or ask us
// to come again, as when we were killed while we tested it.
func (s *State) Pretested(now float64, runs []report.Run) bool {
	c := s.Control
	c.Runs = append(c.Runs, runs...)
	c.Settle()
	s.ControlDue = now + tellAgain
	for _, r := range runs {
		if r.Refusal != nil && r.Refusal.RetryAfter > 0 {
			s.ControlDue = now + r.Refusal.RetryAfter
		}
	}
	off := c.Capacity/c.KnownCapacity - 1
	s.Passed = c.Outcome == report.Measured && off >= -s.Plan.Tolerance && off <= s.Plan.Tolerance
	return s.Passed
}

// Told notes that a peer was told at an instant, and what it published then; nil
// if it could not be reached. optedOut says that it wants no test, and notice how
// long a notice it wants, in seconds. The last to be told begins the rounds, a
// notice period later.
func (s *State) Told(i int, now float64, f *report.Published, optedOut bool, notice float64) {
	v := &s.Visits[i]
	v.Tries++
	if f == nil && v.Tries < mostTells {
		v.Due = now + tellAgain
		return
	}
	v.Told, v.ToldAt, v.Due, v.Notice = true, now, 0, notice
	s.publish(i, f, report.Before)
	if f == nil { // who was not told is not tested
		v.Round = s.Plan.Rounds
		s.Peers[i].Runs = append(s.Peers[i].Runs, report.Run{Started: now, Setup: report.Direct, Outcome: report.Failed, Error: "it could not be told"})
	}
	s.Peers[i].OptedOut = optedOut
	if optedOut {
		s.Peers[i].Runs = append(s.Peers[i].Runs, report.Run{Started: now, Setup: report.Direct, Outcome: report.OptedOut,
			Refusal: &report.Refusal{Code: "opted_out"}})
	}
	if !slices.ContainsFunc(s.Visits, func(v Visit) bool { return !v.Told }) {
		s.First = now + s.Plan.Notice.Seconds()
	}
}

// Begin notes that a test begins. Save the state before it does.
func (s *State) Begin(i int, now float64) {
	v := &s.Visits[i]
	v.Testing, v.Began = true, now
	v.Tried++
}

// Tested notes a test that has ended, and what the peer published after it, nil if
// that was not read. A peer that was measured, or has said no for longer than to
// the next round, is due in that; one that failed or asked us to come again is
// visited again, a few times.
func (s *State) Tested(i int, now float64, runs []report.Run, after *report.Published) {
	v, p := &s.Visits[i], &s.Peers[i]
	round := v.Round
	v.Testing, v.Due = false, 0
	measured, wait := false, s.Plan.Retry.Seconds()
	for _, r := range runs {
		r.Round = round
		p.Runs = append(p.Runs, r)
		measured = measured || r.Outcome == report.Measured
		if r.Outcome == report.OptedOut {
			p.OptedOut = true
		}
		if r.Refusal != nil && r.Refusal.RetryAfter > 0 {
			wait = r.Refusal.RetryAfter
		}
	}
	if measured {
		v.Last, v.Read = now, false
	}
	s.publish(i, after, report.During)
	p.Settle()
	again := now + wait
	if measured || v.Tried >= mostTries || again >= s.First+float64(round+1)*s.Plan.Gap.Seconds() {
		v.Round, v.Tried = round+1, 0
		return
	}
	v.Due = again
}

// Reread notes what a peer published after its figures had forgotten the tests, nil if it could not be
// read.
func (s *State) Reread(i int, f *report.Published) {
	s.Visits[i].Read = true
	s.publish(i, f, report.After)
}

// Look notes what a peer published right before a test.
func (s *State) Look(i int, f *report.Published) {
	phase := report.Before
	if s.Visits[i].Last > 0 {
		phase = report.During
	}
	s.publish(i, f, phase)
}

func (s *State) publish(i int, f *report.Published, phase report.Phase) {
	if f == nil {
		return
	}
	g := *f
	g.Phase = phase
	s.Peers[i].Published = append(s.Peers[i].Published, g)
}
