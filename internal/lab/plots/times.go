package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// The looks of what came of a fetch, and of the audit's residuals.
var (
	honestLook   = look{disc, honest, 2.6, 0}
	badLook      = look{square, bad, 3.2, 0}
	failedLook   = look{cross, failed, 4, 1.5}
	foretoldLook = look{dash, foretold, 4.5, 1.2}
	oracleLook   = look{disc, yardstick, 4.2, 1}
	beyondLook   = look{diamond, ink, 5.6, 1.1}
)

// waits is the panel of what the user's fetches took, beside what was predicted.
func waits(d *engine.Document) *panel {
	p := newPanel(d.Assay, "What the user's fetches took", "seconds")
	bads := map[string]bool{}
	for _, q := range d.Assay.Peers {
		bads[q.Name] = q.Bad
	}
	var fine, ill, none, predicted plotter.XYs
	var values []float64
	for _, f := range d.Assay.Fetches {
		if !f.User || f.Wait < shortest {
			continue
		}
		at := plotter.XY{X: f.At, Y: f.Wait}
		values = append(values, f.Wait, f.Predicted)
		switch {
		case f.Failed:
			none = append(none, at)
		case bads[f.From]:
			ill = append(ill, at)
		default:
			fine = append(fine, at)
		}
		if f.Predicted >= shortest {
			predicted = append(predicted, plotter.XY{X: f.At, Y: f.Predicted})
		}
	}
	p.scale(plot.LogScale{}, decades{})
	best := oracle(d)
	for _, q := range best {
		values = append(values, q.Y)
	}
	p.Y.Min, p.Y.Max = logRange(values, 4)
	p.some("the oracle's", oracleLook, best)
	p.some("came", honestLook, fine)
	p.some("came from an adversary", badLook, ill)
	p.some("never came", failedLook, none)
	p.some("predicted", foretoldLook, predicted)
	return p
}

// some adds marks if there are any.
func (p *panel) some(name string, l look, points plotter.XYs) {
	if len(points) > 0 {
		p.marks(name, l, points)
	}
}

// oracle is what the oracle's user waited for the same data, at the times of ours.
func oracle(d *engine.Document) plotter.XYs {
	if d.Oracle == nil {
		return nil
	}
	waits := map[int]float64{}
	for _, f := range d.Oracle.Fetches {
		if f.User {
			waits[f.N] = f.Wait
		}
	}
	var out plotter.XYs
	for _, f := range d.Assay.Fetches {
		if w := waits[f.N]; f.User && w >= shortest {
			out = append(out, plotter.XY{X: f.At, Y: w})
		}
	}
	return out
}

// evidence is the panel of what the audit judged by.
func evidence(d *engine.Document) *panel {
	p := newPanel(d.Assay, "By what the audit judged", "actual / claimed − 1")
	bads := map[string]bool{}
	for _, q := range d.Assay.Peers {
		bads[q.Name] = q.Bad
	}
	var fine, ill, cut, beyond plotter.XYs
	low, high := -0.5, 2.0
	for _, t := range d.Assay.Transfers {
		if t.Outcome != "judged" && t.Outcome != "censored" || math.IsNaN(t.Residual) || math.IsInf(t.Residual, 0) {
			continue
		}
		at := plotter.XY{X: t.At, Y: t.Residual}
		low, high = min(low, t.Residual), max(high, t.Residual)
		if bads[t.Peer] {
			ill = append(ill, at)
		} else {
			fine = append(fine, at)
		}
		if t.Outcome == "censored" {
			cut = append(cut, at)
		}
		if t.Gross > 0 && t.Residual > t.Gross {
			beyond = append(beyond, at)
		}
	}
	p.scale(wide{0.5}, residuals)
	thresholds, gross := limits(d.Assay)
	for _, q := range append(thresholds, gross...) {
		high = max(high, q.Y)
	}
	p.Y.Min, p.Y.Max = low-0.1, 1.3*high
	p.some("honest", honestLook, fine)
	p.some("adversary", badLook, ill)
	p.some("cut short: at least so much", failedLook, cut)
	p.some("beyond its gross threshold", beyondLook, beyond)
	if len(thresholds) > 1 {
		p.line("threshold", line{limit, 1.5, nil, thresholds})
	}
	if len(gross) > 1 {
		p.line("gross threshold", line{limit, 1.3, []vg.Length{5, 3}, gross})
	}
	return p
}

// limits are the thresholds as they went: of overclaiming, and the lowest there
// was of withholding, in steps of a hundredth of the run.
func limits(r *engine.Result) (threshold, gross plotter.XYs) {
	last := math.Inf(-1)
	for _, t := range r.Transfers {
		if t.Threshold <= 0 || t.Gross <= 0 {
			continue
		}
		if step := r.Seconds / 100; t.At >= last+step || len(gross) == 0 {
			last = t.At
			threshold = append(threshold, plotter.XY{X: t.At, Y: t.Threshold})
			gross = append(gross, plotter.XY{X: t.At, Y: t.Gross})
			continue
		}
		gross[len(gross)-1].Y = min(gross[len(gross)-1].Y, t.Gross)
	}
	return threshold, gross
}
