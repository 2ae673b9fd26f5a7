package speedreport

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A plot is about as wide as a phone, so that its text is readable on one; beside each other two fill
// a desk's screen.
const (
	plotWidth  = 400
	plotHeight = 300
)

// Plot is one of the report's figures, as SVG to be put into a page that has Style.
type Plot struct {
	Name    string // of a file, without its ending
	Title   string
	Caption string
	Keys    []Key
	SVG     string
}

// Key explains one of a plot's colours. It is the page's, below the drawing, so that it hides nothing.
type Key struct {
	Name   string
	Colour string // a variable of the page's style
	Dashes string // of a line, as SVG has them
	Spot   bool   // a spot and no line
}

// figure is a plot that is being made.
type figure struct {
	*plot.Plot
	keys []Key
}

// newFigure is an empty one in the page's colours.
func newFigure(x, y string) *figure {
	p := plot.New()
	p.BackgroundColor = nil
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: 11}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color = paint(ink), paint(ink)
		a.Label.TextStyle.Color, a.Tick.Label.Color = paint(ink), paint(ink)
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans, sans
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	grid := plotter.NewGrid()
	for _, s := range []*draw.LineStyle{&grid.Vertical, &grid.Horizontal} {
		s.Color, s.Width = paint(faint), 0.5
	}
	p.Add(grid)
	return &figure{Plot: p}
}

// finish draws a plot.
func (f *figure) finish(name, title, caption string) (*Plot, error) {
	canvas := vgsvg.New(plotWidth, plotHeight)
	// A little room to the right, for a last label that sticks out.
	f.Draw(draw.Crop(draw.New(canvas), 2, -10, 2, -4))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("plot %s: %w", name, err)
	}
	return &Plot{Name: name, Title: title, Caption: caption, Keys: f.keys, SVG: recolour(b.String(), title)}, nil
}

// dashes are those of each line, for those who can't tell colours.
func dashes(i int) []vg.Length { return [][]vg.Length{nil, {7, 3}, {2, 2}, {8, 2, 2, 2}}[i] }

// line draws points as the i-th line, of four.
func (f *figure) line(i int, name string, points plotter.XYs) error {
	l, err := plotter.NewLine(points)
	if err != nil {
		return fmt.Errorf("line %s: %w", name, err)
	}
	l.Color, l.Width, l.Dashes = paint(first+i), 1.6, dashes(i)
	f.Add(l)
	var lengths []string
	for _, d := range l.Dashes {
		lengths = append(lengths, fmt.Sprint(d.Points()))
	}
	f.keys = append(f.keys, Key{Name: name, Colour: variable(first + i), Dashes: strings.Join(lengths, " ")})
	return nil
}

// diagonal draws y = x.
func (f *figure) diagonal(low, high float64) error {
	l, err := plotter.NewLine(plotter.XYs{{X: low, Y: low}, {X: high, Y: high}})
	if err != nil {
		return fmt.Errorf("the diagonal: %w", err)
	}
	l.Color, l.Width, l.Dashes = paint(ink), 0.8, []vg.Length{4, 3}
	f.Add(l)
	f.keys = append(f.keys, Key{Name: "y = x", Colour: variable(ink), Dashes: "4 3"})
	return nil
}

// spots draws points as the i-th kind.
func (f *figure) spots(i int, name string, points plotter.XYs, size vg.Length) {
	f.Add(spots{points: points, colour: i, size: size})
	f.keys = append(f.keys, Key{Name: name, Colour: variable(first + i), Spot: true})
}

// spots draws many points as one path, which is a tenth of the size of one for each. Those that fall
// on one place are drawn once.
type spots struct {
	points plotter.XYs
	colour int
	size   vg.Length
}

// Plot draws them.
func (s spots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	type place struct{ x, y int }
	seen := map[place]bool{}
	var path vg.Path
	half := s.size / 2
	for _, point := range s.points {
		at := vg.Point{X: x(point.X), Y: y(point.Y)}
		here := place{int(at.X), int(at.Y)}
		if seen[here] || !c.Contains(at) {
			continue
		}
		seen[here] = true
		path.Move(vg.Point{X: at.X - half, Y: at.Y - half})
		path.Line(vg.Point{X: at.X + half, Y: at.Y - half})
		path.Line(vg.Point{X: at.X + half, Y: at.Y + half})
		path.Line(vg.Point{X: at.X - half, Y: at.Y + half})
		path.Close()
	}
	c.SetColor(paint(first + s.colour))
	c.Fill(path)
}

// decades are the ticks of a logarithmic axis of bits per second.
type decades struct{}

// Ticks has a label for each power of ten.
func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for d := math.Floor(math.Log10(low)); d <= math.Ceil(math.Log10(high)); d++ {
		at := math.Pow(10, d)
		ticks = append(ticks, plot.Tick{Value: at, Label: short(at)})
		for k := 2.0; k < 10; k++ {
			ticks = append(ticks, plot.Tick{Value: k * at})
		}
	}
	return inside(ticks, low, high)
}

// evenly are ticks at round distances, shown by a function.
type evenly struct{ show func(float64) string }

// Ticks has two to six, at multiples of 1, 2.5 or 5 of a power of ten.
func (e evenly) Ticks(low, high float64) []plot.Tick {
	width := max(high-low, 1e-9)
	power := math.Pow(10, math.Floor(math.Log10(width/6)))
	step := power
	for _, times := range []float64{1, 2.5, 5, 10} {
		if step = times * power; width/step <= 5.5 {
			break
		}
	}
	var ticks []plot.Tick
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*width; k++ {
		at := k*step + 0 // no negative zero
		ticks = append(ticks, plot.Tick{Value: at, Label: e.show(at)})
	}
	return ticks
}

func inside(ticks []plot.Tick, low, high float64) []plot.Tick {
	var kept []plot.Tick
	for _, t := range ticks {
		if t.Value >= low*(1-1e-9) && t.Value <= high*(1+1e-9) {
			kept = append(kept, t)
		}
	}
	return kept
}

// short is a rate in bits per second in as few letters as there are.
func short(bits float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if bits >= u.size*(1-1e-9) {
			return fmt.Sprintf("%.3g%s", bits/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g", bits)
}
