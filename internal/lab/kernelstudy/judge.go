package kernelstudy

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/assay-mux/assay/internal/lab"
)

// The bars on predictions without loss.
const (
	MedianBar = 0.10
	TailBar   = 0.30                 // of the 95th percentile
	TailTime  = 5 * time.Millisecond // or that, whichever is more
)

// within says whether a fetch is within the bar of the 95th percentile.
func (f Fetch) within(factor float64) bool {
	off := (f.Predicted - f.Actual).Abs()
	return off <= time.Duration(factor*float64(TailTime)) || math.Abs(f.Error()) <= factor*TailBar
}

// covered says whether the prediction's own error bar has the truth in it.
func (f Fetch) covered() bool { return (f.Predicted - f.Actual).Abs() <= f.Bar }

// judged are the fetches that bars are for.
func judged(runs []Run, st State) (out []Fetch) {
	for _, r := range runs {
		for _, f := range r.Fetches {
			if f.State == st && f.Way.Clear() && f.Way.Rate < informative {
				out = append(out, f)
			}
		}
	}
	return out
}

// Result is what the fetches of a state come to.
type Result struct {
	State          State
	Fetches        int
	Median, P95    float64 // of the error's size
	Outside        int     // beyond the 95th percentile's bar
	MedianBar, Bar float64 // as they were applied
}

// Met says whether the bars are: the median's, and that of 95 in 100.
func (r Result) Met() bool {
	return r.Fetches > 0 && r.Median <= r.MedianBar && float64(r.Outside) <= 0.05*float64(r.Fetches)
}

func (r Result) String() string {
	word := "met"
	if !r.Met() {
		word = "missed"
	}
	return fmt.Sprintf("%v: %d fetches, median error %.1f %% (bar %.0f), 95th percentile %.1f %%, outside %.0f %% and %v: %d (bar %d): %s",
		r.State, r.Fetches, 100*r.Median, 100*r.MedianBar, 100*r.P95, 100*r.Bar,
		time.Duration(r.Bar/TailBar*float64(TailTime)), r.Outside, int(0.05*float64(r.Fetches)), word)
}

// Judge holds the fetches of a state to the bars, widened by a factor.
func Judge(runs []Run, st State, factor float64) Result {
	fetches := judged(runs, st)
	r := Result{State: st, Fetches: len(fetches), MedianBar: factor * MedianBar, Bar: factor * TailBar}
	var off []float64
	for _, f := range fetches {
		off = append(off, math.Abs(f.Error()))
		if !f.within(factor) {
			r.Outside++
		}
	}
	slices.Sort(off)
	r.Median, r.P95 = quantile(off, 0.5), quantile(off, 0.95)
	return r
}

// quantile is one of sorted values, 0 of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[j]-sorted[i])
}

// RTTMisses are the ways whose base round trip is not the path's, idle or
// loaded, or the kernel's not.
func RTTMisses(runs []Run) (misses []string) {
	for _, r := range runs {
		for _, x := range []struct {
			what string
			rtt  time.Duration
		}{{"idle", r.RTTs.Idle}, {"loaded, least", r.RTTs.Least}, {"loaded, most", r.RTTs.Most}, {"kernel", r.RTTs.Kernel}} {
			if x.what == "kernel" && x.rtt == 0 {
				continue
			}
			if !r.Way.near(x.rtt) {
				misses = append(misses, fmt.Sprintf("%v, %s, %s: %v", r.Way, r.Way.Control, x.what, x.rtt))
			}
		}
	}
	return misses
}

