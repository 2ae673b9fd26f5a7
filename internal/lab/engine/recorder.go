package engine

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// recorder keeps what happens in a run.
type recorder struct {
	w *world

	mu        sync.Mutex
	fetches   []*FetchRecord
	transfers []*TransferRecord
	events    []EventRecord
	broken    []Violation
	peers     map[string]*tally
	come      int           // data that have come
	holds     int           // times verdicts began to be held
	held      time.Duration // how long in all, but for the hold that goes on
	heldSince time.Duration // when that began, 0 none
	from, to  time.Duration // of the user's part
	ended     time.Duration
}

// tally is what is summed up of a peer.
type tally struct {
	ended, gross int // transfers
	demotedAfter int
	demotedAt    time.Duration
	demoted      bool
	dropped      bool
	churned      bool
	proven       int // data that had come by then, -1 never
	convicted    int // gross misses by then, -1 never
	ever         audit.Kinds
	holding      bool
	missing      bool // echoes
	verdict      audit.Verdict
	last         mux.Snapshot // of its newest connection
	ours, theirs time.Duration
	forged       uint64
	expected     []time.Duration // at the end, by size
}

// newRecorder has no nil lists: a document says [] of what there is none of.
func newRecorder(w *world) *recorder {
	return &recorder{
		w: w, peers: map[string]*tally{},
		fetches: []*FetchRecord{}, transfers: []*TransferRecord{}, events: []EventRecord{}, broken: []Violation{},
	}
}

// tally is that of a peer. Needs mu.
func (r *recorder) tally(peer string) *tally {
	t, ok := r.peers[peer]
	if !ok {
		t = &tally{convicted: -1, proven: -1}
		r.peers[peer] = t
	}
	return t
}

// note tells the observer. It must not be called with mu held.
func (r *recorder) note(e Event) {
	if r.w.o.Observe == nil {
		return
	}
	e.At = r.w.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.w.o.Observe(e)
}

func (r *recorder) violate(peer, format string, args ...any) {
	v := Violation{At: r.w.now().Seconds(), Peer: peer, What: fmt.Sprintf(format, args...)}
	r.mu.Lock()
	r.broken = append(r.broken, v)
	r.mu.Unlock()
	r.note(Event{Kind: Violated, Peer: peer, Text: v.What})
}

func (r *recorder) userFrom(at time.Duration) { r.mu.Lock(); r.from = at; r.mu.Unlock() }

func (r *recorder) userTo(at time.Duration) { r.mu.Lock(); r.to = at; r.mu.Unlock() }

// began begins the record of a fetch.
func (r *recorder) began(d *datum, p phase) *FetchRecord {
	at := r.w.now()
	f := &FetchRecord{N: d.n, At: at.Seconds(), at: at, User: p == phaseUser, Size: d.size, Critical: d.critical}
	r.mu.Lock()
	r.fetches = append(r.fetches, f)
	r.mu.Unlock()
	r.note(Event{Kind: FetchBegan, Fetch: d.n, Bytes: d.size, User: f.User})
	return f
}

func (r *recorder) planned(f *FetchRecord, p ranking.Plan) {
	why := p.Why.String()
	r.mu.Lock()
	if f.Tries++; f.Tries == 1 {
		f.First, f.Predicted, f.Why = p.Primary.Peer, p.Predicted.Seconds(), why
	}
	r.mu.Unlock()
	r.note(Event{Kind: FetchPlanned, Fetch: f.N, Peer: p.Primary.Peer, Bytes: f.Size, User: f.User, Predicted: p.Predicted, Text: why})
}

// fetched ends the record of a fetch.
func (r *recorder) fetched(f *FetchRecord, err error) {
	now := r.w.now()
	r.mu.Lock()
	if f.Failed = err != nil; f.Failed {
		f.Wait = (now - f.at).Seconds()
	}
	d := r.w.datum(f.N)
	f.Missed = d.deadline > 0 && (f.Failed || f.Wait > d.deadline.Seconds())
	r.mu.Unlock()
	r.note(Event{Kind: FetchEnded, Fetch: f.N, Peer: f.From, Bytes: f.Size, User: f.User, Failed: err != nil, Took: now - f.at})
}

// whole says that a transfer brought the datum.
func (r *recorder) whole(f *FetchRecord, t *transfer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.come++
	f.From = t.pick.Peer
	f.Wait = (time.Duration(t.last.Load()) - f.at).Seconds()
}

// asked begins the record of a transfer.
func (r *recorder) asked(t *transfer, f *FetchRecord) *TransferRecord {
	rec := &TransferRecord{
		Fetch: t.datum.n, At: t.began.Seconds(), User: f.User, Peer: t.pick.Peer, Role: t.pick.Role.String(),
		Offset: t.pick.Offset, Asked: t.pick.Bytes, Predicted: t.pick.Predicted.Seconds(), Outcome: audit.None.String(),
	}
	r.mu.Lock()
	r.transfers = append(r.transfers, rec)
	if t.pick.Role == ranking.Hedge && f.HedgedAt == 0 {
		f.HedgedAt = (t.began - f.at).Seconds()
	}
	r.mu.Unlock()
	r.note(Event{Kind: TransferBegan, Fetch: t.datum.n, Peer: t.pick.Peer, User: f.User, Role: t.pick.Role, Predicted: t.pick.Predicted})
	return rec
}

// first notes the first byte.
func (r *recorder) first(t *transfer, now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.rec.First = (now - t.began).Seconds()
}

