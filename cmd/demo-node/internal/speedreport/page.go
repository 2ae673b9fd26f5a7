package speedreport

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	// Drawn by us, with nothing in it that a peer chose but through the SVG writer's escaping.
	"drawing":  func(svg string) template.HTML { return template.HTML(svg) },
	"unbroken": func(cell string) string { return beforeUnit.ReplaceAllString(cell, "$1\u00a0$2") },
	"colour":   func(variable string) template.CSS { return template.CSS(variable) },
}).Parse(pageText))

// beforeUnit is where no line may end: between a number and its unit.
var beforeUnit = regexp.MustCompile(`([0-9]) ([A-Za-z%])`)

// headline is a figure that the page shows large.
type headline struct{ Value, Name string }

// Page writes the report as one HTML page, with style and plots in it: it asks for nothing else, and
// runs no script. At most top peers are listed, all of them if top is 0.
func Page(w io.Writer, a *report.Analysis, top int) error {
	plots, err := Plots(a)
	if err != nil {
		return err
	}
	return page.Execute(w, struct {
		Lead      []sentence
		Headlines []headline
		Plots     []Plot
		Tables    []table
	}{lead(a), headlines(a), plots, tables(a, top)})
}

func headlines(a *report.Analysis) []headline {
	var all []headline
	if e, ok := advertised(a); ok {
		all = append(all,
			headline{rate(e.SumCapacity), "capacity of " + count(e.N, "peer", "peers")},
			headline{percent(e.NetworkCapacityError), "network capacity error"},
			headline{share(e.NetworkWeightError), "network weight error"})
	}
	if a.Change.N > 0 {
		all = append(all, headline{percent(a.Change.Discovered), "discovered by the test"})
	}
	if a.CapacityFrom == report.FromTest {
		all = append(all, headline{fmt.Sprint(a.Counts.Overstated), "peers say too much"})
	}
	return all
}
