// Command metricsref writes the reference page of the metrics, docs/metrics.md,
// from what the collector says of itself: `make metrics-reference`, or go generate
// in package metrics. A test fails where the page is not what it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/assay-mux/assay/metrics"
)

func main() {
	path := flag.String("out", "docs/metrics.md", "the `file` to write")
	flag.Parse()
	if err := os.WriteFile(*path, page(metrics.Descriptions()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "metricsref:", err)
		os.Exit(1)
	}
}

// section is a part of the page: the metrics it takes of those the sections
// before it have left.
type section struct {
	title, text string
	takes       func(metrics.Description) bool
}

func prefixed(prefixes ...string) func(metrics.Description) bool {
	return func(d metrics.Description) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(d.Name, "assay_"+p) {
				return true
			}
		}
		return false
	}
}

func typed(t metrics.Type) func(metrics.Description) bool {
	return func(d metrics.Description) bool { return d.Type == t }
}

// sections are in the order of choice, which is not that of the page.
func sections() []section {
	return []section{
		{"By peer", "With `WithPerPeer` only, for as many names as it says.", prefixed("peer_", "peers_omitted")},
		{"By rank slot", "Of the first few connections, by the order of a `Ranked` source or else by estimated rate. `slot=\"1\"` is the best.", prefixed("top_")},
		{"Standings by rank slot", "With `WithRanker`. What the ranker thinks of its first few peers.", prefixed("ranking_top_")},
		{"Ranker", "With `WithRanker`.", prefixed("ranking_")},
		{"Audit", "With `WithRanker`. Strata are named by their lower bounds. The histogram only rises, so that `rate()` is right for it.", prefixed("audit_")},
		{"Speed tests", "With `WithCampaign`.", prefixed("speedtest_")},
		{"Distributions", "Over the connections of now: histograms that each scrape counts afresh. Use `histogram_quantile` without `rate()`; with `WithNativeHistograms` on the name alone, else on `_bucket`.", typed(metrics.Histogram)},
		{"Counters", "Summed over all connections, past ones included.", typed(metrics.Counter)},
		{"Gauges", "Summed over the connections of now, but for those that say otherwise.", typed(metrics.Gauge)},
	}
}

// order is the page's.
var order = []string{"Counters", "Gauges", "Distributions", "By rank slot", "Ranker", "Standings by rank slot", "Audit", "Speed tests", "By peer"}

const head = `# Metrics

<!-- Written by make metrics-reference from the collector's own descriptions. Do not edit. -->

What [package metrics](https://pkg.go.dev/github.com/assay-mux/assay/metrics) shows to
Prometheus. Units are seconds, bytes and ratios. [monitoring/](../monitoring) has scrape
configuration, rules and dashboards for them, and [runbook.md](runbook.md) what to do
when an alert fires.
`

// page is the whole page.
func page(all []metrics.Description) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	of := make(map[string][]metrics.Description)
	text := make(map[string]string)
	for _, d := range all {
		s := choose(d)
		of[s.title] = append(of[s.title], d)
		text[s.title] = s.text
	}
	for _, title := range order {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| name | type | labels | meaning |\n|---|---|---|---|\n", title, text[title])
		for _, d := range of[title] {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Type, code(d.Labels), strings.ReplaceAll(d.Help, "|", `\|`))
		}
	}
	return b.Bytes()
}

// choose is the first section that takes a metric. The last three have one for
// each type.
func choose(d metrics.Description) section {
	all := sections()
	for _, s := range all {
		if s.takes(d) {
			return s
		}
	}
	return all[len(all)-1]
}

func code(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	return "`" + strings.Join(labels, "`, `") + "`"
}
