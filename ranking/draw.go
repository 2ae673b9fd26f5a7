package ranking

import "math/rand/v2"

// A draw looks at so many groups at most, at so many peers of each, and at so many peers in all: it
// need not search ten thousand that may not be taken.
const (
	maxDraws    = 16
	maxDrawsAll = 64
)

// lot is one peer in an urn.
type lot struct {
	peer  string
	in    *groupLots
	place int // in in.lots
}

// groupLots is one group's part of an urn.
type groupLots struct {
	group Group
	lots  []*lot
	place int // in urn.groups
}

// urn draws peers by group first and identity then, so that a thousand identities of one group have
// that group's share. Adding, removing and drawing take constant time. It is not safe for concurrent
// use.
type urn struct {
	lots   map[string]*lot
	byName map[Group]*groupLots
	groups []*groupLots
}

func newUrn() *urn {
	return &urn{lots: map[string]*lot{}, byName: map[Group]*groupLots{}}
}

func (u *urn) has(peer string) bool { return u.lots[peer] != nil }

// add puts a peer in, in another group than before if it has moved.
func (u *urn) add(peer string, g Group) {
	if l := u.lots[peer]; l != nil {
		if l.in.group == g {
			return
		}
		u.remove(peer)
	}
	in := u.byName[g]
	if in == nil {
		in = &groupLots{group: g, place: len(u.groups)}
		u.byName[g] = in
		u.groups = append(u.groups, in)
	}
	l := &lot{peer: peer, in: in, place: len(in.lots)}
	in.lots = append(in.lots, l)
	u.lots[peer] = l
}

func (u *urn) remove(peer string) {
	l := u.lots[peer]
	if l == nil {
		return
	}
	delete(u.lots, peer)
	in := l.in
	last := len(in.lots) - 1
	in.swap(l.place, last)
	in.lots[last] = nil
	in.lots = in.lots[:last]
	if last > 0 {
		return
	}
	delete(u.byName, in.group)
	end := len(u.groups) - 1
	u.swap(in.place, end)
	u.groups[end] = nil
	u.groups = u.groups[:end]
}

func (u *urn) swap(i, j int) {
	g := u.groups
	g[i], g[j] = g[j], g[i]
	g[i].place, g[j].place = i, j
}

func (g *groupLots) swap(i, j int) {
	l := g.lots
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}

// draw returns a peer that may be taken: of the groups that have one, one at random, and of its peers
// one at random. It gives up after looking at maxDraws of either or maxDrawsAll peers.
func (u *urn) draw(rng *rand.Rand, may func(peer string) bool) (string, Group, bool) {
	n, left := len(u.groups), maxDrawsAll
	for i := range min(n, maxDraws) {
		u.swap(i, i+rng.IntN(n-i)) // a shuffle, as far as needed
		g := u.groups[i]
		looks := min(len(g.lots), maxDraws, left)
		left -= looks
		if p, ok := g.draw(rng, looks, may); ok {
			return p, g.group, true
		}
	}
	return "", "", false
}

func (g *groupLots) draw(rng *rand.Rand, looks int, may func(peer string) bool) (string, bool) {
	n := len(g.lots)
	for i := range looks {
		g.swap(i, i+rng.IntN(n-i))
		if p := g.lots[i].peer; may(p) {
			return p, true
		}
	}
	return "", false
}
