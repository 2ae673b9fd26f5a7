package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/assay-mux/assay/cmd/demo-node/internal/units"
	"github.com/assay-mux/assay/internal/lab"
)

var errRate = errors.New("a rate is a number and kbit, Mbit or Gbit, as in 50Mbit, from 100kbit to 10Gbit")

// rate is a rate on the command line.
type rate lab.BitRate

// UnmarshalText reads 50Mbit, 0.5 gbit or 800kbit/s.
func (r *rate) UnmarshalText(text []byte) error {
	v, unit, ok := units.Split(strings.TrimSuffix(string(text), "/s"))
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
	got, err := units.Bytes(string(text))
	if err != nil {
		return err
	}
	*s = size(got)
	return nil
}

// window checks a stream's receive window, in bytes.
func window(s size) (uint32, error) {
	if s < 256<<10 || s > 1<<30 {
		return 0, usageError{fmt.Errorf("--window is %d bytes, it must be from 256KiB, yamux's least, to 1GiB", int64(s))}
	}
	return uint32(s), nil
}
