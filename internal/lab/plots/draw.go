package plots

import (
	"bytes"
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// ErrNoRun is what Draw returns for a document without a run of Assay's.
var ErrNoRun = errors.New("plots: the document has no run of Assay's, or one without its series")

const (
	// width is that of a drawing, in points of its own, of which a page that is so wide
	// has one to a pixel. Wider makes texts smaller on a page.
	width  = 1000
	margin = 14
	// between is the room between two panels, with the ticks of the upper one.
	between = 12
)

// Draw returns the document as an SVG.
func Draw(d *engine.Document) ([]byte, error) {
	if d.Assay == nil || len(d.Assay.Fetches) == 0 {
		return nil, ErrNoRun
	}
	panels := []*panel{picks(d), waits(d), evidence(d)}
	_, unit := clockFor(d.Assay.Seconds)
	panels[len(panels)-1].X.Label.Text = unit + " since the start"
	left, right := frame(panels)
	head := heading(d)
	height := head.height() + 2*margin
	for _, p := range panels {
		height += p.legend(nil, left, width-right, 0) + p.height + below(p) + between
	}
	canvas := vgsvg.New(width, height)
	c := draw.New(canvas)
	fill(c, paper)
	top := height - margin
	top -= head.draw(c, top)
	for _, p := range panels {
		top -= p.legend(&c, left, width-right, top)
		bottom := top - p.height - below(p)
		p.Draw(aligned(p, draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: margin, Y: bottom}, Max: vg.Point{X: width - right, Y: top},
		}}, left))
		top = bottom - between
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("plots: %w", err)
	}
	title := fmt.Sprintf("%s, seed %d: %s", d.Scenario, d.Seed, d.About)
	return dress(b.String(), title, width, height.Points()), nil
}

// frame is how much room the axes take to the left and to the right, at most.
func frame(panels []*panel) (left, right vg.Length) {
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: 400}}}
	for _, p := range panels {
		inner := p.DataCanvas(c)
		left = max(left, inner.Min.X)
	}
	return left + margin, margin + 6
}

// below is how high the axis of time is.
func below(p *panel) vg.Length {
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: 400}}}
	return p.DataCanvas(c).Min.Y
}

// aligned is the part of a canvas that puts a panel's data at the same place as
// all others'.
func aligned(p *panel, c draw.Canvas, left vg.Length) draw.Canvas {
	own := p.DataCanvas(c)
	return draw.Crop(c, left-own.Min.X, c.Max.X-own.Max.X, 0, c.Max.Y-own.Max.Y)
}

func fill(c draw.Canvas, p paint) {
	var path vg.Path
	polygon(&path, c.Min, vg.Point{X: c.Max.X, Y: c.Min.Y}, c.Max, vg.Point{X: c.Min.X, Y: c.Max.Y})
	c.SetColor(p)
	c.Fill(path)
}
