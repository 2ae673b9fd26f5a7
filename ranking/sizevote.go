package ranking

import "slices"

// view says what to believe by the claims that count: an attested size, else a derived one, else
// what most aged groups say, else the largest claim and never the smallest.
func (e *entry) view(aged func(Group) bool) sizeView {
	for _, p := range []Provenance{Attested, Derived} {
		if v := e.vouched[p]; v != 0 {
			return sizeView{size: Size{v, p}, least: v, most: v}
		}
	}
	v := sizeView{}
	liars := !e.honestWord()
	for _, c := range e.claims {
		if c.late || c.liar && !liars {
			continue
		}
		if v.most == 0 {
			v.least = c.bytes
		}
		v.least, v.most = min(v.least, c.bytes), max(v.most, c.bytes)
	}
	v.size = Size{Bytes: v.most}
	v.disputed = v.least != v.most
	if won, ok := e.majority(aged); ok {
		v.size.Bytes, v.majority = won, true
	}
	return v
}

// honestWord says whether anybody has spoken who is no proven liar. One that goes on lying must not
// keep a dispute open about all that there is.
func (e *entry) honestWord() bool {
	return slices.ContainsFunc(e.claims, func(c claim) bool { return !c.late && !c.liar })
}

// majority is the size that more than half of the aged groups say, of at least three.
func (e *entry) majority(aged func(Group) bool) (int64, bool) {
	votes := e.votes(aged)
	if len(votes) < leastVoters {
		return 0, false
	}
	count := map[int64]int{}
	for _, bytes := range votes {
		count[bytes]++
	}
	for bytes, n := range count {
		if 2*n > len(votes) {
			return bytes, true
		}
	}
	return 0, false
}

// votes is what each aged group says: the size most of its peers claim, the largest of those on a
// tie.
func (e *entry) votes(aged func(Group) bool) map[Group]int64 {
	type say struct {
		group Group
		bytes int64
	}
	count := map[say]int{}
	out := map[Group]int64{}
	for _, c := range e.claims {
		if !c.late && !c.liar && aged(c.group) {
			count[say{c.group, c.bytes}]++
		}
	}
	for s, n := range count {
		best, ok := out[s.group]
		m := count[say{s.group, best}]
		if !ok || n > m || n == m && s.bytes > best {
			out[s.group] = s.bytes
		}
	}
	return out
}
