package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/plots"
)

// Entry is one result on the page.
type Entry struct {
	Doc *engine.Document
	// Plot and Series are files beside the page: the drawing, and the document that it
	// is of. NoPlot says why there is none.
	Plot, Series, NoPlot string
}

//go:embed page.html
var pageText string

var pageMade = template.Must(template.New("page").Parse(pageText))

// Page writes a page of results, in their order; those of one scenario are
// together. The page asks for nothing but the drawings beside it.
func Page(w io.Writer, entries []Entry) error {
	page := struct {
		Scenarios []*shown
		Runs      int
		Failing   []string
	}{Runs: len(entries)}
	byName := map[string]*shown{}
	for _, e := range entries {
		s, ok := byName[e.Doc.Scenario]
		if !ok {
			s = &shown{Name: e.Doc.Scenario, About: e.Doc.About, Covers: strings.Join(e.Doc.Covers, ", ")}
			byName[s.Name] = s
			page.Scenarios = append(page.Scenarios, s)
		}
		s.entries = append(s.entries, e)
	}
	for _, s := range page.Scenarios {
		s.sum()
		if !s.Pass {
			page.Failing = append(page.Failing, s.Name)
		}
	}
	return pageMade.Execute(w, page)
}

// shown is one scenario on the page, by all its seeds.
type shown struct {
	Name, About, Covers string
	Pass                bool
	Seeds               []seedShown
	Bars                []barShown
	Violations          []string
	Broken              []brokenShown
	Rows                []cell // the summary
	Choosers            []chooserShown
	Plot                *seedShown // that is shown
	entries             []Entry
	ended               []Entry // of them, those that came to their end
}

// brokenShown is a run that did not, and why.
type brokenShown struct {
	Seed uint64
	Why  string
}

type seedShown struct {
	Seed                 uint64
	Pass                 bool
	Plot, Series, NoPlot string
}

// barShown is a bar, and what was found by each seed that it did not hold by; of
// one that holds what was found by the first.
type barShown struct {
	Bar, Why, Found string
	Pass            bool
}

type cell struct{ Name, Value string }

type chooserShown struct{ Name, Mean, P95, Regret string }

// sum sums the seeds up.
func (s *shown) sum() {
	s.Pass = true
	for _, e := range s.entries {
		s.Pass = s.Pass && e.Doc.Pass
		s.Seeds = append(s.Seeds, seedShown{e.Doc.Seed, e.Doc.Pass, e.Plot, e.Series, e.NoPlot})
		s.Violations = append(s.Violations, violations(e.Doc)...)
		if e.Doc.Broken != "" {
			s.Broken = append(s.Broken, brokenShown{e.Doc.Seed, e.Doc.Broken})
		} else {
			s.ended = append(s.ended, e)
		}
	}
	s.Plot = &s.Seeds[max(0, slices.IndexFunc(s.entries, func(e Entry) bool { return !e.Doc.Pass && e.Doc.Broken == "" }))]
	if first := slices.IndexFunc(s.entries, func(e Entry) bool { return e.Doc.Broken == "" }); s.Plot.Plot == "" && first >= 0 {
		s.Plot = &s.Seeds[first]
	}
	s.figures()
	if len(s.ended) == 0 {
		return
	}
	for i, b := range s.ended[0].Doc.Bars {
		s.Bars = append(s.Bars, s.bar(i, b))
	}
	s.choosers()
}

// mostViolations is how many of one run are on the page.
const mostViolations = 5

func violations(d *engine.Document) []string {
	var out []string
	for _, r := range runs(d) {
		for i, v := range r.Violations {
			if i == mostViolations {
				out = append(out, fmt.Sprintf("seed %d, %s: and %d more", d.Seed, r.Chooser, len(r.Violations)-i))
				break
			}
			out = append(out, fmt.Sprintf("seed %d, %s, at %.3f s, peer %s: %s", d.Seed, r.Chooser, v.At, v.Peer, v.What))
		}
	}
	return out
}

// runs are all of a document, ours first and the oracle last.
func runs(d *engine.Document) []*engine.Result {
	all := []*engine.Result{d.Assay, d.Without}
	for _, name := range slices.Sorted(maps.Keys(d.Rivals)) {
		all = append(all, d.Rivals[name])
	}
	return slices.DeleteFunc(append(all, d.Oracle), func(r *engine.Result) bool { return r == nil })
}

// bar is the i-th by all seeds.
func (s *shown) bar(i int, b engine.BarResult) barShown {
	out := barShown{Bar: b.Bar, Why: b.Why, Found: plots.Shorter(b.Found), Pass: true}
	var not []string
	for _, e := range s.ended {
		if i >= len(e.Doc.Bars) || e.Doc.Bars[i].Pass {
			continue
		}
		out.Pass = false
		found := plots.Shorter(e.Doc.Bars[i].Found)
		if len(s.ended) > 1 {
			found = fmt.Sprintf("seed %d: %s", e.Doc.Seed, found)
		}
		not = append(not, found)
	}
	if !out.Pass {
		out.Found = strings.Join(not, "; ")
	}
	return out
}

// figures are the summary, as ranges over the seeds.
func (s *shown) figures() {
	over := func(name string, show func(float64) string, value func(engine.Summary) float64) {
		if len(s.ended) == 0 {
			s.Rows = append(s.Rows, cell{name, "-"})
			return
		}
		low, high := value(s.ended[0].Doc.Summary), value(s.ended[0].Doc.Summary)
		for _, e := range s.ended {
			low, high = min(low, value(e.Doc.Summary)), max(high, value(e.Doc.Summary))
		}
		text := show(low)
		if more := show(high); more != text {
			text += " to " + more
		}
		s.Rows = append(s.Rows, cell{name, text})
	}
	over("bad picks", whole, func(x engine.Summary) float64 { return float64(x.BadPicks) })
	over("regret", plots.Percent, func(x engine.Summary) float64 { return x.Regret })
	over("demoted after", transfers, func(x engine.Summary) float64 { return float64(x.DemotedAfter) })
	over("false verdicts", whole, func(x engine.Summary) float64 { return float64(x.FalseVerdicts) })
	over("hedged", plots.Percent, func(x engine.Summary) float64 { return x.HedgedShare })
}

func whole(x float64) string { return fmt.Sprintf("%.0f", x) }

func transfers(x float64) string {
	if x < 0 {
		return "-"
	}
	return whole(x)
}

// choosers compares us with rivals, if there are any, by means over the seeds.
func (s *shown) choosers() {
	if len(s.ended[0].Doc.Rivals) == 0 {
		return
	}
	type sums struct{ mean, p95, best float64 }
	by := map[string]*sums{}
	var names []string
	for _, e := range s.ended {
		for _, r := range runs(e.Doc) {
			if r == e.Doc.Without || e.Doc.Oracle == nil {
				continue
			}
			q, ok := by[r.Chooser]
			if !ok {
				q = new(sums)
				by[r.Chooser] = q
				names = append(names, r.Chooser)
			}
			q.mean += r.Wait.Mean
			q.p95 += r.Wait.P95
			q.best += e.Doc.Oracle.Wait.Mean
		}
	}
	n := float64(len(s.ended))
	for _, name := range names {
		q := by[name]
		c := chooserShown{Name: strings.ReplaceAll(name, "_", " "), Mean: fmt.Sprintf("%.3f s", q.mean/n), P95: fmt.Sprintf("%.3f s", q.p95/n), Regret: "-"}
		if q.best > 0 {
			c.Regret = plots.Percent(q.mean/q.best - 1)
		}
		s.Choosers = append(s.Choosers, c)
	}
}
