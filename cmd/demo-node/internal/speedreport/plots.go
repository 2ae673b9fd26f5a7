package speedreport

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// Plots draws the figures for which there is something to draw.
func Plots(a *report.Analysis) ([]Plot, error) {
	var all []Plot
	for _, draw := range []func(*report.Analysis) (*Plot, error){timePlot, scatterPlot, errorPlot} {
		p, err := draw(a)
		if err != nil {
			return nil, err
		}
		if p != nil {
			all = append(all, *p)
		}
	}
	return all, nil
}

// fewestForLine: one reading is no course of time.
const fewestForLine = 2

// timePlot is what all peers publish together, over time, with the time of the tests shaded.
func timePlot(a *report.Analysis) (*Plot, error) {
	if len(a.Series) < fewestForLine {
		return nil, nil
	}
	start, end := a.Series[0].At, a.Series[len(a.Series)-1].At
	unit, name := timeUnit(end - start)
	p := newFigure(name+" since the first reading", "bit/s, all peers together")
	var said, ordinary plotter.XYs
	var top float64
	for _, s := range thin(a.Series) {
		x := (s.At - start) / unit
		said = stepTo(said, x, s.Advertised*8)
		ordinary = stepTo(ordinary, x, s.ObservedWithoutTests*8)
		top = max(top, s.Advertised*8, s.ObservedWithoutTests*8)
	}
	capacity := 0.0
	if e, ok := advertised(a); ok && a.CapacityFrom == report.FromTest {
		capacity = e.SumCapacity * 8
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, max((end-start)/unit, 1e-9), 0, max(top, capacity, 1)*1.05
	if a.Tested.To > 0 {
		if err := p.band((a.Tested.From-start)/unit, (a.Tested.To-start)/unit); err != nil {
			return nil, err
		}
	}
	err := p.line(0, "advertised", said)
	if err == nil && slices.ContainsFunc(a.Series, func(s report.Point) bool { return s.ObservedWithoutTests > 0 }) {
		err = p.line(1, "observed without tests", ordinary)
	}
	if err == nil && capacity > 0 {
		err = p.line(2, "measured", plotter.XYs{{X: 0, Y: capacity}, {X: p.X.Max, Y: capacity}})
	}
	if err != nil {
		return nil, err
	}
	p.Y.Tick.Marker, p.X.Tick.Marker = evenly{short}, evenly{func(v float64) string { return fmt.Sprintf("%.3g", v) }}
	return p.finish("time", "Before, during and after the test",
		"What the peers publish, added up: each peer its last figure until then. The shaded time is that of the tests.")
}

// timeUnit is a unit for a span in seconds.
func timeUnit(seconds float64) (unit float64, name string) {
	switch {
	case seconds > 3*86400:
		return 86400, "days"
	case seconds > 3*3600:
		return 3600, "hours"
	case seconds > 180:
		return 60, "minutes"
	}
	return 1, "seconds"
}

// mostPoints bounds a line, which no screen shows more of.
const mostPoints = 400

// thin leaves out points, never the last.
func thin(points []report.Point) []report.Point {
	step := (len(points) + mostPoints - 1) / mostPoints
	var kept []report.Point
	for i := 0; i < len(points); i += max(step, 1) {
		kept = append(kept, points[i])
	}
	return append(kept, points[len(points)-1])
}

// stepTo continues a line that keeps its height until it jumps.
func stepTo(line plotter.XYs, x, y float64) plotter.XYs {
	if n := len(line); n > 0 {
		line = append(line, plotter.XY{X: x, Y: line[n-1].Y})
	}
	return append(line, plotter.XY{X: x, Y: y})
}

// band shades a time.
func (f *figure) band(from, to float64) error {
	from, to = max(from, 0), min(to, f.X.Max)
	if to <= from {
		return nil
	}
	shape, err := plotter.NewPolygon(plotter.XYs{{X: from, Y: f.Y.Min}, {X: to, Y: f.Y.Min}, {X: to, Y: f.Y.Max}, {X: from, Y: f.Y.Max}})
	if err != nil {
		return fmt.Errorf("the time of the tests: %w", err)
	}
	shape.Color, shape.LineStyle.Width = paint(band), 0
	f.Add(shape)
	f.keys = append(f.keys, Key{Name: "tests", Colour: variable(band), Spot: true})
	return nil
}

// scatterPlot holds what each peer advertised before against what there is.
func scatterPlot(a *report.Analysis) (*Plot, error) {
	var capacity, after plotter.XYs
	low, high := math.Inf(1), 0.0
	for i := range a.Rows {
		e, ok := a.Rows[i].Error(report.Advertised)
		if !ok {
			continue
		}
		x := e.Claimed * 8
		capacity = append(capacity, plotter.XY{X: x, Y: a.Rows[i].Capacity * 8})
		low, high = min(low, x, a.Rows[i].Capacity*8), max(high, x, a.Rows[i].Capacity*8)
		if y := a.Rows[i].After * 8; y > 0 && a.CapacityFrom == report.FromTest {
			after = append(after, plotter.XY{X: x, Y: y})
			low, high = min(low, y), max(high, y)
		}
	}
	if len(capacity) == 0 {
		return nil, nil
	}
	p := newFigure("advertised before, bit/s", "after, bit/s")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{}, decades{}
	low, high = low/1.5, high*1.5
	if err := p.diagonal(low, high); err != nil {
		return nil, err
	}
	size := vg.Length(5)
	if len(capacity) > 200 {
		size = 1.6
	}
	p.spots(0, "capacity", capacity, size)
	if len(after) > 0 {
		p.spots(1, "advertised after", after, size-1)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low, high
	return p.finish("scatter", "Each peer before and after",
		"Above the line a peer has more than it said, below it less.")
}

// Errors are shown from -25 % on, as in the study: what claims more is at the left edge.
const (
	leftmost  = -25.0
	rightmost = 100.0
)

// errorPlot shows how the errors are distributed: of the advertised figure by quarter of the peers,
// or with few peers of each claim.
func errorPlot(a *report.Analysis) (*Plot, error) {
	p := newFigure("relay capacity error, %", "share of the peers")
	p.X.Tick.Marker, p.Y.Tick.Marker = evenly{func(v float64) string { return fmt.Sprintf("%.0f", v) }}, evenly{func(v float64) string { return fmt.Sprintf("%.3g", v) }}
	title, lines := "Errors of the advertised figure, by capacity", 0
	if e, ok := advertised(a); ok && len(e.Quartiles) > 0 {
		for i, q := range e.Quartiles {
			if err := p.line(i, quartileName(q), distribution(q.Errors)); err != nil {
				return nil, err
			}
			lines++
		}
	} else {
		title = "Errors of each figure"
		for i, e := range a.Errors {
			if err := p.line(i, claimName(e.Claim), distribution(rowErrors(a, e.Claim))); err != nil {
				return nil, err
			}
			lines++
		}
	}
	if lines == 0 {
		return nil, nil
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = leftmost, rightmost, 0, 1
	return p.finish("errors", title,
		"The part of the peers whose error is at most that. Right of 0 a peer has more than it says; those that say over a quarter too much are where a line begins at the left.")
}

func rowErrors(a *report.Analysis, c report.Claim) []float64 {
	var all []float64
	for i := range a.Rows {
		if e, ok := a.Rows[i].Error(c); ok {
			all = append(all, e.CapacityError)
		}
	}
	slices.Sort(all)
	return all
}

// distribution is the line of a cumulative distribution of sorted ratios, in percent.
func distribution(sorted []float64) plotter.XYs {
	n := float64(len(sorted))
	line := plotter.XYs{{X: leftmost, Y: 0}}
	step := max(len(sorted)/mostPoints, 1)
	for i, v := range sorted {
		// Of equal values the last has the height.
		if i+1 < len(sorted) && (sorted[i+1] == v || (i%step != 0 && v*100 > leftmost && sorted[i+1]-v < 0.01)) {
			continue
		}
		line = stepTo(line, min(max(v*100, leftmost), rightmost), float64(i+1)/n)
	}
	return stepTo(line, rightmost, 1)
}
