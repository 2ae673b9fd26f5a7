package ranking

import "container/list"

// Bounds of a sizeBook, about 6 MB when full.
const (
	// maxData is how many data the book holds. Larger remembers more offers that nobody fetched.
	maxData = 1024
	// maxClaims is how many claims it holds of a datum: one each of as many groups as a vote can
	// need. Larger proves more liars at once.
	maxClaims = 64
	// leastVoters is the least number of aged groups whose majority decides. Fewer are bought too
	// cheaply.
	leastVoters = 3
)

// sizeBook collects what is said of the sizes of data, and proves liars when one is delivered. It
// is bounded by dropping: of data the oldest that the group with the most data began, of a datum's
// claims the oldest of the group with the most; so a flood drops its own. It is not safe for
// concurrent use.
type sizeBook struct {
	data  map[string]*entry
	owned map[Group]*list.List // of *entry, begun by the group, the longest unused in front
	clock uint64
}

func newSizeBook() *sizeBook {
	return &sizeBook{data: map[string]*entry{}, owned: map[Group]*list.List{}}
}

// offer records a claim of a peer. Only an advertised size is the peer's own word; derived and
// attested ones are held apart from it.
func (b *sizeBook) offer(datum, peer string, g Group, s Size) error {
	if err := s.Validate(); err != nil {
		return err
	}
	e := b.entry(datum, g)
	if e == nil {
		return nil
	}
	if s.Provenance != Advertised {
		e.vouch(s)
		return nil
	}
	e.claim(peer, g, s.Bytes)
	return nil
}

// doubt says that what a peer has claimed of a datum is a proven liar's word; with no datum, of all.
// It may still prove others wrong, and be proven wrong.
func (b *sizeBook) doubt(peer, datum string) {
	if datum == "" {
		for _, e := range b.data {
			e.doubt(peer)
		}
		return
	}
	if e := b.data[datum]; e != nil {
		e.doubt(peer)
	}
}

// entry returns that of a datum, made if need be; nil if the book is full of data under way.
func (b *sizeBook) entry(datum string, g Group) *entry {
	b.clock++
	if e := b.data[datum]; e != nil {
		e.used = b.clock
		b.owned[e.owner].MoveToBack(e.place)
		return e
	}
	if len(b.data) >= maxData && !b.dropOne() {
		return nil
	}
	if b.owned[g] == nil {
		b.owned[g] = list.New()
	}
	e := &entry{datum: datum, owner: g, used: b.clock}
	e.place = b.owned[g].PushBack(e)
	b.data[datum] = e
	return e
}

// dropOne makes room for a datum.
func (b *sizeBook) dropOne() bool {
	var victim *entry
	most := 0
	for _, own := range b.owned {
		if own.Len() < most {
			continue
		}
		e := oldestIdle(own)
		if e != nil && (own.Len() > most || e.used < victim.used) {
			victim, most = e, own.Len()
		}
	}
	if victim != nil {
		b.remove(victim)
	}
	return victim != nil
}

// oldestIdle is the longest unused entry that is not being fetched; nil if all are.
func oldestIdle(own *list.List) *entry {
	for el := own.Front(); el != nil; el = el.Next() {
		if e := el.Value.(*entry); e.fetches == 0 {
			return e
		}
	}
	return nil
}

func (b *sizeBook) remove(e *entry) {
	delete(b.data, e.datum)
	own := b.owned[e.owner]
	own.Remove(e.place)
	if own.Len() == 0 {
		delete(b.owned, e.owner)
	}
}

// view says what to believe of a datum's size. aged says whether a group is old enough to vote.
// While a fetch of it is under way the view is the one that fetch began with, whatever is claimed
// since.
func (b *sizeBook) view(datum string, aged func(Group) bool) sizeView {
	e := b.data[datum]
	switch {
	case e == nil:
		return sizeView{}
	case e.fetches > 0:
		return e.frozen
	}
	return e.view(aged)
}

// begin says that a fetch of a datum starts, and returns the view that stands until its end. Each
// begin wants one end or settle.
func (b *sizeBook) begin(datum string, aged func(Group) bool) sizeView {
	e := b.data[datum]
	if e == nil {
		if e = b.entry(datum, ""); e == nil {
			return sizeView{}
		}
	}
	if e.fetches == 0 {
		e.frozen = e.view(aged)
	}
	e.fetches++
	return e.frozen
}

// end says that a fetch of a datum is over without all of it having come.
func (b *sizeBook) end(datum string) {
	e := b.data[datum]
	if e == nil || e.fetches == 0 {
		return
	}
	if e.fetches--; e.fetches > 0 {
		return
	}
	for i := range e.claims {
		e.claims[i].late = false
	}
}

// claimed returns what a peer advertises of a datum.
func (b *sizeBook) claimed(datum, peer string) (int64, bool) {
	e := b.data[datum]
	if e == nil {
		return 0, false
	}
	if i := e.find(peer); i >= 0 {
		return e.claims[i].bytes, true
	}
	return 0, false
}

// advertisers returns the peers that advertise a size of a datum, in the order they spoke.
func (b *sizeBook) advertisers(datum string) []string {
	e := b.data[datum]
	if e == nil {
		return nil
	}
	out := make([]string, len(e.claims))
	for i, c := range e.claims {
		out[i] = c.peer
	}
	return out
}

// contradicted says whether a peer's claim is one it should not be picked alone on: in a dispute, or
// against an attested size, one that differs from the size believed; with no majority to decide, any
// that somebody contradicts.
func (b *sizeBook) contradicted(datum, peer string, aged func(Group) bool) bool {
	bytes, ok := b.claimed(datum, peer)
	if !ok {
		return false
	}
	v := b.view(datum, aged)
	if v.disputed && !v.majority {
		return true
	}
	return v.size.Bytes != 0 && bytes != v.size.Bytes
}

// settle says that a datum was delivered and its hash verified over so many bytes, and returns who
// was wrong. Its entry is closed: what is claimed from now on is a new one.
func (b *sizeBook) settle(datum string, bytes int64) settlement {
	e := b.data[datum]
	if e == nil {
		return settlement{}
	}
	b.remove(e)
	return e.settle(bytes)
}
