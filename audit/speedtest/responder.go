package speedtest

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/passive"
	"github.com/assay-mux/assay/audit/speedtest/policy"
)

// ResponderConfig is what a Responder is made from.
type ResponderConfig struct {
	// Policy is what is allowed; policy.Default is a beginning.
	Policy policy.Policy
	// Figures are what the node publishes of itself now. Nil publishes nothing.
	Figures func() passive.Figures
	// Ordinary is how many bytes the node has sent in all that were no test. Nil
	// leaves the reserve free all the time.
	Ordinary func() int64
	// Moved is told of the payload of tests, read and written, for the passive
	// figures. It must not block. Nil is not called.
	Moved func(read, written int)
	// Outstanding is what Config.Outstanding is, of tests by that tester. Nil is not called.
	Outstanding func(who policy.Who, delta int64)
	// Event is told what happens. It must not block. Nil is not called.
	Event func(Event)
}

// Event is something an operator wants to know of the tests of this node. A
// value.
type Event struct {
	Kind EventKind
	Who  policy.Who
	// In is when an announced test is to come, and RetryAfter of a refusal.
	In    time.Duration
	Code  policy.Code  // of a refusal
	Ended policy.Ended // of a run
	Way   message.Way  // of a run
	Bytes int64        // of a run
}

// EventKind is a kind of Event.
type EventKind uint8

// The kinds of events.
const (
	Announced EventKind = iota
	Refused
	Granted
	RunBegan
	RunEnded
)

// Responder answers testers, within a policy. Build it with NewResponder; it
// holds no goroutine of its own. Safe for concurrent use.
type Responder struct {
	cfg  ResponderConfig
	base time.Time

	mu   sync.Mutex
	gate *policy.Gate // guarded by mu
	job  *job         // the test under way, or the last one; guarded by mu
}

// NewResponder returns a responder, or an error that is policy.ErrPolicy.
func NewResponder(cfg ResponderConfig) (*Responder, error) {
	gate, err := policy.New(cfg.Policy)
	if err != nil {
		return nil, err
	}
	if cfg.Figures == nil {
		cfg.Figures = func() passive.Figures { return passive.Figures{} }
	}
	if cfg.Moved == nil {
		cfg.Moved = func(int, int) {}
	}
	if cfg.Outstanding == nil {
		cfg.Outstanding = func(policy.Who, int64) {}
	}
	if cfg.Event == nil {
		cfg.Event = func(Event) {}
	}
	return &Responder{cfg: cfg, base: time.Now(), gate: gate}, nil
}

func (r *Responder) now() time.Duration { return time.Since(r.base) }

// SetOptOut opts the node out, which stops a test under way, or in again.
func (r *Responder) SetOptOut(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate.SetOptOut(on)
}

// Counts returns what was done so far.
func (r *Responder) Counts() policy.Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gate.Counts()
}

// Descriptor is what the node publishes now.
func (r *Responder) Descriptor() message.Descriptor {
	f := r.cfg.Figures()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.gate.Policy()
	return message.Descriptor{Figures: f, Policy: message.Policy{
		Willing: true, OptedOut: p.OptOut, MaxBytes: p.Bytes, MaxLength: p.Duration,
		MaxRate: p.Limit, Streams: int64(p.Streams), Interval: p.Interval, Notice: p.Notice,
	}}
}

// patience is how long a peer may take over each message of ours and its own, but
// for the waiting that a test consists of. Longer bears with worse paths.
const patience = 10 * time.Second

// errUnexpected says that a stream began with something else than a request.
var errUnexpected = errors.New("speedtest: the stream begins with no request of a speed test, end it")

// Serve answers one stream that a peer opened, and returns when it has served
// its purpose; then the caller closes it. who is the peer at the other end as
// the host knows it, for quotas. A refusal is no error.
func (r *Responder) Serve(ctx context.Context, st net.Conn, who policy.Who) error {
	// Whoever reads or writes a stream ends with it; a stream that nobody may
	// wait on any longer gets a deadline instead.
	stop := context.AfterFunc(ctx, func() { _ = st.SetDeadline(time.Now()) })
	defer stop()
	_ = st.SetDeadline(time.Now().Add(patience))
	m, err := message.Read(st)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case message.Descriptor:
		return message.Write(st, r.Descriptor())
	case message.Announce:
		return r.noted(st, who, m)
	case message.Propose:
		return r.control(ctx, st, who, m)
	case message.Attach:
		return r.carry(ctx, st, who, m)
	}
	return errUnexpected
}

// noted answers an announcement.
func (r *Responder) noted(st net.Conn, who policy.Who, m message.Announce) error {
	r.mu.Lock()
	code := r.gate.Announce(r.now(), who)
	r.mu.Unlock()
	if code != policy.Accepted {
		return r.refuse(st, who, policy.Refusal{Code: code})
	}
	r.cfg.Event(Event{Kind: Announced, Who: who, In: m.In})
	return message.Write(st, message.Noted{})
}

func (r *Responder) refuse(st net.Conn, who policy.Who, f policy.Refusal) error {
	r.cfg.Event(Event{Kind: Refused, Who: who, Code: f.Code, In: f.RetryAfter})
	return message.Write(st, message.Refusal{Code: uint8(f.Code), RetryAfter: f.RetryAfter, Text: f.Error()})
}

// grant asks the gate, and makes the job of what it grants.
func (r *Responder) grant(who policy.Who, m message.Propose) (*job, error) {
	ask := policy.Ask{Runs: int(m.Runs), Streams: int(m.Streams), Length: m.Length, Bytes: m.Bytes, Rate: m.Rate, Limit: m.Limit}
	j := &job{responder: r, who: who, out: make(chan message.Message, 16), over: make(chan struct{})}
	if _, err := rand.Read(j.token[:]); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Ordinary != nil {
		r.gate.Ordinary(r.now(), r.cfg.Ordinary())
	}
	g, err := r.gate.Ask(r.now(), who, ask)
	if err != nil {
		return nil, err
	}
	j.Grant = g
	for i := range g.Runs {
		j.legs = append(j.legs, newLeg(j, uint8(i)))
	}
	r.job = j
	return j, nil
}
