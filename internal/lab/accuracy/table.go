package accuracy

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// The bars: what an error may be, as a part of the time that the fetch took.
const (
	// MedianBar holds the median over all fetches of a state.
	MedianBar = 0.05
	// WorstBar holds each fetch.
	WorstBar = 0.20
	// FarBar holds those over a way whose ramp exceeds the longest fetch: no
	// fetch of the grid ever fills it, so that its rate is known as a bound only.
	FarBar = 0.35
)

// Far says whether the ramp of a way exceeds the longest fetch.
func (w Way) Far() bool { return w.Ramp() > longest }

// Bar is the most that the error of a fetch over the way may be.
func (w Way) Bar() float64 {
	if w.Far() {
		return FarBar
	}
	return WorstBar
}

// Source says which parameters of the way a prediction rests on.
type Source uint8

// The sources.
const (
	Own  Source = iota // the node's own passive estimates
	True               // those of the simulated link
)

// String says what they are.
func (s Source) String() string {
	return [2]string{"the node's own estimates", "the true parameters"}[s&1]
}

// Error is how far a prediction was off, as a part of the actual time: positive
// where it was too slow.
func (f Fetch) Error(s Source) float64 {
	p := f.Own
	if s == True {
		p = f.True
	}
	return (p - f.Actual).Seconds() / f.Actual.Seconds()
}

// Result is what the fetches of one state say of one source, against the bars.
type Result struct {
	Median, Worst float64 // of the error's size
	Misses        []string
}

// Judge holds the fetches of a state to the bars.
func Judge(runs []Run, st State, src Source) Result {
	var res Result
	var sizes []float64
	for _, f := range fetches(runs, st) {
		e := f.Error(src)
		sizes = append(sizes, math.Abs(e))
		if !(math.Abs(e) <= f.Way.Bar()) {
			res.Misses = append(res.Misses, fmt.Sprintf("%v, %d bytes, %v: off by %+.1f %%, may be %.0f",
				f.Way, f.Bytes, st, 100*e, 100*f.Way.Bar()))
		}
	}
	if len(sizes) == 0 {
		res.Misses = []string{fmt.Sprintf("no %v fetch", st)}
		return res
	}
	slices.Sort(sizes)
	res.Median, res.Worst = (sizes[(len(sizes)-1)/2]+sizes[len(sizes)/2])/2, sizes[len(sizes)-1]
	if res.Median > MedianBar {
		res.Misses = append(res.Misses, fmt.Sprintf("%v: the median is off by %.1f %%, may be %.0f",
			st, 100*res.Median, 100*MedianBar))
	}
	return res
}

// fetches are those of one state, way by way.
func fetches(runs []Run, st State) []Fetch {
	var out []Fetch
	for _, r := range runs {
		for _, f := range r.Fetches {
			if f.State == st {
				out = append(out, f)
			}
		}
	}
	return out
}

// WriteEstimates prints what the node believes of each way.
func WriteEstimates(w io.Writer, runs []Run) {
	fmt.Fprintf(w, "What the node believes after one fetch of %d MB:\n", longest/1_000_000)
	fmt.Fprintf(w, "%22s  %12s %12s %12s\n", "way", "base", "p95", "Mbit/s")
	for _, r := range runs {
		own, _ := r.paths()
		bound := ""
		if r.Reading.Estimation.Rate == 0 {
			bound = "  at least"
		}
		fmt.Fprintf(w, "%22v  %12v %12v %12.4g%s\n", r.Way, own.BaseRTT, own.HighRTT,
			own.Rate.BytesPerSecond()*8e-6, bound)
	}
	fmt.Fprintln(w)
}

// WriteTable prints the errors of one state and source in per cent, a row a way,
// and the result.
func WriteTable(w io.Writer, runs []Run, st State, src Source) {
	fmt.Fprintf(w, "Error of the prediction in %%, %v, with %v (+ is too slow):\n%22s ", st, src, "way")
	for i, r := range runs {
		if i == 0 {
			for _, f := range fetches(runs[:1], st) {
				fmt.Fprintf(w, " %8s", amount(f.Bytes))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%22v ", r.Way)
		for _, f := range fetches(runs[i:i+1], st) {
			fmt.Fprintf(w, " %+8.2f", 100*f.Error(src))
		}
		fmt.Fprintln(w)
	}
	res := Judge(runs, st, src)
	verdict := "met"
	if len(res.Misses) > 0 {
		verdict = "missed:\n  " + strings.Join(res.Misses, "\n  ")
	}
	fmt.Fprintf(w, "median %.2f %%, worst %.2f %%; bars (median %.0f %%, worst %.0f %%, far %.0f %%) %s\n\n",
		100*res.Median, 100*res.Worst, 100*MedianBar, 100*WorstBar, 100*FarBar, verdict)
}

// amount is a size as people write it.
func amount(n int64) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d kB", n/1000)
}
