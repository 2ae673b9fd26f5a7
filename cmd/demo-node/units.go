package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/assay-mux/assay/internal/lab"
)

// Errors of flags with units.
var (
	errRate = errors.New("a rate is a number and kbit, Mbit or Gbit, as in 50Mbit, from 100kbit to 10Gbit")
	errSize = errors.New("a size is a number and B, kB, MB, GB, KiB, MiB or GiB, as in 16MiB")
)

// rate is a rate on the command line.
type rate lab.BitRate

// UnmarshalText reads 50Mbit, 0.5 gbit or 800kbit/s.
func (r *rate) UnmarshalText(text []byte) error {
	v, unit, ok := split(strings.TrimSuffix(string(text), "/s"))
	scale, known := map[string]lab.BitRate{"kbit": lab.Kbit, "mbit": lab.Mbit, "gbit": lab.Gbit}[unit]
	got := lab.BitRate(v) * scale
	if !ok || !known || got < 100*lab.Kbit || got > 10*lab.Gbit {
		return errRate
	}
	*r = rate(got)
	return nil
}

// size is a count of bytes on the command line.
type size int64

// UnmarshalText reads 16MiB, 12 MB or 262144.
func (s *size) UnmarshalText(text []byte) error {
	v, unit, ok := split(string(text))
	scale, known := map[string]float64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}[unit]
	got := math.Round(v * scale)
	if !ok || !known || got >= 1<<62 {
		return errSize
	}
	*s = size(got)
	return nil
}

// split divides a text into a number that is not negative and a unit in lower
// case.
func split(text string) (v float64, unit string, ok bool) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(text)
	}
	v, err := strconv.ParseFloat(text[:end], 64)
	return v, strings.ToLower(strings.TrimSpace(text[end:])), err == nil && !math.IsInf(v, 0)
}

// window checks a stream's receive window, in bytes.
func window(s size) (uint32, error) {
	if s < 256<<10 || s > 1<<30 {
		return 0, usageError{fmt.Errorf("--window is %d bytes, it must be from 256KiB, yamux's least, to 1GiB", int64(s))}
	}
	return uint32(s), nil
}
