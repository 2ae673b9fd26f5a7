package ranking

import (
	"math"
	"math/bits"
	"time"
)

const (
	// mostIndices is how many sizes, by powers of two, are kept in order at a time. More spares
	// rebuilding where sizes vary and costs 16 B a peer each.
	mostIndices = 6
	// rescored is how many peers of an index are looked at anew in turn at each use, for ageing.
	rescored = 32
	// swept is the same after the prior or its distance has moved, until all have been looked at.
	swept = 160
	// priorMoved is by how much the prior must differ for that, as a share.
	priorMoved = 0.05
	// seenMost bounds how many peers a choice looks at, however many it may not take.
	seenMost = 512
	// demotedBehind is added to the key of the demoted, in seconds: behind all others.
	demotedBehind = 1e9
	// joinedBehind is what each newcomer before it in its group adds to a newcomer's key, as a share:
	// a thousand of one group must not hide one of another.
	joinedBehind = 1e-3
)

// index keeps the connected peers in order of expectation for one power of two of bytes: a
// tournament, in which changing one costs log n. It finds candidates; which is best is then decided
// by fresh expectations.
type index struct {
	bits     int
	leaves   int       // a power of two
	key      []float64 // 2*leaves; leaf i is at leaves+i, the root at 1
	isDue    []bool
	due      []int32
	turn     int
	sweep    int     // how many are still to be looked at since the prior moved
	prior    float64 // at the last sweep
	distance time.Duration
	used     uint64
}

// indexOf returns the index for a size, in order.
func (r *Ranker) indexOf(now time.Duration, n int64) *index {
	b := bits.Len64(uint64(max(n, 1)))
	r.uses++
	for _, x := range r.indices {
		if x.bits == b {
			x.used = r.uses
			r.settle(x, now)
			return x
		}
	}
	x := &index{bits: b, used: r.uses}
	r.build(x, now)
	if len(r.indices) < mostIndices {
		r.indices = append(r.indices, x)
		return x
	}
	oldest := 0
	for i, y := range r.indices {
		if y.used < r.indices[oldest].used {
			oldest = i
		}
	}
	r.indices[oldest] = x
	return x
}

// size is the size an index ranks for: the middle of those it is used for.
func (x *index) size() int64 { return int64(3) << (x.bits - 1) / 2 }

// build makes an index from nothing.
func (r *Ranker) build(x *index, now time.Duration) {
	x.prior, x.distance, x.sweep = r.population.prior, r.population.distance, 0
	x.leaves = 64
	for x.leaves < len(r.slots) {
		x.leaves *= 2
	}
	x.key = make([]float64, 2*x.leaves)
	x.isDue = make([]bool, x.leaves)
	x.due = make([]int32, 0, x.leaves)
	for i := range x.leaves {
		x.key[x.leaves+i] = r.keyOf(x, i, now)
	}
	for i := x.leaves - 1; i > 0; i-- {
		x.key[i] = min(x.key[2*i], x.key[2*i+1])
	}
}

// moved says whether a prior differs enough from what the keys were made with.
func moved(a, b float64) bool { return math.Abs(a-b) > priorMoved*b }

// settle brings an index up to date: what changed, and some of the rest in turn.
func (r *Ranker) settle(x *index, now time.Duration) {
	if x.leaves < len(r.slots) {
		r.build(x, now)
		return
	}
	for _, slot := range x.due {
		x.isDue[slot] = false
		r.rekey(x, int(slot), now)
	}
	x.due = x.due[:0]
	if moved(r.population.prior, x.prior) || moved(float64(r.population.distance), float64(x.distance)) {
		x.prior, x.distance, x.sweep = r.population.prior, r.population.distance, len(r.slots)
	}
	turns := rescored
	if x.sweep > 0 {
		turns = swept
		x.sweep -= swept
	}
	for range min(turns, len(r.slots)) {
		x.turn = (x.turn + 1) % len(r.slots)
		r.rekey(x, x.turn, now)
	}
}

func (r *Ranker) rekey(x *index, slot int, now time.Duration) {
	i := x.leaves + slot
	x.key[i] = r.keyOf(x, slot, now)
	for i /= 2; i > 0; i /= 2 {
		k := min(x.key[2*i], x.key[2*i+1])
		if x.key[i] == k {
			return
		}
		x.key[i] = k
	}
}

func (r *Ranker) keyOf(x *index, slot int, now time.Duration) float64 {
	if slot >= len(r.slots) || r.slots[slot] == nil {
		return math.Inf(1)
	}
	p := r.slots[slot]
	k := r.expect(p, x.size(), now).time
	if p.completions == 0 {
		k *= 1 + joinedBehind*float64(p.joins)
	}
	if p.demoted && !r.cfg.Dry {
		k += demotedBehind
	}
	return k
}

// touch says that a peer's expectation has changed.
func (r *Ranker) touch(p *peer) {
	if p.slot < 0 {
		return
	}
	for _, x := range r.indices {
		if p.slot < x.leaves && !x.isDue[p.slot] {
			x.isDue[p.slot] = true
			x.due = append(x.due, int32(p.slot))
		}
	}
}

// touchStrangers says so of those of a group that are taken for what its others are.
func (r *Ranker) touchStrangers(g *group) {
	for _, p := range g.peers {
		if p.voteOf == 0 {
			r.touch(p)
		}
	}
}

// seat gives a peer its place in the indices, unseat takes it.
func (r *Ranker) seat(p *peer) {
	if n := len(r.free); n > 0 {
		p.slot = r.free[n-1]
		r.free = r.free[:n-1]
		r.slots[p.slot] = p
	} else {
		p.slot = len(r.slots)
		r.slots = append(r.slots, p)
	}
	r.touch(p)
}

func (r *Ranker) unseat(p *peer) {
	r.touch(p)
	r.slots[p.slot] = nil
	r.free = append(r.free, p.slot)
	p.slot = -1
}

// best calls yield with the peers of an index from the best on, until it returns false or so many have
// been looked at.
func (r *Ranker) best(x *index, most int, yield func(*peer) bool) {
	h := append(r.heap[:0], 1)
	for seen := 0; len(h) > 0 && seen < most; {
		node := pop(x, &h)
		if math.IsInf(x.key[node], 1) {
			break
		}
		if int(node) < x.leaves {
			push(x, &h, 2*node)
			push(x, &h, 2*node+1)
			continue
		}
		seen++
		if p := r.slots[int(node)-x.leaves]; p != nil && !yield(p) {
			break
		}
	}
	r.heap = h
}

// push and pop keep a heap of nodes of a tournament, the least key first.
func push(x *index, h *[]int32, node int32) {
	s := append(*h, node)
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if x.key[s[up]] <= x.key[s[i]] {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
	*h = s
}

func pop(x *index, h *[]int32) int32 {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		least := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < len(s) && x.key[s[c]] < x.key[s[least]] {
				least = c
			}
		}
		if least == i {
			break
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
	*h = s
	return top
}
