package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Slim is the document without its series, which are for plots.
func (d *Document) Slim() *Document {
	c := *d
	c.Assay, c.Oracle, c.Without = d.Assay.slim(), d.Oracle.slim(), d.Without.slim()
	c.Rivals = make(map[string]*Result, len(d.Rivals))
	for name, r := range d.Rivals {
		c.Rivals[name] = r.slim()
	}
	return &c
}

func (r *Result) slim() *Result {
	if r == nil {
		return nil
	}
	c := *r
	c.Fetches, c.Transfers, c.Events = nil, nil, nil
	return &c
}

// Header is the line above those of Line.
func Header() string {
	return fmt.Sprintf("%-28s %4s  %9s  %8s  %8s  %7s  %7s  %s", "scenario", "seed", "bad picks", "regret", "demoted", "false", "hedged", "bars")
}

// Line is the document in a line, and a further one for each bar that fails.
func (d *Document) Line() string {
	if d.Broken != "" {
		return fmt.Sprintf("%-28s %4d  FAIL: %s", d.Scenario, d.Seed, strings.ReplaceAll(d.Broken, "\n", "\n    "))
	}
	s := d.Summary
	demoted := "-"
	if s.DemotedAfter >= 0 {
		demoted = fmt.Sprintf("after %d", s.DemotedAfter)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %4d  %9s  %8s  %8s  %7d  %7s  ", d.Scenario, d.Seed,
		fmt.Sprintf("%d", s.BadPicks), percent(s.Regret), demoted, s.FalseVerdicts, percent(s.HedgedShare))
	if d.Pass {
		fmt.Fprintf(&b, "%d pass", len(d.Bars))
		return b.String()
	}
	b.WriteString("FAIL")
	for _, r := range d.Bars {
		if !r.Pass {
			fmt.Fprintf(&b, "\n    %s: %s (%s)", r.Bar, r.Found, r.Why)
		}
	}
	for _, r := range d.runs() {
		for i, v := range r.Violations {
			if i == 3 {
				fmt.Fprintf(&b, "\n    and %d more of %s", len(r.Violations)-i, r.Chooser)
				break
			}
			fmt.Fprintf(&b, "\n    violated by %s at %.3f s, peer %s: %s", r.Chooser, v.At, v.Peer, v.What)
		}
	}
	return b.String()
}

// runs are all that there are.
func (d *Document) runs() []*Result {
	out := []*Result{d.Assay, d.Oracle, d.Without}
	for _, name := range sortedKeys(d.Rivals) {
		out = append(out, d.Rivals[name])
	}
	return slices.DeleteFunc(out, func(r *Result) bool { return r == nil })
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
