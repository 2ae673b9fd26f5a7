package plots

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// Heights of a lane, in points: of what is asked, and of what is said above it.
const (
	laneHeight = 15
	flagHeight = 14
)

// The kinds of marks in the lanes, in the order in which they are drawn.
var laneLooks = []struct {
	name string
	look look
	is   func(t *engine.TransferRecord, bad bool) bool
}{
	{"asked in the warm-up", look{disc, warm, 2, 0}, func(t *engine.TransferRecord, _ bool) bool { return !t.User }},
	{"asked first", look{upright, honest, 5, 0}, func(t *engine.TransferRecord, bad bool) bool { return primary(t) && !bad }},
	{"adversary asked first", look{square, bad, 3.6, 0}, func(t *engine.TransferRecord, b bool) bool { return primary(t) && b }},
	{"redundant", look{square, copied, 3.6, 1.4}, is("redundant")},
	{"trial", look{diamond, trial, 5, 1.5}, func(t *engine.TransferRecord, b bool) bool {
		return is("exploration")(t, b) || is("shadow")(t, b)
	}},
	{"hedge", look{triangle, hedge, 4.4, 0}, is("hedge")},
	{"failed", look{cross, ink, 4, 1.3}, func(t *engine.TransferRecord, _ bool) bool { return fell(t) }},
}

// flagLook marks what is said.
var flagLook = look{flag, limit, 4, 0}

func primary(t *engine.TransferRecord) bool { return t.User && t.Role == "primary" }

func is(role string) func(*engine.TransferRecord, bool) bool {
	return func(t *engine.TransferRecord, _ bool) bool { return t.User && t.Role == role }
}

// fell says that a transfer failed, by its own doing.
func fell(t *engine.TransferRecord) bool {
	return !slices.Contains([]string{"", "whole", "another copy came first", "the run ended"}, t.End)
}

// picks is the panel of lanes.
func picks(d *engine.Document) *panel {
	r := d.Assay
	p := newPanel(r, "Who was asked, and what was said of them", "")
	all := lanes(r)
	height := 0.0
	var ticks []plot.Tick
	groups := make([]plotter.XYs, len(laneLooks))
	bad := map[string]bool{}
	for _, q := range r.Peers {
		bad[q.Name] = q.Bad
	}
	for _, l := range slices.Backward(all) {
		p.Add(border(height))
		y := height + laneHeight/2
		ticks = append(ticks, plot.Tick{Value: y, Label: l.label()})
		for _, t := range l.asked {
			for i, k := range laneLooks {
				if k.is(t, bad[t.Peer]) {
					groups[i] = append(groups[i], plotter.XY{X: t.At, Y: y})
				}
			}
		}
		height += laneHeight
		if len(l.flags) > 0 {
			p.Add(flags{l.flags, height + flagHeight/2 - 2})
			height += flagHeight
		}
	}
	p.Y.Min, p.Y.Max = 0, height
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.height = vg.Length(height)
	if r.UserFrom > 0 {
		p.area("warm-up", before)
	}
	if len(holds(r)) > 0 {
		p.area("verdicts held", held)
	}
	for i, k := range laneLooks {
		if len(groups[i]) > 0 {
			p.marks(k.name, k.look, groups[i])
		}
	}
	if slices.ContainsFunc(all, func(l *lane) bool { return len(l.flags) > 0 }) {
		p.keys = append(p.keys, key{"verdict or event", flagLook.draw})
	}
	return p
}

// border is a line between two lanes.
type border float64

// Plot draws it.
func (b border) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	c.StrokeLine2(gridStyle, c.Min.X, y(float64(b)), c.Max.X, y(float64(b)))
}

// flags are what is said of a lane, each at its time with its text beside it. Those
// whose text would be over another's follow it.
type flags struct {
	all []flagged
	y   float64
}

// Plot draws them.
func (f flags) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := font(10.5, ink)
	style.YAlign = draw.YCenter
	var places []vg.Point
	for _, l := range f.labels(x, style.Width, c.Min.X, c.Max.X) {
		c.FillText(style, vg.Point{X: l.from, Y: y(f.y)}, l.text)
	}
	for _, g := range f.all {
		places = append(places, vg.Point{X: x(g.at), Y: y(f.y)})
	}
	flagLook.draw(c, places)
}

// label is a text beside a flag, and where it begins and ends.
type label struct {
	flag, from, to vg.Length
	text           string
}

const (
	// gap is between a flag and its text.
	gap = 7
	// apart is the least between two texts.
	apart = 6
)

// labels places texts beside their flags, between two ends and none over another:
// one that finds no room is joined to the one before it.
func (f flags) labels(x func(float64) vg.Length, width func(string) vg.Length, start, end vg.Length) []label {
	var out []label
	for _, g := range f.all {
		out = append(out, label{flag: x(g.at), text: g.text})
		for {
			n := len(out) - 1
			out[n].place(width, start, end)
			if n == 0 || out[n].from >= out[n-1].to+apart {
				break
			}
			out[n-1].text += ", " + out[n].text
			out = out[:n]
		}
	}
	return out
}

// place puts a label to the right of its flag, else to the left, else as far to the
// right as there is room, cut if need be.
func (l *label) place(width func(string) vg.Length, start, end vg.Length) {
	text := []rune(l.text)
	for n := len(text); width(l.text) > end-start && n > 0; n-- {
		l.text = string(text[:n-1]) + "…"
	}
	w := width(l.text)
	l.from = l.flag + gap
	if l.from+w > end {
		l.from = l.flag - gap - w
	}
	if l.from < start {
		l.from = end - w
	}
	l.to = l.from + w
}
