package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/assay-mux/assay/audit"
)

// shownKinds are the verdicts that a table has a column for.
var shownKinds = [...]audit.Kind{audit.Withholding, audit.NeverAlone, audit.Overclaims, audit.Path, audit.SlowToStart}

func newTable(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
}

// honestTable prints what befell honest peers: how often in a million fetches, and which share of
// the peers ever.
func honestTable(out io.Writer, outcomes []outcome) {
	fmt.Fprintln(out, "\nHonest peers: verdicts per million fetches (share of peers it ever fell on)")
	t := newTable(out)
	fmt.Fprint(t, "scenario\tpeers\tfetches\tr p50\tr p95\tr p99")
	for _, v := range shownKinds {
		fmt.Fprint(t, "\t", v)
	}
	fmt.Fprintln(t)
	for i := range outcomes {
		o := &outcomes[i]
		for k := range honestKinds {
			o.honestRow(t, k)
		}
	}
	t.Flush()
}

func (o *outcome) honestRow(t io.Writer, k kind) {
	n := &o.counts[k]
	r := sorted(n.residuals.values)
	fmt.Fprintf(t, "%s: %s\t%d\t%.1fM\t%.2f\t%.2f\t%.2f", o.scenario.name, k, n.Peers, float64(n.Fetches)/1e6,
		quantile(r, 0.5), quantile(r, 0.95), quantile(r, 0.99))
	for _, v := range shownKinds {
		fmt.Fprintf(t, "\t%.2f (%.2f %%)", 1e6*float64(n.By[v].Onsets)/float64(max(n.Fetches, 1)), 100*o.ever(k, v))
	}
	fmt.Fprintln(t)
}

// attackTable prints after how many of its own fetches each attack was found out.
func attackTable(out io.Writer, outcomes []outcome) {
	fmt.Fprintln(out, "\nAttacks: own audited fetches until the verdict, median / p99 (share found out within ten; within", patience, "\b)")
	t := newTable(out)
	fmt.Fprint(t, "attack\tverdict")
	for i := range outcomes {
		fmt.Fprint(t, "\t", outcomes[i].scenario.name)
	}
	fmt.Fprintln(t)
	for i, a := range attacks {
		fmt.Fprintf(t, "%s\t%s", a.name, a.want)
		for j := range outcomes {
			d := outcomes[j].delays[i]
			fmt.Fprintf(t, "\t%s / %s (%.1f %%; %.1f %%)", fetches(quantile(d, 0.5)), fetches(quantile(d, 0.99)),
				100*within(d, 10), 100*within(d, patience))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func fetches(n int) string {
	if n >= never {
		return "never"
	}
	return fmt.Sprint(n)
}

// thresholdTable prints the votes' medians before the clamp, over strata and seeds, and by which
// factor they differ from the medians of the same votes without the hostile ones. Fair are the strata
// with 100 votes, a third of them hostile at most.
func thresholdTable(out io.Writer, outcomes []outcome) {
	fmt.Fprintln(out, "\nThresholds of the strata at the end of a run, and what hostile votes do to them")
	t := newTable(out)
	fmt.Fprintln(t, "scenario\tstrata\tthin\tmerged\tbefore the clamp: least\tmedian\tlargest\t"+
		"hostile votes: median\tlargest\tfactor: least\tmedian\tlargest\tfair: least\tlargest")
	for i := range outcomes {
		outcomes[i].thresholdRow(t)
	}
	t.Flush()
}

func (o *outcome) thresholdRow(t io.Writer) {
	var raw, shares []float64
	thin, merged := 0, 0
	for _, r := range o.seeds {
		for _, s := range r.strata {
			if s.Threshold.Thin {
				thin++
				continue
			}
			if s.Threshold.Merged > 0 {
				merged++
			}
			raw = append(raw, s.Threshold.Raw)
		}
	}
	shifts := o.shifts()
	for _, s := range shifts {
		shares = append(shares, s.share)
	}
	raw, shares = sorted(raw), sorted(shares)
	f, fair := factors(shifts)
	fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.0f %%\t%.0f %%\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\n",
		o.scenario.name, len(raw)+thin, thin, merged, quantile(raw, 0), quantile(raw, 0.5), quantile(raw, 1),
		100*quantile(shares, 0.5), 100*quantile(shares, 1), quantile(f, 0), quantile(f, 0.5), quantile(f, 1),
		quantile(fair, 0), quantile(fair, 1))
}

// freeTable prints what each chart leaves free.
func freeTable(out io.Writer) {
	fmt.Fprintln(out, "\nFree rates: what a peer can do for ever without a verdict being due")
	t := newTable(out)
	fmt.Fprintln(t, "verdict\tshare of its fetches\tin a row to convict")
	for _, r := range audit.New(audit.DefaultConfig()).FreeRates() {
		fmt.Fprintf(t, "%s\t%.1f %%\t%d\n", r.Kind, 100*r.Rate, r.InARow)
	}
	t.Flush()
}
