package rivals

import (
	"fmt"
	"strings"
)

// Text is a row as a block of lines: one for each chooser, and how Assay does.
func (r Row) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, %d seeds)\n", r.Scenario, r.company(), len(r.Rounds))
	fmt.Fprintf(&b, "  %-12s %10s %10s %9s %9s %9s %7s %7s %7s\n", "", "mean s", "p95 s", "regret", "p95", "bad picks", "extra", "failed", "missed")
	for _, e := range Entrants() {
		f := r.All[e.Name]
		fmt.Fprintf(&b, "  %-12s %10.3f %10.3f %9s %9s %9s %7s %7d %7d\n", e.Name,
			f.Mean, f.P95, percent(f.Regret), percent(f.P95Regret), percent(f.BadShare), percent(f.Extra), f.Failed, f.Missed)
	}
	fmt.Fprintf(&b, "  %s\n", r.Verdict())
	for _, round := range r.Rounds {
		for _, what := range round.Broken {
			fmt.Fprintf(&b, "  not to be trusted, seed %d: %s\n", round.Seed, what)
		}
	}
	return b.String()
}

func (r Row) company() string {
	if r.Adversary {
		return "an adversary acts"
	}
	return "no adversary"
}

// Verdict says how Assay does, with the figures.
func (r Row) Verdict() string {
	how := map[Rank]string{Best: "best", Within: "within 2 % of the best", Worse: "not the best"}[r.Rank]
	if !r.Holds {
		how = strings.ToUpper(how)
	}
	return fmt.Sprintf("assay is %s: %s against %s (%s to %s by seed), p95 %s against %s",
		how, signed(r.Lead), r.Rival, signed(r.Least), signed(r.Most), signed(r.P95Lead), r.P95Rival)
}

// Summary counts the rows by rank and names those where Assay is not what it should
// be.
func Summary(rows []Row) string {
	var b strings.Builder
	count := map[Rank]int{}
	var short []Row
	for _, r := range rows {
		count[r.Rank]++
		if !r.Holds {
			short = append(short, r)
		}
	}
	fmt.Fprintf(&b, "of %d scenarios assay is best on %d, within 2 %% of the best on %d and worse on %d\n", len(rows), count[Best], count[Within], count[Worse])
	if len(short) == 0 {
		b.WriteString("best wherever an adversary acts, and within 2 % elsewhere\n")
		return b.String()
	}
	b.WriteString("short of that, best where an adversary acts and within 2 % elsewhere:\n")
	for _, r := range short {
		fmt.Fprintf(&b, "  %s (%s): %s\n", r.Scenario, r.company(), r.Verdict())
	}
	return b.String()
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// signed shows differences, to a hundredth, so that ties show as such.
func signed(x float64) string { return fmt.Sprintf("%+.2f %%", 100*x) }