func (r *recorder) advised(t *transfer, a ranking.Advice) {
	if a.Trouble == ranking.NoTrouble || a.Trouble == ranking.Delivered {
		return
	}
	r.mu.Lock()
	known := t.rec.Trouble != ""
	t.rec.Trouble = cmp.Or(t.rec.Trouble, a.Trouble.String())
	r.mu.Unlock()
	if !known {
		r.note(Event{Kind: TransferAdvised, Fetch: t.datum.n, Peer: t.pick.Peer, User: t.rec.User, Role: t.pick.Role, Text: a.String()})
	}
}

// conclude tells the chooser how a transfer ended, and ends its record, once.
func (t *transfer) conclude(err error, tell func(now time.Duration) audit.Verdict) {
	now := t.w.now()
	v := tell(now)
	if t.record(now, v, err, t.w.expected(now, t.pick.Peer, t.datum.size)) {
		t.w.log.note(Event{
			Kind: TransferEnded, Fetch: t.datum.n, Peer: t.pick.Peer, User: t.rec.User, Role: t.pick.Role,
			Bytes: t.got.Load(), Predicted: t.pick.Predicted, Took: now - t.began, Text: t.rec.End,
		})
	}
	t.w.drain()
}

// standing is what a chooser like the ranker says of a peer.
type standing interface {
	Standing(now time.Duration, peer string, size int64) (ranking.Standing, error)
}

// expected is how long the chooser expects so many bytes to take of a peer.
func (w *world) expected(now time.Duration, peer string, size int64) time.Duration {
	c, ok := w.chooser.(standing)
	if !ok {
		return 0
	}
	s, err := c.Standing(now, peer, size)
	if err != nil {
		return 0 // it never came
	}
	return s.Expected
}

// record ends the record of a transfer; false if it has ended.
func (t *transfer) record(now time.Duration, v audit.Verdict, err error, expected time.Duration) bool {
	r := t.w.log
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := t.rec
	if rec.End != "" {
		return false
	}
	rec.Expected = expected.Seconds()
	rec.End, rec.Got, rec.Took = "whole", t.got.Load(), (time.Duration(t.last.Load()) - t.began).Seconds()
	if err != nil {
		rec.End, rec.Took = err.Error(), (now - t.began).Seconds()
	}
	f := v.Latest
	rec.Claim, rec.Residual, rec.Threshold, rec.Gross = f.Claim.Seconds(), f.Residual, f.Threshold.Value, f.Gross
	rec.Outcome, rec.Verdict = f.Outcome.String(), v.Kind.String()
	p := r.tally(t.pick.Peer)
	p.ended++
	if (f.Outcome == audit.Judged || f.Outcome == audit.Censored) && f.Gross > 0 && f.Residual > f.Gross {
		p.gross++
	}
	r.judged(p, v)
	return true
}

// judged notes a verdict. Needs mu.
func (r *recorder) judged(p *tally, v audit.Verdict) {
	if v.Peer == "" {
		return
	}
	if v.Kinds.Has(audit.Withholding) && !p.ever.Has(audit.Withholding) {
		p.convicted = p.gross
	}
	if v.Kinds.Has(audit.ProvenLie) && p.proven < 0 {
		p.proven = r.come
	}
	p.ever |= v.Kinds
	p.holding = p.holding || v.EchoHolding
	p.verdict = v
}

// churn notes that a peer was proposed for replacement.
func (r *recorder) churn(d ranking.Departure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally(d.Peer).churned = true
	r.events = append(r.events, EventRecord{At: r.w.now().Seconds(), Kind: "churned", Peer: d.Peer, Detail: d.Reason})
}

// hold keeps count of when verdicts are held. Needs mu.
func (r *recorder) hold(e ranking.Event) {
	if e.Kind == ranking.HoldBegan {
		r.holds++
		r.heldSince = e.At
	}
	if e.Kind == ranking.HoldEnded {
		r.held, r.heldSince = r.heldFor(e.At), 0
	}
}

// heldFor is how long verdicts were held until an instant. Needs mu.
func (r *recorder) heldFor(now time.Duration) time.Duration {
	if r.heldSince == 0 {
		return r.held
	}
	return r.held + now - r.heldSince
}

// event notes what the chooser reports.
func (r *recorder) event(e ranking.Event) {
	r.mu.Lock()
	r.events = append(r.events, EventRecord{
		At: e.At.Seconds(), Kind: e.Kind.String(), Peer: e.Peer, Verdict: e.Verdict.Kind.String(), Detail: e.Detail,
	})
	r.hold(e)
	if e.Peer != "" {
		p := r.tally(e.Peer)
		p.missing = p.missing || e.Kind == ranking.EchoesMissing
		r.judged(p, e.Verdict)
		p.dropped = p.dropped || e.Kind == ranking.DropNow
		if e.Kind == ranking.Demoted && !p.demoted {
			p.demoted, p.demotedAt, p.demotedAfter = true, e.At, p.ended
		}
	}
	r.mu.Unlock()
	switch {
	case e.Dry:
	case e.Kind == ranking.Demoted:
		r.w.demote(e.Peer)
	case e.Kind == ranking.DropNow && r.w.s.Node.Drop:
		r.w.banish(e.Peer)
	}
	r.note(Event{Kind: ChooserSaid, Peer: e.Peer, Ranking: e, Text: e.String()})
}
