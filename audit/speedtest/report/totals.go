package report

import "slices"

// Total is what all peers together published in one phase.
type Total struct {
	Phase                Phase   `json:"phase"`
	N                    int     `json:"n"` // peers that published something in it
	Advertised           float64 `json:"advertised_bytes_per_second"`
	Observed             float64 `json:"observed_bytes_per_second"`
	ObservedWithoutTests float64 `json:"observed_without_tests_bytes_per_second"`
}

// Change is what the test did to what peers advertise, over those with figures before and after it.
type Change struct {
	N      int     `json:"n"`
	Before float64 `json:"advertised_before_bytes_per_second"`
	After  float64 `json:"advertised_after_bytes_per_second"`
	// Discovered is after/before - 1. Its other face, 1 - before/after, is a network capacity error if
	// what is advertised after is the capacity.
	Discovered float64  `json:"discovered"`
	Interval   Interval `json:"discovered_interval_95"`
	// WeightChange is the sum of |weight after - weight before|: of the weights the network gave, or of
	// the shares of what is advertised if it gave none.
	WeightChange float64 `json:"sum_absolute_weight_change"`
	WeightsGiven bool    `json:"weights_given"`
}

// Point is what all peers together said at one time: each its last figure until then, or its first
// after.
type Point struct {
	At                   float64 `json:"at_unix_seconds"`
	Advertised           float64 `json:"advertised_bytes_per_second"`
	ObservedWithoutTests float64 `json:"observed_without_tests_bytes_per_second"`
}

func totals(peers []Peer) []Total {
	var all []Total
	for _, phase := range []Phase{Before, During, After} {
		t := Total{Phase: phase}
		for i := range peers {
			if f, ok := peers[i].at(phase); ok {
				t.N++
				t.Advertised += float64(f.Advertised)
				t.Observed += float64(f.Observed)
				t.ObservedWithoutTests += float64(f.ObservedWithoutTests)
			}
		}
		if t.N > 0 {
			all = append(all, t)
		}
	}
	return all
}

// change compares before with after. After is what there is after the tests, and failing that during.
func change(peers []Peer, o Options) Change {
	var before, after, weightBefore, weightAfter []float64
	for i := range peers {
		b, okBefore := peers[i].at(Before)
		a, okAfter := peers[i].later()
		if !okBefore || !okAfter || b.Advertised <= 0 || a.Advertised <= 0 {
			continue
		}
		before, after = append(before, float64(b.Advertised)), append(after, float64(a.Advertised))
		weightBefore, weightAfter = append(weightBefore, b.Weight), append(weightAfter, a.Weight)
	}
	c := Change{N: len(before), Before: sum(before), After: sum(after)}
	if c.N == 0 {
		return c
	}
	c.Discovered = c.After/c.Before - 1
	var drawn []float64
	resample(c.N, o.Resamples, o.Seed, func(count []int) {
		b, a := 0.0, 0.0
		for i, n := range count {
			b, a = b+float64(n)*before[i], a+float64(n)*after[i]
		}
		drawn = append(drawn, a/b-1)
	})
	c.Interval = interval(drawn)
	c.WeightsGiven = sum(weightBefore) > 0 && sum(weightAfter) > 0
	if !c.WeightsGiven {
		weightBefore, weightAfter = shares(before), shares(after)
	}
	for i := range weightBefore {
		c.WeightChange += abs(weightAfter[i] - weightBefore[i])
	}
	return c
}

// later are a peer's figures after the tests, or those during them.
func (p *Peer) later() (Published, bool) {
	if f, ok := p.at(After); ok {
		return f, true
	}
	return p.at(During)
}

func shares(values []float64) []float64 {
	all := sum(values)
	s := make([]float64, len(values))
	for i, v := range values {
		s[i] = v / all
	}
	return s
}

// series adds the peers' figures up at each time that one of them changed.
func series(peers []Peer) []Point {
	type reading struct {
		at   float64
		peer int
		f    Published
	}
	var readings []reading
	now := make([]Published, len(peers))
	for i, p := range peers {
		for k, f := range p.Published {
			if k == 0 {
				now[i] = f
			}
			if f.At > 0 {
				readings = append(readings, reading{f.At, i, f})
			}
		}
	}
	slices.SortStableFunc(readings, func(a, b reading) int { return compareFloats(a.at, b.at) })
	var advertised, ordinary float64
	for _, f := range now {
		advertised, ordinary = advertised+float64(f.Advertised), ordinary+float64(f.ObservedWithoutTests)
	}
	var points []Point
	for _, r := range readings {
		advertised += float64(r.f.Advertised - now[r.peer].Advertised)
		ordinary += float64(r.f.ObservedWithoutTests - now[r.peer].ObservedWithoutTests)
		now[r.peer] = r.f
		if n := len(points); n > 0 && points[n-1].At == r.at {
			points = points[:n-1]
		}
		points = append(points, Point{At: r.at, Advertised: advertised, ObservedWithoutTests: ordinary})
	}
	return points
}
