// Package units reads numbers with a unit, as people type them on a command
// line. Pure.
package units

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ErrSize says that a text is no size.
var ErrSize = errors.New("a size is a number and B, kB, MB, GB, KiB, MiB or GiB, as in 16MiB")

// Split divides a text into a number that is not negative and a unit in lower
// case; false if it does not begin with a number.
func Split(text string) (v float64, unit string, ok bool) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(text)
	}
	v, err := strconv.ParseFloat(text[:end], 64)
	return v, strings.ToLower(strings.TrimSpace(text[end:])), err == nil && !math.IsInf(v, 0)
}

// Bytes reads a size: 16MiB, 12 MB or 262144. The error is ErrSize.
func Bytes(text string) (int64, error) {
	v, unit, ok := Split(text)
	scale, known := map[string]float64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}[unit]
	got := math.Round(v * scale)
	if !ok || !known || got >= 1<<62 {
		return 0, ErrSize
	}
	return int64(got), nil
}
