package speedreport

import (
	"fmt"
	"math"
	"unicode"
)

// rate shows bytes per second as bits, in the unit that fits.
func rate(bytesPerSecond float64) string {
	bits := bytesPerSecond * 8
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "Tbit/s"}, {1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if math.Abs(bits) >= u.size {
			return digits(bits/u.size) + " " + u.name
		}
	}
	return digits(bits) + " bit/s"
}

// digits shows three of a number, or all before its point and one.
func digits(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%#.3g", v)
}

// size shows bytes.
func size(bytes float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if bytes >= u.size {
			return digits(bytes/u.size) + " " + u.name
		}
	}
	return fmt.Sprintf("%.0f B", bytes)
}

// percent shows a ratio, signed. What is far beyond is a multiple sooner than a percentage.
func percent(ratio float64) string {
	if math.Abs(ratio) >= 100 {
		return fmt.Sprintf("%+.0f %%", ratio*100)
	}
	return fmt.Sprintf("%+.1f %%", ratio*100)
}

// share shows a part of a whole.
func share(ratio float64) string { return fmt.Sprintf("%.1f %%", ratio*100) }

// span shows seconds.
func span(seconds float64) string {
	switch {
	case seconds >= 48*3600:
		return fmt.Sprintf("%.1f days", seconds/86400)
	case seconds >= 2*3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	case seconds >= 120:
		return fmt.Sprintf("%.1f min", seconds/60)
	}
	return fmt.Sprintf("%.0f s", seconds)
}

// count shows a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// longest bounds what a peer's own text takes of a line.
const longest = 48

// tame makes a text that a peer chose harmless to a terminal and to a table.
func tame(text string) string {
	runes := []rune(text)
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = '?'
		}
	}
	if len(runes) > longest {
		runes = append(runes[:longest-1], '\u2026')
	}
	return string(runes)
}
