package ranking

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/audit"
)

// mostEvents is how many events wait to be drained; the oldest are dropped beyond it.
const mostEvents = 1024

// EventKind is a kind of [Event].
type EventKind uint8

// The kinds of events.
const (
	// VerdictChanged: the audit says something else of a peer.
	VerdictChanged EventKind = iota
	// Demoted: a peer is chosen no more, except for shadows; in a dry run it would be.
	Demoted
	// Redeemed: it is again.
	Redeemed
	// DropNow: a fetch blew its hard timeout; disconnect the peer without waiting for churn.
	DropNow
	// SizeLie: a peer is proven to have lied about a size.
	SizeLie
	// AttesterFault: an attested or derived size proved wrong; its source is at fault, not the peers.
	AttesterFault
	// EclipseSuspected: all advertisers of several groups told the same lie; draw fresh peers.
	EclipseSuspected
	// HoldBegan and HoldEnded: we suspect ourselves, and no longer.
	HoldBegan
	HoldEnded
	// Hedged: a fetch was hedged.
	Hedged
	// CriticalMissed: a critical fetch failed.
	CriticalMissed
	// EchoesMissing: of a hundred cookies or more a peer left more than one in twenty unanswered, which
	// no multiplexer we know does by itself. They count in its round trip at their age.
	EchoesMissing

	eventKinds
)

var eventNames = [eventKinds]string{
	"verdict_changed", "demoted", "redeemed", "drop_now", "size_lie", "attester_fault",
	"eclipse_suspected", "hold_began", "hold_ended", "hedged", "critical_missed", "echoes_missing",
}

// String returns the kind as a label: lower case, underscores.
func (k EventKind) String() string {
	if k >= eventKinds {
		return "unknown"
	}
	return eventNames[k]
}

// Event is something the host may want to know or act on. It is a value.
type Event struct {
	At    time.Duration
	Kind  EventKind
	Peer  string
	Group Group
	Datum string
	// Verdict is what stands against the peer, for VerdictChanged, Demoted, Redeemed and SizeLie.
	Verdict audit.Verdict
	// Detail is for people: a clause with the figures.
	Detail string
	// Dry says that the ranker does not act on it itself, nor should the host.
	Dry bool
}

// String returns the event in one line.
func (e Event) String() string {
	s := fmt.Sprintf("%s %s", e.Kind, e.Peer)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// events is a bounded queue.
type events struct {
	queue   []Event
	dropped uint64
	counts  [eventKinds]uint64
}

func (q *events) add(e Event) {
	q.counts[e.Kind]++
	if len(q.queue) >= mostEvents {
		n := copy(q.queue, q.queue[mostEvents/4:])
		clear(q.queue[n:])
		q.queue = q.queue[:n]
		q.dropped += mostEvents / 4
	}
	q.queue = append(q.queue, e)
}

// Events returns what has happened since the last call, the oldest first. At most 1024 wait; how many
// were dropped beyond that is in [Stats].
func (r *Ranker) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.events.queue
	r.events.queue = nil
	return out
}

func (r *Ranker) tell(now time.Duration, kind EventKind, p *peer, datum, detail string) {
	e := Event{At: now, Kind: kind, Datum: datum, Detail: detail, Dry: r.cfg.Dry}
	if p != nil {
		e.Peer, e.Group, e.Verdict = p.id, p.group.name, p.verdict
	}
	r.events.add(e)
}

// judge takes in what the audit says of a peer, and acts on it.
func (r *Ranker) judge(now time.Duration, p *peer, v audit.Verdict) {
	old := p.verdict
	p.verdict = v
	if v.Kinds.Has(audit.ProvenLie) && !old.Kinds.Has(audit.ProvenLie) {
		r.book.doubt(p.id, "")
	}
	if old.Kind != v.Kind {
		r.tell(now, VerdictChanged, p, "", v.Reason())
	}
	demoted := v.Kind.Punitive() && !p.pinned
	if demoted == p.demoted {
		return
	}
	p.demoted = demoted
	r.touch(p)
	if !demoted {
		r.unshadow(p)
		r.consider(now, p)
		r.tell(now, Redeemed, p, "", v.Reason())
		return
	}
	p.prove()
	p.group.convict(now, &r.cfg)
	r.explorer.enough(p.id)
	if p.connected() {
		r.explorer.demote(p.id, p.group.name, p.shadowedAt, p.shadowedEver)
	}
	for _, q := range p.group.peers {
		r.touch(q)
	}
	r.tell(now, Demoted, p, "", v.Reason())
}

// unshadow says that a peer gets no shadows for now, and remembers when it last had one.
func (r *Ranker) unshadow(p *peer) {
	if !r.explorer.demoted.has(p.id) {
		return
	}
	p.shadowedAt, p.shadowedEver = r.explorer.redeem(p.id)
}

// noteHold tells when a hold begins or ends.
func (r *Ranker) noteHold(now time.Duration) {
	cause, held := r.us.held(now)
	switch {
	case held && r.held == notHeld:
		r.held = cause
		r.tell(now, HoldBegan, nil, "", cause.String())
	case !held && r.held != notHeld:
		r.tell(now, HoldEnded, nil, "", r.held.String())
		r.held = notHeld
	}
}
