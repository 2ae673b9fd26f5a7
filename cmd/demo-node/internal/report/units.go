package report

import "fmt"

// Decimal is a size as file managers show it: 12 MB.
func Decimal(n int64) string {
	switch {
	case n >= 10e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

// Binary is a size as windows are set: 256 KiB.
func Binary(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// ms shows seconds as milliseconds; they may be unknown.
func ms(s *float64) string {
	switch {
	case s == nil:
		return "-"
	case *s < 10e-3:
		return fmt.Sprintf("%.3g ms", *s*1e3)
	}
	return fmt.Sprintf("%.1f ms", *s*1e3)
}

func sec(s float64) string { return fmt.Sprintf("%.2f s", s) }

// number shows a value that may be unknown.
func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}

// percent shows an error in brackets, or nothing.
func percent(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(" (%+.1f %%)", *v)
}
