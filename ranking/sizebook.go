package ranking

import "slices"

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
	owned map[Group]int // data begun by each group
	clock uint64
}

func newSizeBook() *sizeBook {
	return &sizeBook{data: map[string]*entry{}, owned: map[Group]int{}}
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

// entry returns that of a datum, made if need be; nil if the book is full of data under way.
func (b *sizeBook) entry(datum string, g Group) *entry {
	b.clock++
	if e := b.data[datum]; e != nil {
		e.used = b.clock
		return e
	}
	if len(b.data) >= maxData && !b.dropOne() {
		return nil
	}
	e := &entry{owner: g, used: b.clock}
	b.data[datum] = e
	b.owned[g]++
	return e
}

// dropOne makes room for a datum.
func (b *sizeBook) dropOne() bool {
	victim, found := "", false
	for datum, e := range b.data {
		if e.fetches > 0 {
			continue
		}
		if v := b.data[victim]; !found || b.before(e, v) {
			victim, found = datum, true
		}
	}
	if found {
		b.remove(victim)
	}
	return found
}

// before says whether e is to be dropped before v.
func (b *sizeBook) before(e, v *entry) bool {
	if m, n := b.owned[e.owner], b.owned[v.owner]; m != n {
		return m > n
	}
	return e.used < v.used
}

func (b *sizeBook) remove(datum string) {
	e := b.data[datum]
	if e == nil {
		return
	}
	delete(b.data, datum)
	if b.owned[e.owner]--; b.owned[e.owner] == 0 {
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
	b.remove(datum)
	return e.settle(bytes)
}

func (e *entry) find(peer string) int {
	return slices.IndexFunc(e.claims, func(c claim) bool { return c.peer == peer })
}

// claim adds a peer's word.
func (e *entry) claim(peer string, g Group, bytes int64) {
	e.remember(g, bytes)
	if i := e.find(peer); i >= 0 {
		e.claims[i].two = e.claims[i].two || e.claims[i].bytes != bytes
		return
	}
	if len(e.claims) >= maxClaims {
		e.dropClaim()
	}
	e.claims = append(e.claims, claim{peer: peer, group: g, bytes: bytes, late: e.fetches > 0})
}

// remember keeps what outlasts a dropped claim.
func (e *entry) remember(g Group, bytes int64) {
	if e.most == 0 {
		e.least, e.most, e.first = bytes, bytes, g
		return
	}
	e.least, e.most = min(e.least, bytes), max(e.most, bytes)
	e.several = e.several || g != e.first
}

// dropClaim makes room for a claim.
func (e *entry) dropClaim() {
	count := map[Group]int{}
	for _, c := range e.claims {
		count[c.group]++
	}
	victim := 0
	for i, c := range e.claims {
		if count[c.group] > count[e.claims[victim].group] {
			victim = i
		}
	}
	e.claims = slices.Delete(e.claims, victim, victim+1)
}

// vouch records a derived or attested size.
func (e *entry) vouch(s Size) {
	had := e.vouched[s.Provenance]
	e.other[s.Provenance] = e.other[s.Provenance] || had != 0 && had != s.Bytes
	e.vouched[s.Provenance] = max(had, s.Bytes)
}

func (e *entry) settle(bytes int64) settlement {
	var out settlement
	for _, c := range e.claims {
		if c.bytes != bytes || c.two {
			out.liars = append(out.liars, c.peer)
		}
	}
	for _, p := range []Provenance{Derived, Attested} {
		if v := e.vouched[p]; v != 0 && (v != bytes || e.other[p]) {
			out.faults = append(out.faults, Size{v, p})
		}
	}
	out.eclipse = e.several && e.least == e.most && e.most != bytes
	return out
}
