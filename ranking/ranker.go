package ranking

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// mostName is the longest name of a peer or a datum that is kept, in bytes.
const mostName = 256

// busyMost bounds what is told to be awaited of one peer, so that no sum with it overflows.
const busyMost = 1 << 60

// Ranker ranks peers by how soon they will deliver, chooses among them, watches fetches and learns
// from all of them. It is safe for concurrent use, calls nobody back under its lock, starts no
// goroutine and reads no clock: every instant is a time.Duration since a base the caller chooses,
// the same for all calls, and should not run backwards.
//
// Call [Ranker.Poll] about once a second.
type Ranker struct {
	cfg Config

	mu       sync.Mutex // guards all below; never held across a call of a meter
	rng      *rand.Rand
	peers    map[string]*peer
	conns    map[Conn]*conn
	lastConn Conn

	population population
	auditor    *audit.Auditor
	book       *sizeBook
	holders    *holders
	budget     *budget
	explorer   *explorer
	us         *itsUs
	link       meterOfLink
	slump      slump
	events     events
	debts      debts
	churned    hour
	resetAt    time.Duration
	resetEver  bool
	held       holdCause
	pending    []pending
	planned    uint64
	typical    float64 // log of the usual size of a fetch
	tally      Tally
	// windowRounds is that of the connection which completed a fetch last, for new ones to begin with:
	// whether our grants go two at a time is mostly up to our own machine.
	windowRounds float64
	probeGroup   Group // of the long-clear peer that was slow last
	probeAt      time.Duration

	slots   []*peer // connected ones
	free    []int
	indices []*index
	uses    uint64
	heap    []int32
	polled  int // of slots
	aged    func(Group) bool
	now     time.Duration // for aged
}

// New returns a ranker that knows nobody. The error is [ErrConfig].
func New(cfg Config) (*Ranker, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &Ranker{
		cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x9e3779b97f4a7c15)),
		peers: map[string]*peer{}, conns: map[Conn]*conn{},
		auditor: audit.New(cfg.Audit), book: newSizeBook(), holders: newHolders(),
		budget: newBudget(defaultBudgetLimits()), us: newItsUs(),
		debts: debts{}, typical: defaultTypical,
	}
	r.population.groups = map[Group]*group{}
	r.population.told = r.touchStrangers
	r.population.prior = float64(cfg.Prior)
	r.explorer = newExplorer(defaultExploreLimits(), r.rng)
	r.aged = func(g Group) bool {
		o := r.population.groups[g]
		return o != nil && o.aged(r.now)
	}
	return r, nil
}

// Join takes a connection in, of a peer that is new or known, and returns its name for Leave. A peer
// may have several. What was known of the peer stands, in whatever group it now is. The errors are
// [ErrPeer] and [ErrFull].
func (r *Ranker) Join(now time.Duration, p Peer) (Conn, error) {
	if p.ID == "" || len(p.ID) > mostName || p.Meter == nil {
		return 0, ErrPeer
	}
	reading, name := p.Meter.Reading(), GroupOf(p.ID, p.Addr, r.cfg.ASNs)
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.peers[p.ID]
	if q == nil {
		if len(r.peers) >= r.cfg.MaxPeers && !r.evict() {
			return 0, fmt.Errorf("%w: %d", ErrFull, len(r.peers))
		}
		q = r.newPeer(now, p.ID, name)
	}
	r.regroup(now, q, name)
	r.lastConn++
	c := &conn{id: r.lastConn, peer: q, meter: p.Meter, window: p.StreamWindow, windowRounds: r.windowRounds, lastAsked: now}
	if c.window <= 0 {
		c.window = r.cfg.StreamWindow
	}
	r.conns[c.id] = c
	q.conns = append(q.conns, c)
	if len(q.conns) == 1 {
		q.dropped = false
		r.seat(q)
		if q.demoted {
			r.explorer.demote(q.id, name, q.shadowedAt, q.shadowedEver)
		}
	}
	r.take(now, c, &reading)
	r.consider(now, q)
	return c.id, nil
}

// Leave takes a connection out. Its fetches are not over by that: tell each Fail. The record of its
// peer stays. The error is [ErrUnknownPeer].
func (r *Ranker) Leave(now time.Duration, id Conn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conns[id]
	if c == nil {
		return ErrUnknownPeer
	}
	delete(r.conns, id)
	p := c.peer
	for i, x := range p.conns {
		if x == c {
			p.conns = append(p.conns[:i], p.conns[i+1:]...)
			break
		}
	}
	p.gone.fold(now, burst.DefaultHalfLife, c.reading.Estimation)
	p.seen = now
	p.renew(now)
	r.touch(p)
	if !p.connected() {
		r.unseat(p)
		if len(p.active) == 0 { // else with the last of its fetches: it may be back by then, and is under trial still
			r.explorer.enough(p.id)
		}
		r.unshadow(p)
	}
	return nil
}

