package report

import (
	"math"
	"slices"
)

// ordering is the order of some values: what is needed to rank any multiset of them without sorting
// again, which is what a bootstrap does a thousand times.
type ordering struct {
	by   []int // indices, ascending by value
	ends []int // where in by each run of equal values ends
}

func order(values []float64) ordering {
	o := ordering{by: make([]int, len(values))}
	type entry struct {
		value float64
		index int
	}
	entries := make([]entry, len(values)) // beside each other, which sorts faster than by index
	for i, v := range values {
		entries[i] = entry{v, i}
	}
	slices.SortFunc(entries, func(a, b entry) int { return compareFloats(a.value, b.value) })
	for i, e := range entries {
		o.by[i] = e.index
	}
	for i := range o.by {
		if i+1 == len(o.by) || values[o.by[i]] != values[o.by[i+1]] {
			o.ends = append(o.ends, i+1)
		}
	}
	return o
}

// rank writes the rank of each value into ranks, where value i is there count[i] times. Ties have the
// mean of their ranks.
func (o ordering) rank(count []int, ranks []float64) {
	below, start := 0, 0
	for _, end := range o.ends {
		tied := 0
		for _, i := range o.by[start:end] {
			tied += count[i]
		}
		for _, i := range o.by[start:end] {
			ranks[i] = float64(below) + float64(tied+1)/2
		}
		below, start = below+tied, end
	}
}

// correlateRanks is Pearson's correlation of ranks, value i being there count[i] times. NaN if either
// has but one value.
func correlateRanks(count []int, x, y []float64) float64 {
	n := 0
	for _, c := range count {
		n += c
	}
	middle := float64(n+1) / 2
	var xy, xx, yy float64
	for i, c := range count {
		dx, dy := x[i]-middle, y[i]-middle
		xy += float64(c) * dx * dy
		xx += float64(c) * dx * dx
		yy += float64(c) * dy * dy
	}
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	return max(-1, min(1, xy/math.Sqrt(xx*yy)))
}

// Spearman is the rank correlation of x and y, which are equally long, with ties averaged. NaN if
// either has fewer than two different values.
func Spearman(x, y []float64) float64 {
	once := ones(len(x))
	rx, ry := make([]float64, len(x)), make([]float64, len(y))
	order(x).rank(once, rx)
	order(y).rank(once, ry)
	return correlateRanks(once, rx, ry)
}

func ones(n int) []int {
	count := make([]int, n)
	for i := range count {
		count[i] = 1
	}
	return count
}
