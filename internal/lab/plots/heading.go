package plots

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// mostBars is how many failing bars a drawing names; a page has them all.
const mostBars = 4

// row is a line of text above the panels.
type row struct {
	text  string
	style text.Style
	high  vg.Length
}

// head is what a drawing says in words.
type head []row

// heading is that of a document.
func heading(d *engine.Document) head {
	result, colour := "all bars hold", passed
	if !d.Pass {
		result, colour = Failing(d), failed
	}
	h := head{{fmt.Sprintf("%s, seed %d", d.Scenario, d.Seed), bold(18, ink), 24}}
	for _, line := range wrap(d.About, font(12.5, ink)) {
		h = append(h, row{line, font(12.5, ink), 17})
	}
	h = append(h, row{result, bold(12.5, colour), 19})
	bars := 0
	for _, b := range d.Bars {
		if b.Pass {
			continue
		}
		if bars++; bars > mostBars {
			break
		}
		line := wrap(fmt.Sprintf("%s: %s", b.Bar, Shorter(b.Found)), font(12, failed))[0]
		h = append(h, row{line, font(12, failed), 16})
	}
	return append(h, row{Figures(d), font(12, soft), 24})
}

// Failing says what of a document does not hold, in a few words; "" if all does.
func Failing(d *engine.Document) string {
	switch {
	case d.Pass:
		return ""
	case d.Broken != "":
		return "it did not come to its end"
	}
	n := 0
	for _, b := range d.Bars {
		if !b.Pass {
			n++
		}
	}
	var parts []string
	if n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d bars do not hold", n, len(d.Bars)))
	}
	if v := d.Summary.Violations; v > 0 {
		parts = append(parts, fmt.Sprintf("checks of the lab itself failed %d times", v))
	}
	return strings.Join(parts, ", ")
}

// Figures is the summary in a line.
func Figures(d *engine.Document) string {
	s := d.Summary
	parts := []string{
		fmt.Sprintf("%d picks of adversaries (%s)", s.BadPicks, Percent(s.BadShare)),
		"regret " + Percent(s.Regret),
	}
	if s.DemotedAfter >= 0 {
		parts = append(parts, fmt.Sprintf("demoted after %d transfers", s.DemotedAfter))
	}
	return strings.Join(append(parts,
		fmt.Sprintf("%d false verdicts", s.FalseVerdicts),
		"hedged "+Percent(s.HedgedShare)), " · ")
}

// Percent is a share with one digit, and no sign where that is 0.
func Percent(x float64) string {
	return fmt.Sprintf("%.1f %%", math.Round(1000*x)/10+0)
}

var longNumbers = regexp.MustCompile(`[0-9]+\.[0-9]{6,}(e[-+]?[0-9]+)?`)

// Shorter is a text with the numbers in it to six digits.
func Shorter(s string) string {
	return longNumbers.ReplaceAllStringFunc(s, func(n string) string {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil {
			return n
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	})
}

// wrap breaks a text into lines as wide as a drawing.
func wrap(s string, style text.Style) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && style.Width(longer) > width-2*margin {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}

func (h head) height() vg.Length {
	high := vg.Length(0)
	for _, r := range h {
		high += r.high
	}
	return high
}

// draw writes it from a height down, and returns how high it is.
func (h head) draw(c draw.Canvas, top vg.Length) vg.Length {
	y := top
	for _, r := range h {
		c.FillText(r.style, vg.Point{X: margin, Y: y - r.style.Font.Size}, r.text)
		y -= r.high
	}
	return top - y
}
