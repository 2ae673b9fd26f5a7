// Package kernelplot draws what package kernelstudy measures. It is apart for the
// sake of the benchmarks' module, which has no plotting library.
package kernelplot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

// Plot writes predicted against actual times as an SVG.
func Plot(path string, runs []kernelstudy.Run) error {
	p := plot.New()
	p.Title.Text = "Fetches over kernel TCP"
	p.X.Label.Text, p.Y.Label.Text = "took, seconds", "predicted, seconds"
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	groups, names := byKind(runs)
	least, most := 1.0, 0.0
	for i, points := range groups {
		if len(points) == 0 {
			continue
		}
		for _, q := range points {
			least, most = min(least, q.X, q.Y), max(most, q.X, q.Y)
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		s.Color, s.Shape, s.Radius = plotutil.Color(i), plotutil.Shape(i), vg.Points(2.5)
		p.Add(s)
		p.Legend.Add(names[i], s)
	}
	line, err := plotter.NewLine(plotter.XYs{{X: least, Y: least}, {X: max(most, 2*least), Y: max(most, 2*least)}})
	if err != nil {
		return err
	}
	p.Add(line)
	return p.Save(18*vg.Centimeter, 18*vg.Centimeter, path)
}

// byKind sorts the fetches for the legend.
func byKind(runs []kernelstudy.Run) ([]plotter.XYs, []string) {
	names := []string{"cold", "warm", "cold, with loss", "warm, with loss"}
	groups := make([]plotter.XYs, len(names))
	for _, r := range runs {
		for _, f := range r.Fetches {
			i := 0
			if f.State == kernelstudy.Warm {
				i = 1
			}
			if !f.Way.Clear() {
				i += 2
			}
			groups[i] = append(groups[i], plotter.XY{X: f.Actual.Seconds(), Y: f.Predicted.Seconds()})
		}
	}
	return groups, names
}