// WriteRTTs prints what nodes believe of round trips and rates.
func WriteRTTs(w io.Writer, runs []Run) {
	fmt.Fprintf(w, "What the node believes after the warm-up; base while it was under way; how late the emulator was, in so many of so many attempts;\nslow starts left for delay + for a train of acknowledgements:\n")
	fmt.Fprintf(w, "%34s %6s %9s %20s %9s %18s %20s %14s %18s %8s %8s\n", "way", "", "base", "meanwhile", "kernel", "p95 of", "loaded p95 of", "Mbit/s", "late, at worst", "dropped", "exits")
	for _, r := range runs {
		e := r.Reading.Estimation
		rate := fmt.Sprintf("%.4g ± %.2g", e.Rate.BytesPerSecond()*8e-6, 8e-6*e.Rate.BytesPerSecond()*float64(e.StandardError/max(e.Rate, 1e-15)))
		if e.Rate == 0 {
			rate = fmt.Sprintf("> %.4g", e.UpperBound.BytesPerSecond()*8e-6)
		}
		fmt.Fprintf(w, "%34v %6s %9s %20s %9s %18s %20s %14s %18s %8d %8s\n", r.Way, r.Way.Control, ms(r.RTTs.Idle),
			ms(r.RTTs.Least)+" - "+ms(r.RTTs.Most), ms(r.RTTs.Kernel), fmt.Sprintf("%s of %d", ms(r.RTTs.P95), r.RTTs.Samples[0]), fmt.Sprintf("%s of %d", ms(r.RTTs.LoadedP95), r.RTTs.Samples[1]), rate, fmt.Sprintf("%s, %s of %d/%d", ms(r.Lateness.Mean), ms(r.Lateness.Worst), r.Kept, r.Attempts), r.Dropped, fmt.Sprintf("%d+%d", r.Exits.Delay, r.Exits.Train))
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

// WriteTable prints the errors of one state in per cent, a row a way.
func WriteTable(w io.Writer, runs []Run, st State) {
	fmt.Fprintf(w, "\nError of the prediction in %%, %v (+ is too slow):\n%34s %6s ", st, "way", "")
	for _, n := range Sizes() {
		fmt.Fprintf(w, " %8s", amount(n))
	}
	fmt.Fprintln(w)
	for _, r := range runs {
		cells := make(map[int64]string)
		for _, f := range r.Fetches {
			if f.State == st {
				cells[f.Bytes] = fmt.Sprintf("%+.1f", 100*f.Error())
			}
		}
		fmt.Fprintf(w, "%34v %6s ", r.Way, r.Way.Control)
		for _, n := range Sizes() {
			fmt.Fprintf(w, " %8s", cells[n])
		}
		fmt.Fprintln(w)
	}
}

// WriteLoss prints the fetches with loss, random or of a short queue, and says of how many the error bar
// has the truth in it.
func WriteLoss(w io.Writer, runs []Run) (covered, all int) {
	for _, r := range runs {
		if r.Way.Clear() {
			continue
		}
		for _, f := range r.Fetches {
			word := "outside"
			if all++; f.covered() {
				covered++
				word = "covered"
			}
			fmt.Fprintf(w, "%34v %6s %5v %7s  predicted %8s ± %s, took %8s ms: %s\n", f.Way, f.Way.Control, f.State,
				amount(f.Bytes), ms(f.Predicted), ms(f.Bar), ms(f.Actual), word)
		}
	}
	return covered, all
}

// amount is a size as people write it.
func amount(n int64) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d kB", n/1000)
}

// WriteCSV writes every fetch, one a line.
func WriteCSV(w io.Writer, runs []Run) {
	fmt.Fprintln(w, "control,rtt_seconds,rate_bits_per_second,loss,state,bytes,actual_seconds,predicted_seconds,error_bar_seconds,first_byte_seconds")
	for _, r := range runs {
		for _, f := range r.Fetches {
			fmt.Fprintf(w, "%s,%g,%g,%g,%v,%d,%.6f,%.6f,%.6f,%.6f\n", f.Way.Control, f.Way.RTT.Seconds(), float64(f.Way.Rate), f.Way.Loss,
				f.State, f.Bytes, f.Actual.Seconds(), f.Predicted.Seconds(), f.Bar.Seconds(), f.First.Seconds())
		}
	}
}

// Select keeps the ways whose name contains a text, of at most a rate.
func Select(ways []Way, name string, most lab.BitRate) (out []Way) {
	for _, w := range ways {
		if strings.Contains(w.String(), name) && (most == 0 || w.Rate <= most) {
			out = append(out, w)
		}
	}
	return out
}
