package speedreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// table is one table of the report, for text and page alike. The first column is text, the others are
// numbers.
type table struct {
	ID, Title, Note string
	Head            []string
	Rows            [][]string
}

// tables are those that have something in them. At most top peers are listed, those with the largest
// errors; all of them if top is 0.
func tables(a *report.Analysis, top int) []table {
	var all []table
	for _, t := range []table{network(a), peers(a, top), phases(a), relays(a), quartiles(a), correlations(a)} {
		if len(t.Rows) > 0 {
			all = append(all, t.trimmed())
		}
	}
	return all
}

// trimmed is the table without the columns in which nobody has anything.
func (t table) trimmed() table {
	for i := len(t.Head) - 1; i > 0; i-- {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "-" && row[i] != "" }) {
			continue
		}
		t.Head = slices.Delete(t.Head, i, i+1)
		for k := range t.Rows {
			t.Rows[k] = slices.Delete(t.Rows[k], i, i+1)
		}
	}
	return t
}

func network(a *report.Analysis) table {
	t := table{ID: "network", Title: "The network", Head: []string{
		"figure", "peers", "sum of figures", "sum of capacities", "capacity error", "95 % interval", "weight error", "95 % interval",
	}, Note: "Capacity error: 1 - sum of figures / sum of capacities; below 0 more is claimed than there is. " +
		"Weight error: half the sum of |w - c|, the part of the load that goes to the wrong peer if it is shared out by the figures."}
	for _, e := range a.Errors {
		t.Rows = append(t.Rows, []string{
			claimName(e.Claim), fmt.Sprint(e.N), rate(e.SumClaimed), rate(e.SumCapacity),
			percent(e.NetworkCapacityError), interval(e.NetworkCapacityInterval, percent),
			share(e.NetworkWeightError), interval(e.NetworkWeightInterval, share),
		})
	}
	return t
}

func interval(i report.Interval, show func(float64) string) string {
	return strings.TrimSuffix(show(i.Low), " %") + " to " + show(i.High)
}

func relays(a *report.Analysis) table {
	t := table{ID: "relays", Title: "The peers' own errors", Head: []string{
		"error", "n", "min", "p10", "q1", "median", "q3", "p90", "max", "mean", "std",
	}, Note: "Relay capacity error: 1 - A/C. Relay weight error: w/c, the peer's share of the figures over its share of the capacities; 1 is right."}
	for _, e := range a.Errors {
		t.Rows = append(t.Rows,
			append([]string{claimName(e.Claim) + ", capacity"}, summary(e.RelayCapacityError, percent)...),
			append([]string{claimName(e.Claim) + ", weight"}, summary(e.RelayWeightError, func(v float64) string { return fmt.Sprintf("%.3g", v) })...))
	}
	return t
}

func summary(s report.Summary, show func(float64) string) []string {
	cells := []string{fmt.Sprint(s.N)}
	for _, v := range []float64{s.Min, s.P10, s.Q1, s.Median, s.Q3, s.P90, s.Max, s.Mean, s.Std} {
		cells = append(cells, show(v))
	}
	return cells
}

func correlations(a *report.Analysis) table {
	t := table{ID: "correlations", Title: "Do large peers understate more?", Head: []string{
		"figure and error", "x", "n", "Spearman", "95 % interval", "null, 95 %", "p",
	}, Note: "The error shares a term with either x, so that they correlate even where it has nothing to do with size. " +
		"The null has the same capacities and the same relative errors, dealt out anew: only a coefficient outside it says something. " +
		"Relative: max(0, 1 - A/C), what is claimed too much counting as no error; relative, signed: 1 - A/C; absolute: C - A."}
	for _, e := range a.Errors {
		for _, c := range e.Correlations {
			cells := []string{claimName(e.Claim) + ", " + kindName(c.Error), axisName(c.X), fmt.Sprint(c.N), "not defined", "", "", ""}
			if c.Known {
				cells = append(cells[:3], fmt.Sprintf("%.3f", c.Spearman), interval(c.Interval, coefficient), interval(c.Null, coefficient), fmt.Sprintf("%.3f", c.P))
			}
			t.Rows = append(t.Rows, cells)
		}
	}
	return t
}

