package plots

import (
	"gonum.org/v1/plot"
	gonumfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// panel is one of the plots of a drawing.
type panel struct {
	*plot.Plot
	title  string
	keys   []key
	height vg.Length // of its data
}

// key explains a kind of marks, above the data, so that it hides nothing.
type key struct {
	name string
	draw func(c draw.Canvas, places []vg.Point)
}

// font is a style of text.
func font(size vg.Length, p paint) text.Style {
	return text.Style{
		Color: p, Handler: plot.DefaultTextHandler,
		Font: gonumfont.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
	}
}

// boldWeight is golang.org/x/image/font.WeightBold.
const boldWeight = 3

func bold(size vg.Length, p paint) text.Style {
	s := font(size, p)
	s.Font.Weight = boldWeight
	return s
}

var gridStyle = draw.LineStyle{Color: faint, Width: 0.6}

// newPanel is an empty one over the time of a run, with what stands behind marks:
// the warm-up, when verdicts were held, a grid.
func newPanel(r *engine.Result, title, y string) *panel {
	q := plot.New()
	q.BackgroundColor = nil
	for _, a := range []*plot.Axis{&q.X, &q.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color = soft, soft
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.7, 0.7
		a.Label.TextStyle.Color, a.Label.TextStyle.Font = ink, font(12, ink).Font
		a.Tick.Label.Color, a.Tick.Label.Font = ink, font(11.5, ink).Font
		a.Padding = 0
	}
	q.Y.Label.Text, q.Y.Label.Padding = y, 4
	unit, _ := clockFor(r.Seconds)
	q.X.Min, q.X.Max, q.X.Tick.Marker = -0.008*r.Seconds, 1.008*r.Seconds, unit
	p := &panel{Plot: q, title: title, height: 170}
	if r.UserFrom > 0 {
		p.Add(band{q.X.Min, r.UserFrom, before})
	}
	for _, h := range holds(r) {
		p.Add(h)
	}
	g := plotter.NewGrid()
	g.Vertical, g.Horizontal = gridStyle, gridStyle
	if y == "" {
		g.Horizontal.Width = 0 // what has no values has no lines of them
	}
	p.Add(g)
	return p
}

// holds are when verdicts were held.
func holds(r *engine.Result) []band {
	var out []band
	for _, e := range r.Events {
		switch {
		case e.Kind == "hold_began":
			out = append(out, band{e.At, r.Seconds, held})
		case e.Kind == "hold_ended" && len(out) > 0:
			out[len(out)-1].to = e.At
		}
	}
	return out
}

// scale sets the scale of values, with ticks that have room for their labels.
func (p *panel) scale(n plot.Normalizer, t plot.Ticker) {
	p.Y.Scale = n
	p.Y.Tick.Marker = spaced{t, n, 1.3 * (p.Y.Tick.Label.Font.Size / p.height).Points()}
}

// marks adds places of one kind, and its key.
func (p *panel) marks(name string, l look, points plotter.XYs) {
	p.Add(marks{l, points})
	p.keys = append(p.keys, key{name, l.draw})
}

// line adds a line, and its key.
func (p *panel) line(name string, l line) {
	p.Add(l)
	p.keys = append(p.keys, key{name, func(c draw.Canvas, places []vg.Point) {
		for _, at := range places {
			l.stroke(c, []vg.Point{off(at, -9, 0), off(at, 9, 0)})
		}
	}})
}

// area is the key of a band.
func (p *panel) area(name string, colour paint) {
	p.keys = append(p.keys, key{name, func(c draw.Canvas, places []vg.Point) {
		look{square, colour, 5, 0}.draw(c, places)
		look{square, soft, 5, 0.5}.draw(c, places) // what is faint has an edge
	}})
}

// legend draws the title and below it the keys, in as many rows as they need, and
// returns how high that is. Without a canvas it only measures.
func (p *panel) legend(c *draw.Canvas, left, right, top vg.Length) vg.Length {
	title, name := bold(13, ink), font(11, ink)
	name.YAlign = draw.YCenter
	if c != nil {
		c.FillText(title, vg.Point{X: left, Y: top - 14}, p.title)
	}
	x, row := left, top-27
	for _, k := range p.keys {
		wide := 22 + name.Width(k.name) + 14
		if x+wide > right {
			x, row = left, row-17
		}
		if c != nil {
			k.draw(*c, []vg.Point{{X: x + 9, Y: row}})
			c.FillText(name, vg.Point{X: x + 22, Y: row}, k.name)
		}
		x += wide
	}
	return top - row + 16
}
