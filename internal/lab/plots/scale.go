package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
)

// wide is a scale that is even near 0 and logarithmic away from it, for values
// of either sign: asinh(x/turn).
type wide struct{ turn float64 }

// Normalize is where a value is between two, from 0 to 1.
func (w wide) Normalize(low, high, x float64) float64 {
	at := func(v float64) float64 { return math.Asinh(v / w.turn) }
	return (at(x) - at(low)) / (at(high) - at(low))
}

// at are ticks at given values, those of them that are in range.
type at []float64

// Ticks has a label for each.
func (a at) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for _, v := range a {
		if v >= low && v <= high {
			ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.6g", v)})
		}
	}
	return ticks
}

// residuals are ticks where residuals may be.
var residuals = at{-1, -0.5, 0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000}

// decades are ticks of a logarithmic axis: 1, 2 and 5 of each power of ten, or the
// powers alone where those were too many.
type decades struct{}

// Ticks has a label for each.
func (decades) Ticks(low, high float64) []plot.Tick {
	steps := []float64{1, 2, 5}
	if high > 500*low {
		steps = steps[:1]
	}
	var v at
	for d := math.Floor(math.Log10(max(low, shortest/10))); d <= math.Ceil(math.Log10(high)); d++ {
		for _, s := range steps {
			v = append(v, s*math.Pow(10, d))
		}
	}
	return v.Ticks(low*(1-1e-9), high*(1+1e-9))
}

// spaced are ticks of which none is too near to another on a scale.
type spaced struct {
	plot.Ticker
	scale plot.Normalizer
	// least is the least distance, as a part of the axis.
	least float64
}

// Ticks leaves those out that are too near to one kept, counted from 0, or from the
// lowest where that is above.
func (s spaced) Ticks(low, high float64) []plot.Tick {
	all := s.Ticker.Ticks(low, high)
	from := max(0, slices.IndexFunc(all, func(t plot.Tick) bool { return t.Value >= 0 }))
	place := func(t plot.Tick) float64 { return s.scale.Normalize(low, high, t.Value) }
	var out []plot.Tick
	last := math.Inf(-1)
	for _, t := range all[from:] {
		if place(t)-last >= s.least {
			out, last = append(out, t), place(t)
		}
	}
	if from > 0 {
		last = place(all[from])
	}
	for _, t := range slices.Backward(all[:from]) {
		if last-place(t) >= s.least {
			out, last = append(out, t), place(t)
		}
	}
	return out
}

// clock are ticks of time in seconds, labelled in a unit of its own.
type clock struct{ unit float64 }

// Ticks has up to ten, at round distances.
func (k clock) Ticks(low, high float64) []plot.Tick {
	low, high = low/k.unit, high/k.unit
	power := math.Pow(10, math.Floor(math.Log10((high-low)/10)))
	step := power
	for _, times := range []float64{1, 2, 5, 10} {
		if step = times * power; (high-low)/step <= 10 {
			break
		}
	}
	var ticks []plot.Tick
	for n := math.Ceil(low / step); n*step <= high; n++ {
		v := n*step + 0 // no negative zero
		ticks = append(ticks, plot.Tick{Value: v * k.unit, Label: fmt.Sprintf("%.6g", v)})
	}
	return ticks
}

// clockFor is the unit for so many seconds, and its name.
func clockFor(seconds float64) (clock, string) {
	switch {
	case seconds > 3*3600:
		return clock{3600}, "hours"
	case seconds > 300:
		return clock{60}, "minutes"
	}
	return clock{1}, "seconds"
}

// shortest is the least that a logarithmic axis has, in seconds: nothing in the lab
// is shorter, and smaller values make an axis of noughts.
const shortest = 1e-6

// logRange is a range of positive values with some room, at least of a factor.
func logRange(values []float64, least float64) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, max(v, shortest)), max(high, v, shortest)
		}
	}
	if high == 0 {
		return 0.1, 10
	}
	if more := math.Sqrt(least / (high / low)); more > 1 {
		low, high = low/more, high*more
	}
	room := math.Pow(high/low, 0.06)
	return low / room, high * room
}