func coefficient(v float64) string { return fmt.Sprintf("%.3f", v) }

func kindName(k report.Kind) string {
	if k == report.Signed {
		return "relative, signed"
	}
	return string(k)
}

func axisName(x report.Axis) string {
	if x == report.ByCapacity {
		return "capacity (after)"
	}
	return "figure (before)"
}

func quartiles(a *report.Analysis) table {
	t := table{ID: "quartiles", Title: "Capacity errors by quarter of the peers", Head: []string{
		"figure, capacity", "n", "min", "p10", "q1", "median", "q3", "p90", "max", "mean", "std",
	}}
	for _, e := range a.Errors {
		for _, q := range e.Quartiles {
			t.Rows = append(t.Rows, append([]string{claimName(e.Claim) + ", " + quartileName(q)}, summary(q.Summary, percent)...))
		}
	}
	return t
}

func quartileName(q report.Quartile) string {
	return rate(q.LowCapacity) + " to " + rate(q.HighCapacity)
}

func phases(a *report.Analysis) table {
	t := table{ID: "phases", Title: "What the peers publish together", Head: []string{"", "peers", "advertised", "observed", "observed without tests"}}
	for _, p := range a.Totals {
		t.Rows = append(t.Rows, []string{
			string(p.Phase), fmt.Sprint(p.N), rate(p.Advertised), known(p.Observed, rate), known(p.ObservedWithoutTests, rate),
		})
	}
	return t
}

// known shows a value, or that it is not known.
func known(v float64, show func(float64) string) string {
	if v == 0 {
		return "-"
	}
	return show(v)
}

func peers(a *report.Analysis, top int) table {
	t := table{ID: "peers", Title: "The peers", Head: []string{
		"peer", "outcome", "capacity", "truth", "limited by", "advertised", "error", "weight error", "passive error", "after", "verdict",
	}}
	rows := slices.Clone(a.Rows)
	if top > 0 && len(rows) > top {
		slices.SortStableFunc(rows, func(x, y report.Row) int { return cmp.Compare(missed(&y), missed(&x)) })
		rows = rows[:top]
		t.Title = fmt.Sprintf("The %d peers of %d with the largest errors", top, len(a.Rows))
	}
	for i := range rows {
		t.Rows = append(t.Rows, peerCells(&rows[i], a.CapacityFrom))
	}
	if a.CapacityFrom == report.FromTest {
		t.Note = fmt.Sprintf("A capacity with \u2265 is a lower bound. Truth: where the peer's limit is known, and how far the test is from it. "+
			"A claim is held to be true within %.0f %%.", report.Bar*100)
	}
	return t
}

// missed is by how much a peer's advertised figure is off, in bytes per second.
func missed(r *report.Row) float64 {
	e, ok := r.Error(report.Advertised)
	if !ok {
		return 0
	}
	return max(e.Claimed-r.Capacity, r.Capacity-e.Claimed)
}

func peerCells(r *report.Row, from report.CapacitySource) []string {
	cells := []string{tame(r.Name), outcomeName(r.Outcome), known(r.Capacity, rate), "-", cmp.Or(limitName(r.LimitedBy), "-"), "-", "-", "-", "-", known(r.After, rate), verdictName(r.Verdict)}
	if r.Why != "" && r.Why != string(r.Outcome) {
		cells[1] += ": " + tame(r.Why)
	}
	if r.LowerBound {
		cells[2] = "\u2265 " + cells[2]
	}
	if r.KnownCapacity > 0 {
		cells[3] = rate(r.KnownCapacity)
		if r.Capacity > 0 {
			cells[3] += fmt.Sprintf(" (%s)", percent(r.MeasuredError))
		}
	}
	if e, ok := r.Error(report.Advertised); ok {
		cells[5], cells[6], cells[7] = rate(e.Claimed), percent(e.CapacityError), fmt.Sprintf("%.3g", e.WeightError)
	}
	if e, ok := r.Error(report.PassiveEstimate); ok {
		cells[8] = percent(e.CapacityError)
	}
	if from == report.FromPublished { // an error of somebody else's making
		cells[1], cells[10] = "-", strings.ToLower(cells[10])
	}
	return cells
}
