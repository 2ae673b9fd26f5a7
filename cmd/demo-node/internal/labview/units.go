package labview

import (
	"fmt"
	"time"
)

// clock is a time since the start: 0:07.3.
func clock(d time.Duration) string {
	d = d.Round(100 * time.Millisecond)
	return fmt.Sprintf("%d:%04.1f", d/time.Minute, (d % time.Minute).Seconds())
}

func seconds(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func millis(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func bits(rate float64) string {
	if rate < 1e6 {
		return fmt.Sprintf("%.0f kbit/s", rate/1e3)
	}
	return fmt.Sprintf("%.1f Mbit/s", rate/1e6)
}

func amount(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.4g MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.4g kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
