package speedreport

import (
	"fmt"
	"image/color"
	"regexp"
	"strings"
)

// A plot is drawn in colours that stand for what they mean, and these are then replaced by variables
// of the page's style: so the same drawing is readable in the light and in the dark.
const (
	ink     = iota // text and axes
	faint          // the grid, what is only a help
	band           // the time of the tests
	first          // the first of the lines, in the order of the palette
	colours = first + 4
)

// paint is the colour that stands for another: none that anything else draws with.
func paint(i int) color.Color { return color.NRGBA{R: 1, G: 2, B: uint8(3 + i), A: 255} }

// variable is what replaces it.
func variable(i int) string { return fmt.Sprintf("var(--plot-%d)", i) }

var (
	beginning = regexp.MustCompile(`(?s)^.*?<svg [^>]*?viewBox="([^"]*)"[^>]*>`)
	fonts     = regexp.MustCompile(`font-family:[^;"]*;font-variant:[^;"]*;`)
)

// recolour makes what gonum wrote part of a page: without a header, as wide as there is room, in the
// page's colours, named for those who don't see it. Its font has the widths of Arial.
func recolour(svg, name string) string {
	svg = beginning.ReplaceAllString(svg, `<svg viewBox="$1" role="img" aria-label="`+name+`">`)
	svg = fonts.ReplaceAllString(svg, "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	for i := range colours {
		svg = strings.ReplaceAll(svg, fmt.Sprintf("#0102%02X", 3+i), variable(i))
	}
	return svg
}
