package audit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrState is returned by [Auditor.Import] for a state that no auditor can have exported; the text
// after it names the peer and what is wrong.
var ErrState = errors.New("audit: the state is damaged, start without it or restore an older one")

// A PeerState is what outlives a restart: the charts, which don't age, and the proofs. The baseline
// does not; it is built anew, and until then the threshold is the ceiling.
type PeerState struct {
	Peer  string `json:"peer"`
	Group string `json:"group"`
	// Age and GroupAge are how long the peer and its group had been known.
	Age      time.Duration `json:"age"`
	GroupAge time.Duration `json:"group_age"`

	SlowToStart ChartState `json:"slow_to_start,omitzero"`
	Path        ChartState `json:"path,omitzero"`
	Overclaims  ChartState `json:"overclaims,omitzero"`
	Critical    ChartState `json:"critical,omitzero"`
	Withholding ChartState `json:"withholding,omitzero"`
	EchoHolding ChartState `json:"echo_holding,omitzero"`

	Lie    LieKind `json:"lie,omitempty"`
	Detail string  `json:"detail,omitempty"`
	Forged int     `json:"forged,omitempty"`
}

// charts returns the charts in the order of a peer's.
func (s *PeerState) charts() [chartCount]*ChartState {
	return [chartCount]*ChartState{&s.SlowToStart, &s.Path, &s.Overclaims, &s.Critical, &s.Withholding, &s.EchoHolding}
}

func (s *PeerState) check() error {
	if s.Age < 0 || s.GroupAge < 0 || s.Forged < 0 || s.Lie > ForgedEcho || len(s.Detail) > detailMax {
		return fmt.Errorf("%w: peer %q has an age, a count or a lie that can't be", ErrState, s.Peer)
	}
	for i, c := range s.charts() {
		if !c.valid() {
			return fmt.Errorf("%w: peer %q has a chart (%d) that can't be", ErrState, s.Peer, i)
		}
	}
	return nil
}

// Export returns the state of one peer, and whether it is known.
func (a *Auditor) Export(now time.Duration, name string) (PeerState, bool) {
	p := a.peers[name]
	if p == nil {
		return PeerState{}, false
	}
	return p.export(now), true
}

// ExportAll returns the state of all peers in order of name.
func (a *Auditor) ExportAll(now time.Duration) []PeerState {
	out := make([]PeerState, len(a.list))
	for i, p := range a.list {
		out[i] = p.export(now)
	}
	slices.SortFunc(out, func(a, b PeerState) int { return cmp.Compare(a.Peer, b.Peer) })
	return out
}

func (p *peer) export(now time.Duration) PeerState {
	s := PeerState{
		Peer: p.name, Group: p.group.name,
		Age: max(now-p.since, 0), GroupAge: max(now-p.group.since, 0),
		Lie: p.lie, Detail: p.detail, Forged: p.forged,
	}
	for i, c := range s.charts() {
		*c = p.charts[i]
	}
	return s
}

// Import takes exported states in, over those of peers it knows already. On error, which is
// [ErrState], it has taken none.
func (a *Auditor) Import(now time.Duration, states []PeerState) error {
	for i := range states {
		if err := states[i].check(); err != nil {
			return err
		}
	}
	for i := range states {
		a.restore(now, &states[i])
	}
	return nil
}

func (a *Auditor) restore(now time.Duration, s *PeerState) {
	p := a.peer(now, s.Peer, s.Group)
	p.since = min(p.since, now-s.Age)
	p.group.since = min(p.group.since, now-s.GroupAge)
	for i, c := range s.charts() {
		p.charts[i] = *c
		p.charts[i].Sum = min(c.Sum, a.steps[i].limit)
	}
	p.lie, p.detail, p.forged = s.Lie, s.Detail, s.Forged
	p.speakUp(now, &a.cfg)
}
