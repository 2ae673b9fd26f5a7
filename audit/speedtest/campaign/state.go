package campaign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// Format is the version of a saved State.
const Format = 1

// State is a campaign. Build it with New or Load. Not safe for concurrent use.
type State struct {
	Format int  `json:"format"`
	Plan   Plan `json:"plan"`
	// Control is the target of our own, nil if there is none, as in a campaign
	// that goes on from one that passed. Its KnownCapacity is its limit.
	Control *report.Peer `json:"control,omitempty"`
	// Passed says that the control was found right.
	Passed bool `json:"passed"`
	// ControlDue is when the control is to be tested again, after a test without a
	// figure.
	ControlDue float64 `json:"control_due_unix_seconds,omitempty"`
	// Shortened says that tests are shorter than 20 s; the host sets it.
	Shortened bool `json:"shortened"`
	// Peers are the others, with all that was found.
	Peers []report.Peer `json:"peers"`
	// Visits are what each of them is due, in the order of Peers.
	Visits []Visit `json:"visits"`
	// First is when the first round begins, 0 before all were told.
	First float64 `json:"first_unix_seconds,omitempty"`
}

// Visit is how far a campaign is with one peer.
type Visit struct {
	// Told says that it was told, or has opted out, and when.
	Told   bool    `json:"told"`
	ToldAt float64 `json:"told_at_unix_seconds,omitempty"`
	Tries  int     `json:"told_tries,omitempty"`     // to tell it
	Notice float64 `json:"notice_seconds,omitempty"` // more than the plan's, if it wants more
	// Round is the next to be tested in, and Tried the tests begun in it.
	Round int `json:"round"`
	Tried int `json:"tried"`
	// Due is when, 0 if by the plan.
	Due float64 `json:"due_unix_seconds,omitempty"`
	// Testing says that a test was begun and has not ended, as when we were
	// killed in it.
	Testing bool    `json:"testing,omitempty"`
	Began   float64 `json:"began_unix_seconds,omitempty"`
	// Last is when its last test ended, 0 if it has had none, and Read that its
	// figures were read once they had forgotten it.
	Last float64 `json:"last_test_unix_seconds,omitempty"`
	Read bool    `json:"read_after"`
}

// Errors of this package.
var (
	// ErrState says that a saved state is none.
	ErrState = errors.New("campaign: the state file is damaged or of another version; begin another campaign with a new file")
	// ErrPeers says that the peers given are not those of the state.
	ErrPeers = errors.New("campaign: a peer needs a name of its own and an address")
)

// New returns a campaign of these peers, of which name and address count. control
// may be nil.
func New(p Plan, control *report.Peer, peers []report.Peer) (*State, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	s := &State{Format: Format, Plan: p, Passed: control == nil, Peers: slices.Clone(peers), Visits: make([]Visit, len(peers))}
	if control != nil {
		c := *control
		s.Control = &c
	}
	return s, s.check()
}

// check says whether the peers are peers.
func (s *State) check() error {
	seen := map[string]bool{}
	for _, p := range s.Peers {
		if p.Name == "" || p.Address == "" || seen[p.Name] {
			return fmt.Errorf("%w (%q)", ErrPeers, p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}

// Save returns the state as it goes into a file.
func (s *State) Save() ([]byte, error) {
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	return append(b, '\n'), nil
}

// Load reads a saved state. A test that it was saved in the middle of is then one
// that was interrupted: it is noted as failed, and made up for later.
func Load(b []byte) (*State, error) {
	s := &State{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrState, err)
	}
	if s.Format != Format || len(s.Visits) != len(s.Peers) || s.Plan.Validate() != nil || s.check() != nil {
		return nil, ErrState
	}
	if c := s.Control; c == nil && !s.Passed || c != nil && !(c.KnownCapacity > 0) {
		return nil, ErrState // nothing to hold a pre-test against
	}
	for i := range s.Visits {
		v := &s.Visits[i]
		if v.Round < 0 || v.Tried < 0 {
			return nil, ErrState
		}
		if v.Testing {
			s.Tested(i, v.Began, []report.Run{{
				Started: v.Began, Outcome: report.Failed, Setup: report.Direct, Error: "interrupted: the tester was ended",
			}}, nil)
		}
	}
	return s, nil
}

// Document is what was found so far.
func (s *State) Document() report.Document {
	d := report.Document{Format: report.Format, Shortened: s.Shortened, Peers: slices.Clone(s.Peers)}
	for i := range d.Peers {
		d.Peers[i].Settle()
	}
	return d
}

// order has the indices of the peers, the largest first by what they published
// when they were told: so it does not change.
func (s *State) order() []int {
	order := make([]int, len(s.Peers))
	for i := range order {
		order[i] = i
	}
	first := func(i int) float64 {
		if len(s.Peers[i].Published) == 0 {
			return -1
		}
		return float64(s.Peers[i].Published[0].Advertised)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(first(b), first(a)) })
	return order
}
