package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shape adds a figure of radius r around a place to a path.
type shape func(path *vg.Path, at vg.Point, r vg.Length)

func polygon(path *vg.Path, points ...vg.Point) {
	path.Move(points[0])
	for _, p := range points[1:] {
		path.Line(p)
	}
	path.Close()
}

func off(p vg.Point, x, y vg.Length) vg.Point { return vg.Point{X: p.X + x, Y: p.Y + y} }

func disc(path *vg.Path, at vg.Point, r vg.Length) {
	path.Move(off(at, r, 0))
	path.Arc(at, r, 0, 2*math.Pi)
	path.Close()
}

func square(path *vg.Path, at vg.Point, r vg.Length) {
	polygon(path, off(at, -r, -r), off(at, r, -r), off(at, r, r), off(at, -r, r))
}

// upright is narrow and high, so that many go beside each other.
func upright(path *vg.Path, at vg.Point, r vg.Length) {
	w := r / 3
	polygon(path, off(at, -w, -r), off(at, w, -r), off(at, w, r), off(at, -w, r))
}

func diamond(path *vg.Path, at vg.Point, r vg.Length) {
	polygon(path, off(at, -r, 0), off(at, 0, -r), off(at, r, 0), off(at, 0, r))
}

func triangle(path *vg.Path, at vg.Point, r vg.Length) {
	polygon(path, off(at, -r, -r), off(at, r, -r), off(at, 0, r))
}

// flag points down at what it is about.
func flag(path *vg.Path, at vg.Point, r vg.Length) {
	polygon(path, off(at, -r, r), off(at, r, r), off(at, 0, -r))
}

func cross(path *vg.Path, at vg.Point, r vg.Length) {
	path.Move(off(at, -r, -r))
	path.Line(off(at, r, r))
	path.Move(off(at, -r, r))
	path.Line(off(at, r, -r))
}

func dash(path *vg.Path, at vg.Point, r vg.Length) {
	path.Move(off(at, -r, 0))
	path.Line(off(at, r, 0))
}

// look is how a kind of mark is drawn: filled, or with lines where width is not 0.
type look struct {
	shape  shape
	colour paint
	radius vg.Length
	width  vg.Length
}

// draw draws one path for all places: a tenth of the size of one for each. Those
// that fall on one place are drawn once.
func (l look) draw(c draw.Canvas, places []vg.Point) {
	type pixel struct{ x, y int }
	seen := map[pixel]bool{}
	var path vg.Path
	for _, at := range places {
		here := pixel{int(math.Round(2 * at.X.Points())), int(math.Round(2 * at.Y.Points()))}
		if !seen[here] {
			seen[here] = true
			l.shape(&path, at, l.radius)
		}
	}
	if len(path) == 0 {
		return
	}
	c.SetColor(l.colour)
	if l.width == 0 {
		c.Fill(path)
		return
	}
	c.SetLineDash(nil, 0)
	c.SetLineWidth(l.width)
	c.Stroke(path)
}

// marks are places of one kind in a plot.
type marks struct {
	look
	points plotter.XYs
}

// Plot draws them.
func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	places := make([]vg.Point, 0, len(m.points))
	for _, q := range m.points {
		places = append(places, vg.Point{X: x(q.X), Y: y(q.Y)})
	}
	m.draw(c, places)
}

// band is a span of time, in all of a plot's height.
type band struct {
	from, to float64
	colour   paint
}

// Plot draws it.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	from, to := max(x(b.from), c.Min.X), min(x(b.to), c.Max.X)
	if to <= from {
		return
	}
	var path vg.Path
	polygon(&path, vg.Point{X: from, Y: c.Min.Y}, vg.Point{X: to, Y: c.Min.Y}, vg.Point{X: to, Y: c.Max.Y}, vg.Point{X: from, Y: c.Max.Y})
	c.SetColor(b.colour)
	c.Fill(path)
}

// line is a line through points, broken where its style has dashes.
type line struct {
	colour paint
	width  vg.Length
	dashes []vg.Length
	points plotter.XYs
}

func (l line) stroke(c draw.Canvas, places []vg.Point) {
	if len(places) < 2 {
		return
	}
	c.StrokeLines(draw.LineStyle{Color: l.colour, Width: l.width, Dashes: l.dashes}, places)
}

// Plot draws it.
func (l line) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	places := make([]vg.Point, 0, len(l.points))
	for _, q := range l.points {
		places = append(places, vg.Point{X: x(q.X), Y: y(q.Y)})
	}
	l.stroke(c, places)
}
