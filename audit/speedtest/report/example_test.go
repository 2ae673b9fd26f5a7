package report_test

import (
	"fmt"
	"strings"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// Two peers were measured at 1 MB/s. One had said a quarter of it, one ten times as much.
func Example() {
	doc, err := report.Read(strings.NewReader(`
{"name":"modest","outcome":"measured","capacity_bytes_per_second":1e6,
 "published":[{"at_unix_seconds":1,"phase":"before","advertised_bytes_per_second":250000}]}
{"name":"boaster","outcome":"measured","capacity_bytes_per_second":1e6,
 "published":[{"at_unix_seconds":1,"phase":"before","advertised_bytes_per_second":10000000}]}`))
	if err != nil {
		panic(err)
	}
	a := report.Analyse(doc, report.DefaultOptions())
	for _, row := range a.Rows {
		e, _ := row.Error(report.Advertised)
		fmt.Printf("%-8s %-12s capacity error %+.2f, weight error %.2f\n", row.Name, row.Verdict, e.CapacityError, e.WeightError)
	}
	fmt.Printf("network: capacity error %+.2f, weight error %.2f\n",
		a.Errors[0].NetworkCapacityError, a.Errors[0].NetworkWeightError)
	// Output:
	// modest   understated  capacity error +0.75, weight error 0.05
	// boaster  overstated   capacity error -9.00, weight error 1.95
	// network: capacity error -4.12, weight error 0.48
}

// A study of others, as rows of before and after.
func ExampleReadCSV() {
	doc, err := report.ReadCSV(strings.NewReader(`peer,advertised_before_bytes_per_second,advertised_after_bytes_per_second
a,1000000,1000000
b,2000000,5000000
`))
	if err != nil {
		panic(err)
	}
	c := report.Analyse(doc, report.DefaultOptions()).Change
	fmt.Printf("%d peers, %+.0f %% discovered\n", c.N, c.Discovered*100)
	// Output: 2 peers, +100 % discovered
}

// Ranks, and not sizes, are correlated: one huge peer does not decide it.
func ExampleSpearman() {
	fmt.Printf("%.1f\n", report.Spearman([]float64{1, 2, 3, 1000}, []float64{0, 5, 5, 6}))
	// Output: 0.9
}
