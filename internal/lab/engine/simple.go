package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/ranking"
)

// Rule is a rival's opinion on whom to ask next. It is called with a lock held, by
// one goroutine at a time.
type Rule interface {
	// Name is a label: lower case, underscores.
	Name() string
	// Pick returns the index of the candidate to ask; there is at least one. They
	// are in order of name.
	Pick(now time.Duration, w Want, c []Candidate) int
	// Learn is told how each transfer ended.
	Learn(now time.Duration, o Outcome)
}

// Want is what is to be fetched.
type Want struct {
	ranking.Query
	// Attested is the size in signed metadata, 0 none. What peers say is in
	// Candidate.Advertised.
	Attested int64
	// Number is that of the datum.
	Number int
}

// Candidate is a peer that may be asked, and all that is known of it without our
// ranker.
type Candidate struct {
	Joining
	Conn ranking.Conn
	// Advertised is what it says the datum's size is, in bytes; 0 if nothing.
	Advertised int64
	// RTT is the median of our echoes, 0 unknown.
	RTT time.Duration
	// Outstanding is how many bytes it still owes us, Transfers in how many transfers.
	Outstanding int64
	Transfers   int
	// Completions and Failures count its transfers that ended; Last is the newest of
	// them.
	Completions, Failures int
	Last                  Outcome
}

// Outcome is how a transfer ended.
type Outcome struct {
	Peer  string
	Conn  ranking.Conn
	Bytes int64         // that came
	Took  time.Duration // from the request to the end
	First time.Duration // to the first byte, 0 if none
	// Failed says that it brought not all, and How.
	Failed bool
	How    ranking.Failure
	// Aborted says that we gave it up; it then says nothing of a failure.
	Aborted bool
}

// NewSimple makes a chooser of a rule: one peer at a time, no copies, no hedges and
// no trials.
func NewSimple(r Rule) Chooser {
	return &simple{rule: r, peers: map[ranking.Conn]*Candidate{}, offers: map[offer]int64{}, attested: map[string]int64{}}
}

type offer struct{ peer, datum string }

type simple struct {
	rule Rule

	mu       sync.Mutex
	next     ranking.Conn
	peers    map[ranking.Conn]*Candidate
	offers   map[offer]int64
	attested map[string]int64
}

func (s *simple) Name() string { return s.rule.Name() }

func (s *simple) Join(_ time.Duration, p Joining) (ranking.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.peers[s.next] = &Candidate{Joining: p, Conn: s.next}
	return s.next, nil
}

func (s *simple) Leave(_ time.Duration, c ranking.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, c)
}

func (s *simple) Offer(_ time.Duration, peer, datum string, size ranking.Size) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers[offer{peer, datum}] = size.Bytes
	if size.Provenance != ranking.Advertised {
		s.attested[datum] = size.Bytes
	}
}

func (s *simple) Choose(now time.Duration, q ranking.Query) (ranking.Plan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var c []Candidate
	for _, p := range s.peers {
		if slices.Contains(q.Exclude, p.ID) {
			continue
		}
		p.Advertised = s.offers[offer{p.ID, q.Datum}]
		p.RTT = p.Measured.Reading().P50RTT
		c = append(c, *p)
	}
	if len(c) == 0 {
		return ranking.Plan{}, ranking.ErrNoPeer
	}
	slices.SortFunc(c, func(a, b Candidate) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Conn, b.Conn)) })
	w := Want{Query: q, Attested: s.attested[q.Datum], Number: number(q.Datum)}
	chosen := c[s.rule.Pick(now, w, c)]
	return ranking.Plan{
		Datum: q.Datum, Critical: q.Critical,
		Primary: ranking.Pick{Peer: chosen.ID, Conn: chosen.Conn},
		Why:     ranking.Why{Candidates: len(c)},
	}, nil
}

func (s *simple) Begin(now time.Duration, p ranking.Plan) (Transfer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.peers[p.Primary.Conn]
	if !ok {
		return nil, ranking.ErrStalePlan
	}
	expected := s.offers[offer{c.ID, p.Datum}]
	c.Outstanding += expected
	c.Transfers++
	return &simpleTransfer{s: s, pick: p.Primary, began: now, owed: expected}, nil
}

func (s *simple) Tick(time.Duration) {}

// Events returns none: a simple chooser judges nobody.
func (s *simple) Events() []ranking.Event { return nil }

// simpleTransfer keeps count for its peer.
type simpleTransfer struct {
	s     *simple
	pick  ranking.Pick
	began time.Duration

	// The rest is guarded by s.mu.
	owed  int64
	got   int64
	first time.Duration
	ended bool
}

func (t *simpleTransfer) Pick() ranking.Pick { return t.pick }

func (t *simpleTransfer) Add(time.Duration, ranking.Pick) (Transfer, error) {
	return nil, ranking.ErrBudget
}

func (t *simpleTransfer) Progress(now time.Duration, bytes int) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if t.got == 0 {
		t.first = now - t.began
	}
	t.got += int64(bytes)
	if c, ok := t.s.peers[t.pick.Conn]; ok {
		paid := min(t.owed, int64(bytes))
		t.owed -= paid
		c.Outstanding -= paid
	}
}

func (t *simpleTransfer) Pause(time.Duration) {}

func (t *simpleTransfer) Resume(time.Duration) {}

func (t *simpleTransfer) Received(time.Duration) {}

func (t *simpleTransfer) Done(now time.Duration, _ int64) audit.Verdict {
	return t.end(now, Outcome{})
}

func (t *simpleTransfer) Fail(now time.Duration, how ranking.Failure) audit.Verdict {
	return t.end(now, Outcome{Failed: true, How: how})
}

func (t *simpleTransfer) Abort(now time.Duration) audit.Verdict {
	return t.end(now, Outcome{Failed: true, Aborted: true})
}

// end settles the accounts, once.
func (t *simpleTransfer) end(now time.Duration, o Outcome) audit.Verdict {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if t.ended {
		return audit.Verdict{}
	}
	t.ended = true
	o.Peer, o.Conn, o.Bytes, o.Took, o.First = t.pick.Peer, t.pick.Conn, t.got, now-t.began, t.first
	if c, ok := t.s.peers[t.pick.Conn]; ok {
		c.Outstanding -= t.owed
		c.Transfers--
		c.Last = o
		switch {
		case o.Aborted:
		case o.Failed:
			c.Failures++
		default:
			c.Completions++
		}
	}
	t.s.rule.Learn(now, o)
	return audit.Verdict{}
}

// Advice is to wait; the host's hard timeout ends what never comes.
func (t *simpleTransfer) Advice(time.Duration) ranking.Advice {
	return ranking.Advice{Kind: ranking.Wait, Again: time.Second}
}
