package report

import "math"

// sample is the peers that have both a capacity and one of the figures: for each, what it claimed and
// what it can do. Both are at least a byte a second.
type sample struct {
	peers      []int // indices into the document's
	figure     []float64
	capacity   []float64
	lowerBound int // how many of the capacities are bounds
	leftOut    int // measured peers without the figure
}

// gather takes the figure that of returns of each measured peer, 0 if it is not known.
func gather(peers []Peer, of func(*Peer) float64) sample {
	var s sample
	for i := range peers {
		p := &peers[i]
		if p.Outcome != Measured || p.Capacity < 1 {
			continue
		}
		figure := of(p)
		if figure < 1 {
			s.leftOut++
			continue
		}
		s.peers = append(s.peers, i)
		s.figure = append(s.figure, figure)
		s.capacity = append(s.capacity, p.Capacity)
		if p.LowerBound {
			s.lowerBound++
		}
	}
	return s
}

// absolute is what each peer has beyond its figure, in bytes per second.
func (s sample) absolute() []float64 {
	return s.each(func(a, c float64) float64 { return c - a })
}

// relative is each peer's capacity error, 1 - A/C, to 12 digits: those that differ by less are ties,
// and not in the order in which the processor rounded them.
func (s sample) relative() []float64 {
	return s.each(func(a, c float64) float64 { return math.Round((1-a/c)*1e12) / 1e12 })
}

// weights is each peer's weight error, its share of the figures over its share of the capacities.
func (s sample) weights() []float64 {
	a, c := sum(s.figure), sum(s.capacity)
	return s.each(func(ai, ci float64) float64 { return ai / a / (ci / c) })
}

func (s sample) each(f func(a, c float64) float64) []float64 {
	values := make([]float64, len(s.figure))
	for i := range values {
		values[i] = f(s.figure[i], s.capacity[i])
	}
	return values
}

// network is the capacity and the weight error of a network in which peer i is there count[i] times.
func (s sample) network(count []int) (capacityError, weightError float64) {
	var a, c float64
	for i, n := range count {
		a += float64(n) * s.figure[i]
		c += float64(n) * s.capacity[i]
	}
	for i, n := range count {
		weightError += float64(n) * abs(s.figure[i]/a-s.capacity[i]/c) / 2
	}
	return 1 - a/c, weightError
}

func abs(x float64) float64 { return max(x, -x) }
