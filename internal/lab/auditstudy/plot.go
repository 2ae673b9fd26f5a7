package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/assay-mux/assay/audit"
)

// plots writes all of them into a directory.
func plots(dir string, outcomes []outcome) error {
	for _, p := range []struct {
		name string
		make func([]outcome) (*plot.Plot, error)
	}{
		{"audit-residuals.svg", residualPlot},
		{"audit-detection.svg", detectionPlot},
		{"audit-threshold.svg", thresholdPlot},
	} {
		figure, err := p.make(outcomes)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := figure.Save(22*vg.Centimeter, 12*vg.Centimeter, filepath.Join(dir, p.name)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// exceedance returns the points of the share of values above each value.
func exceedance(values []float64, least float64) plotter.XYs {
	s := sorted(values)
	var points plotter.XYs
	step := max(len(s)/2000, 1)
	for i := 0; i < len(s); i += step {
		if s[i] >= least {
			points = append(points, plotter.XY{X: s[i], Y: float64(len(s)-i) / float64(len(s))})
		}
	}
	return points
}

// newPlot is one whose legend leaves room for the lines.
func newPlot() *plot.Plot {
	p := plot.New()
	p.Legend.TextStyle.Font.Size = vg.Points(8)
	p.Legend.ThumbnailWidth = vg.Points(14)
	return p
}

// line adds one to a plot, in the i-th colour.
func line(p *plot.Plot, i int, name string, points plotter.XYs) error {
	if len(points) == 0 {
		return nil
	}
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.Color = plotutil.Color(i)
	l.Dashes = plotutil.Dashes(i / 6)
	p.Add(l)
	p.Legend.Add(name, l)
	return nil
}

// residualPlot shows how often honest residuals exceed a value, beside the clamp and the gross limit.
func residualPlot(outcomes []outcome) (*plot.Plot, error) {
	p := newPlot()
	p.Title.Text = "Residuals of honest peers, beside the thresholds"
	p.X.Label.Text, p.Y.Label.Text = "residual (shares of the claim)", "share of fetches above"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Left = true
	n := 0
	for i := range outcomes {
		o := &outcomes[i]
		if o.scenario.hostile != 0 {
			continue
		}
		for k := range honestKinds {
			if err := line(p, n, fmt.Sprintf("%s, %s", o.scenario.pop.Name, k), exceedance(o.counts[k].residuals.values, 0.02)); err != nil {
				return nil, err
			}
			n++
		}
	}
	c := audit.DefaultConfig()
	for _, x := range []float64{c.ThresholdMin, c.ThresholdMax, c.GrossFactor * c.ThresholdMin, c.GrossFactor * c.ThresholdMax} {
		l, err := plotter.NewLine(plotter.XYs{{X: x, Y: 1e-4}, {X: x, Y: 1}})
		if err != nil {
			return nil, err
		}
		l.Dashes = []vg.Length{vg.Points(3), vg.Points(3)}
		p.Add(l)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.02, 100, 1e-4, 1
	return p, nil
}

// detectionPlot shows the share of attempts found out after so many fetches, with a third of the
// groups inflating.
func detectionPlot(outcomes []outcome) (*plot.Plot, error) {
	worst := slices.IndexFunc(outcomes, func(o outcome) bool { return o.scenario.hostile > 0.25 })
	o := &outcomes[max(worst, 0)]
	p := newPlot()
	p.Title.Text = "Attacks found out: " + o.scenario.name
	p.X.Label.Text, p.Y.Label.Text = "own audited fetches", "share of attempts found out"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.Left, p.Legend.Top = true, true
	for i, t := range attacks {
		var points plotter.XYs
		for x := 1.0; x <= patience; x = math.Ceil(x * 1.05) {
			points = append(points, plotter.XY{X: x, Y: within(o.delays[i], int(x))})
		}
		if err := line(p, i, t.name, points); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// thresholdPlot shows the threshold before the clamp over the strata, for each scenario.
func thresholdPlot(outcomes []outcome) (*plot.Plot, error) {
	p := newPlot()
	p.Title.Text = "The median vote before the clamp, by hostile groups"
	p.Y.Label.Text = "threshold (shares of the claim)"
	p.Add(plotter.NewGrid())
	names := make([]string, len(outcomes))
	for i := range outcomes {
		names[i] = outcomes[i].scenario.name
		var values plotter.Values
		for _, r := range outcomes[i].seeds {
			for _, s := range r.strata {
				if !s.Threshold.Thin {
					values = append(values, s.Threshold.Raw)
				}
			}
		}
		if len(values) == 0 {
			continue
		}
		b, err := plotter.NewBoxPlot(vg.Points(25), float64(i), values)
		if err != nil {
			return nil, err
		}
		p.Add(b)
	}
	p.NominalX(names...)
	return p, nil
}
