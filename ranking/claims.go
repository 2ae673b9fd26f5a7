package ranking

import (
	"container/list"
	"slices"
)

// claim is one peer's word on the size of a datum. Its first word stands; a second, different one
// moves nothing and is a lie by itself, since a hash fixes its content.
type claim struct {
	peer  string
	group Group
	bytes int64
	two   bool // has said something else since
	late  bool // came while a fetch of the datum was under way, and does not count until its end
	liar  bool // is of a proven liar, and counts only where nobody else has spoken
}

// entry is what the book holds of one datum.
type entry struct {
	claims  []claim
	vouched [Attested + 1]int64 // the largest derived and attested size; 0 none
	other   [Attested + 1]bool  // a different one of that provenance was given too

	datum   string
	owner   Group         // of the first claim: the account its place in the book goes on
	place   *list.Element // among what the owner began
	used    uint64
	fetches int
	frozen  sizeView // what stands while fetches is above zero

	// least and most are over all claims ever, dropped ones too; several says that more than one
	// group made them.
	least, most int64
	first       Group
	several     bool
}

// settlement is what the true size says of those who stated one.
type settlement struct {
	liars   []string // advertisers proven wrong, in the order they spoke
	faults  []Size   // attested or derived sizes proven wrong: their source's fault, not the peers'
	eclipse bool     // every advertiser, of two groups at least, told the same lie
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

// doubt notes that a peer is a proven liar.
func (e *entry) doubt(peer string) {
	if i := e.find(peer); i >= 0 {
		e.claims[i].liar = true
	}
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
