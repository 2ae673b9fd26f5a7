package main

import "slices"

// sample keeps every n-th value, with n doubling as they become many: enough for a plot, the same
// for the same values.
type sample struct {
	values      []float64
	every, skip int
}

const sampleMax = 1 << 14

func (s *sample) add(v float64) {
	if s.skip > 0 {
		s.skip--
		return
	}
	if s.every = max(s.every, 1); len(s.values) == sampleMax {
		for i := range sampleMax / 2 {
			s.values[i] = s.values[2*i]
		}
		s.values = s.values[:sampleMax/2]
		s.every *= 2
	}
	s.values = append(s.values, v)
	s.skip = s.every - 1
}

// quantile returns the value that a share q of sorted values are at or below; 0 of none.
func quantile[T int | float64](sorted []T, q float64) T {
	if len(sorted) == 0 {
		return 0
	}
	i := int(q*float64(len(sorted)) + 0.999999)
	return sorted[min(max(i-1, 0), len(sorted)-1)]
}

// within returns the share of values that are at or below a limit.
func within(values []int, limit int) float64 {
	n := 0
	for _, v := range values {
		if v <= limit {
			n++
		}
	}
	return float64(n) / float64(max(len(values), 1))
}

func sorted[T int | float64](values []T) []T {
	s := slices.Clone(values)
	slices.Sort(s)
	return s
}
