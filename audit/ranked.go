package audit

import (
	"cmp"
	"slices"
)

// entry is one voice in a median: a value and whose it is.
type entry struct {
	value float64
	id    uint64
}

func compare(a, b entry) int {
	if c := cmp.Compare(a.value, b.value); c != 0 {
		return c
	}
	return cmp.Compare(a.id, b.id)
}

// ranked is a sorted list of entries, so that a median costs an index. A change moves only the
// entries between the old place and the new: a vote seldom goes far.
type ranked []entry

// add puts an entry in. It must not be there.
func (r *ranked) add(e entry) {
	i, _ := slices.BinarySearchFunc(*r, e, compare)
	*r = slices.Insert(*r, i, e)
}

// drop takes an entry out, if it is there.
func (r *ranked) drop(e entry) {
	if i, found := slices.BinarySearchFunc(*r, e, compare); found {
		*r = slices.Delete(*r, i, i+1)
	}
}

// replace gives the entry old, which must be there, another value.
func (r ranked) replace(old entry, value float64) {
	from, found := slices.BinarySearchFunc(r, old, compare)
	if !found {
		return
	}
	e := entry{value, old.id}
	to, _ := slices.BinarySearchFunc(r, e, compare)
	if to > from {
		to--
		copy(r[from:to], r[from+1:to+1])
	} else {
		copy(r[to+1:from+1], r[to:from])
	}
	r[to] = e
}

// median returns the middle value, or the mean of the middle two; 0 of none.
func (r ranked) median() float64 {
	return middle(len(r), func(i int) float64 { return r[i].value })
}

// medianWithout is the median of all entries but one, which must be there. It does not look for the
// hole: an entry in the middle only has to know on which side of it that is.
func (r ranked) medianWithout(e entry) float64 {
	return middle(len(r)-1, func(i int) float64 {
		if compare(e, r[i]) <= 0 {
			i++
		}
		return r[i].value
	})
}

func middle(n int, at func(int) float64) float64 {
	switch {
	case n <= 0:
		return 0
	case n%2 == 1:
		return at(n / 2)
	}
	return (at(n/2-1) + at(n/2)) / 2
}