// Offer says that a peer has a datum and what is said of its size. An advertised size is the peer's
// own word; an attested or derived one is the host's. A datum is named by at most 256 bytes, and only
// so many offers are kept (1024 data, 256 holders each). The errors are [ErrUnknownPeer] and
// [ErrSize].
func (r *Ranker) Offer(now time.Duration, peer, datum string, s Size) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[peer]
	if p == nil || len(datum) > mostName {
		return ErrUnknownPeer
	}
	r.now = now
	if err := r.book.offer(datum, peer, p.group.name, s); err != nil {
		return err
	}
	if p.verdict.Kinds.Has(audit.ProvenLie) {
		r.book.doubt(peer, datum)
	}
	r.holders.add(datum, p)
	return nil
}

// Busy says that so many more bytes are awaited from a peer, or less if negative, that are no fetch
// of this ranker: a speed test, say. Predictions allow for them. The error is [ErrUnknownPeer].
func (r *Ranker) Busy(peer string, bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[peer]
	if p == nil {
		return ErrUnknownPeer
	}
	p.outstanding = min(max(p.outstanding+min(max(bytes, -busyMost), busyMost), 0), busyMost)
	r.touch(p)
	return nil
}

// Pin says that a peer is, or is no longer, the operator's own choice: it is never demoted, dropped
// or proposed for replacement, whatever stands against it. The error is [ErrUnknownPeer].
func (r *Ranker) Pin(now time.Duration, peer string, on bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[peer]
	if p == nil {
		return ErrUnknownPeer
	}
	p.pinned = on
	r.judge(now, p, r.auditor.Verdict(peer))
	return nil
}

// Pardon clears all that stands against a peer: verdicts, failures, calibration. What it delivered
// stays measured. The error is [ErrUnknownPeer].
func (r *Ranker) Pardon(now time.Duration, peer string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[peer]
	if p == nil {
		return ErrUnknownPeer
	}
	r.auditor.Pardon(now, peer)
	p.penalty, p.calibration, p.costs = penalty{}, calibration{}, allowance{}
	p.dropped = false
	r.debts.forgive(peer)
	r.judge(now, p, r.auditor.Verdict(peer))
	r.touch(p)
	return nil
}

// SetDry turns the dry run on or off, see [Config.Dry].
func (r *Ranker) SetDry(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cfg.Dry = on
	for _, p := range r.slots {
		if p != nil {
			r.touch(p)
		}
	}
}

// newPeer makes the record of a peer.
func (r *Ranker) newPeer(now time.Duration, id string, name Group) *peer {
	p := &peer{id: id, slot: -1, since: now, seen: now, verdict: audit.Verdict{Peer: id, Group: string(name)}}
	r.peers[id] = p
	r.group(now, name).add(p)
	p.joins = len(p.group.peers) - 1
	return p
}

func (r *Ranker) group(now time.Duration, name Group) *group {
	g := r.population.groups[name]
	if g == nil {
		g = &group{name: name, since: now}
		r.population.groups[name] = g
	}
	return g
}

// regroup moves a peer that has come back from elsewhere. What it did stays with it, and the group
// it comes from stays as long as it has peers or something to remember.
func (r *Ranker) regroup(now time.Duration, p *peer, name Group) {
	if p.group.name == name {
		return
	}
	old := p.group
	rate := p.voteOf
	r.population.vote(p, 0)
	old.drop(p)
	r.group(now, name).add(p)
	if p.proven {
		old.proven--
		p.group.proven++
	}
	if p.demoted { // a convict brings it along, or moving would be worth something
		p.group.harbour(now, &r.cfg)
	}
	r.population.vote(p, rate)
	p.joins = len(p.group.peers) - 1
	r.dropGroup(now, old)
}

// dropGroup forgets a group without peers, unless it is still held for what some of it did.
func (r *Ranker) dropGroup(now time.Duration, g *group) {
	if g.forgettable(now, &r.cfg) {
		delete(r.population.groups, g.name)
	}
}

// evict forgets the record that is missed least: of those not connected and with no fetch that is still to
// end, one never picked if there is, a convicted one only if there is no other, and of equals the one gone
// longest.
func (r *Ranker) evict() bool {
	var worst *peer
	for _, p := range r.peers {
		if !p.connected() && !p.pinned && len(p.active) == 0 && (worst == nil || missedLess(p, worst)) {
			worst = p
		}
	}
	if worst == nil {
		return false
	}
	r.forget(worst)
	return true
}

func missedLess(a, b *peer) bool {
	if x, y := a.worth(), b.worth(); x != y {
		return x < y
	}
	if a.seen != b.seen {
		return a.seen < b.seen
	}
	return a.id < b.id
}

// worth orders records for keeping.
func (p *peer) worth() int {
	switch {
	case p.demoted || p.verdict.Kind.Punitive():
		return 2
	case p.picked > 0:
		return 1
	}
	return 0
}

func (r *Ranker) forget(p *peer) {
	r.population.vote(p, 0)
	p.group.drop(p)
	if p.proven {
		p.group.proven--
	}
	r.dropGroup(r.now, p.group)
	r.auditor.Forget(r.now, p.id)
	r.explorer.enough(p.id)
	r.explorer.redeem(p.id)
	r.holders.forget(p)
	r.slump.drop(p)
	delete(r.peers, p.id)
}
