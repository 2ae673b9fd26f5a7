package speed

import (
	"fmt"

	"github.com/assay-mux/assay/bench/stats"
)

// A Bar is what the ratio of a mode to bare has to reach.
type Bar struct {
	// Median is the least the median ratio may be, or the most if the readings
	// are times.
	Median float64 `json:"median"`
	// Bound, if not 0, is what the median's 95 % bound on the better side must
	// reach: it says that the mode is not shown to be slower.
	Bound float64 `json:"bound,omitempty"`
	Times bool    `json:"times"` // lower is better
}

// both are the bars with both ends wrapped, by workload.
var both = map[string]float64{
	"64 B round trip":   0.70,
	"16 KiB writes":     1.4,
	"64 KiB writes":     1.2,
	"256 KiB writes":    1.4,
	"8 streams x 1 KiB": 1.3,
}

// parity is the bar with one end wrapped: the other end runs nothing of ours,
// so that there is nothing to gain for certain, but nothing may be lost.
const parity = 0.95

// BarFor returns the bar of a mode under a workload. ok is false if none is set.
func BarFor(w Workload, mode string) (bar Bar, ok bool) {
	bar.Times = w.RoundTrip
	switch mode {
	case "both":
		bar.Median, ok = both[w.Name]
		return bar, ok
	case "client", "server":
		bar.Median, bar.Bound = parity, 1
		if bar.Times {
			bar.Median = 1 / parity
		}
		return bar, true
	}
	return Bar{}, false
}

// Passed says whether the ratios clear the bar.
func (b Bar) Passed(ratio stats.Summary) bool {
	if ratio.N == 0 {
		return false
	}
	if b.Times {
		return ratio.Median <= b.Median && (b.Bound == 0 || ratio.Lower95 <= b.Bound)
	}
	return ratio.Median >= b.Median && (b.Bound == 0 || ratio.Upper95 >= b.Bound)
}

// String is the bar for people.
func (b Bar) String() string {
	sign := ">="
	if b.Times {
		sign = "<="
	}
	if b.Bound == 0 {
		return fmt.Sprintf("%s %.2f", sign, b.Median)
	}
	return fmt.Sprintf("%s %.2f, bound %s %g", sign, b.Median, sign, b.Bound)
}
