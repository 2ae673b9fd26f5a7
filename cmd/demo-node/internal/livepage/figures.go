package livepage

import (
	"math"
	"time"
)

// brief rounds to five digits, which is more than anyone reads and half of what
// JSON would spend. What is no number becomes 0, which stands for unknown.
func brief(x float64) float64 {
	switch {
	case x == 0, math.IsNaN(x), math.IsInf(x, 0):
		return 0
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(x))))
	if y := math.Round(x*scale) / scale; !math.IsNaN(y) && !math.IsInf(y, 0) {
		return y
	}
	return 0
}

// seconds are those of a duration.
func seconds(d time.Duration) float64 { return brief(d.Seconds()) }
