package plots

import (
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// paint is a colour that stands for something, with another for the dark.
type paint struct {
	light color.NRGBA
	dark  string
}

// RGBA makes a paint the color.Color that is drawn.
func (p paint) RGBA() (r, g, b, a uint32) { return p.light.RGBA() }

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// hex is the colour as the SVG writer has it.
func (p paint) hex() string { return fmt.Sprintf("#%02X%02X%02X", p.light.R, p.light.G, p.light.B) }

// The colours: each is used for one thing, so that it can be told by what it is
// for. After Okabe and Ito, "Color Universal Design" (2008); some are darker than
// theirs, for contrast with white.
var (
	paper     = paint{rgb(0xfefefe), "#14171b"}
	ink       = paint{rgb(0x1b1f24), "#e6e9ed"} // text, axes, verdicts
	soft      = paint{rgb(0x57606a), "#a3adb8"} // text that may be passed over
	faint     = paint{rgb(0xdfe3e8), "#343c45"} // grids
	before    = paint{rgb(0xf0f2f5), "#1d2228"} // the time of the warm-up
	held      = paint{rgb(0xfbeecb), "#3d3416"} // when verdicts were held
	warm      = paint{rgb(0x9aa4ae), "#6d7884"} // warm-up picks
	honest    = paint{rgb(0x0072b2), "#56b4e9"}
	bad       = paint{rgb(0xc94f00), "#ff9455"}
	trial     = paint{rgb(0xa8568a), "#e09ac4"} // exploration and shadows
	copied    = paint{rgb(0x007a5a), "#2fc79b"} // redundant
	hedge     = paint{rgb(0x8a6d00), "#f0c541"}
	foretold  = paint{rgb(0x1c1f23), "#e5e9ed"} // predictions
	yardstick = paint{rgb(0xa9b1ba), "#606b76"} // the oracle
	limit     = paint{rgb(0x5b3fa0), "#b9a3f0"} // thresholds
	passed    = paint{rgb(0x006b4f), "#3fcf9f"}
	failed    = paint{rgb(0xb42318), "#ff8b7e"}
)

var paints = []paint{
	paper, ink, soft, faint, before, held, warm, honest, bad, trial, copied, hedge, foretold, yardstick, limit, passed, failed,
}

// darkness is the style that changes the colours in the dark.
func darkness() string {
	var b strings.Builder
	b.WriteString("<style>@media (prefers-color-scheme:dark){")
	for _, p := range paints {
		for _, what := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, `[style*="%s:%s"]{%s:%s!important}`, what, p.hex(), what, p.dark)
		}
	}
	b.WriteString("}</style>\n")
	return b.String()
}

// texts are what the SVG writer writes for a text, in a style that fonts has
// been through.
var texts = regexp.MustCompile(`<text ([^>]*style="([^"]*)"[^>]*)>([^<]*)</text>`)

// measured says in each text how wide it was when it was placed, so that it is so
// wide in whatever font there is.
func measured(svg string) string {
	return texts.ReplaceAllStringFunc(svg, func(text string) string {
		m := texts.FindStringSubmatch(text)
		size := sizes.FindStringSubmatch(m[2])
		if size == nil {
			return text
		}
		points, _ := strconv.ParseFloat(size[1], 64) // 0, and then it has no width
		style := font(vg.Length(points), ink)
		if strings.Contains(m[2], "font-weight:bold") {
			style = bold(vg.Length(points), ink)
		}
		wide := style.Width(html.UnescapeString(m[3])).Points()
		return fmt.Sprintf(`<text textLength="%.1f" lengthAdjust="spacingAndGlyphs" %s>%s</text>`, wide, m[1], m[3])
	})
}

var sizes = regexp.MustCompile(`font-size:([0-9.]+)px`)

var (
	beginning = regexp.MustCompile(`(?s)^.*?<svg [^>]*>`)
	fonts     = regexp.MustCompile(`font-family:[^;"]*;font-variant:[^;"]*;`)
)

// dress makes what the SVG writer wrote a file of its own: a pixel is a point, it
// has a title for those who do not see it, and a style for the dark.
func dress(svg, title string, width, height float64) []byte {
	head := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">
<title>%s</title>
%s`, width, height, width, height, html.EscapeString(title), darkness())
	svg = beginning.ReplaceAllLiteralString(svg, head)
	return []byte(measured(fonts.ReplaceAllString(svg, "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
}
