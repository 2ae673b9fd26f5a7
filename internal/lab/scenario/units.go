package scenario

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Size is a number of bytes: "512kB" (decimal), "16KiB" (binary), "64B".
type Size int64

// Rate is a rate in bits per second: "20Mbit/s", "200kB/s" (of 8 bits a byte).
type Rate float64

// Share is a part of a whole: "30%", or a bare number from 0 on.
type Share float64

// Span is a time, or one drawn evenly from a range: "500ms", "200ms..2s".
type Span struct{ From, To time.Duration }

// Time is a length of time: "1.05s".
type Time time.Duration

// Point is a place in a datum: so many bytes into it ("1MB"), or a share of it
// ("99.9%").
type Point struct {
	Bytes Size
	Share Share
}

// Of is the place in bytes in a datum of n.
func (p Point) Of(n int64) int64 {
	return min(n, max(int64(p.Bytes), int64(float64(p.Share)*float64(n))))
}

// Seconds is the time in seconds.
func (t Time) Seconds() float64 { return time.Duration(t).Seconds() }

// At is the place u of a range, 0 to 1 from its beginning to its end.
func (s Span) At(u float64) time.Duration {
	return s.From + time.Duration(u*float64(s.To-s.From))
}

// BytesPerSecond is the rate in bytes.
func (r Rate) BytesPerSecond() float64 { return float64(r) / 8 }

// longest bounds times: a scenario is of minutes or hours, and what is more is
// a slip of the keyboard.
const longest = 1000 * time.Hour

// The units, the longer of two that end alike first.
var (
	sizeUnits = []unit{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}
	rateUnits = []unit{
		{"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}, {"bit/s", 1},
		{"KiB/s", 8 << 10}, {"MiB/s", 8 << 20}, {"kB/s", 8e3}, {"MB/s", 8e6}, {"GB/s", 8e9}, {"B/s", 8},
	}
)

type unit struct {
	name  string
	times float64
}

// number parses a number with one of the units.
func number(s string, units []unit) (float64, bool) {
	for _, u := range units {
		if digits, ok := strings.CutSuffix(s, u.name); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
			v *= u.times
			return v, err == nil && v >= 0 && v < 1<<53
		}
	}
	return 0, false
}

// ParseSize reads a size.
func ParseSize(s string) (Size, error) {
	v, ok := number(s, sizeUnits)
	if !ok {
		return 0, fmt.Errorf("%q is no size, write 512kB or 16KiB", s)
	}
	return Size(math.Round(v)), nil
}

// String is the size as it may be written, in the largest unit of which it is a whole
// number, so that it has no dot.
func (v Size) String() string {
	best := unit{"B", 1}
	for _, u := range sizeUnits {
		if n := int64(u.times); v > 0 && int64(v)%n == 0 && u.times > best.times {
			best = u
		}
	}
	return fmt.Sprintf("%d%s", int64(v)/int64(best.times), best.name)
}

// ParseRate reads a rate.
func ParseRate(s string) (Rate, error) {
	v, ok := number(s, rateUnits)
	if !ok {
		return 0, fmt.Errorf("%q is no rate, write 20Mbit/s or 200kB/s", s)
	}
	return Rate(v), nil
}

// ParseShare reads a share.
func ParseShare(s string) (Share, error) {
	digits, percent := strings.CutSuffix(s, "%")
	if digits = strings.TrimSpace(digits); percent {
		digits += "e-2" // exact, where a division is not
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("%q is no share, write 30%%", s)
	}
	return Share(v), nil
}

// ParseTime reads a time.
func ParseTime(s string) (Time, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > longest {
		return 0, fmt.Errorf("%q is no time, write 50ms or 1.05s", s)
	}
	return Time(d), nil
}

// ParseSpan reads a time or a range of times.
func ParseSpan(s string) (Span, error) {
	from, to, ranged := strings.Cut(s, "..")
	a, err1 := ParseTime(from)
	b := a
	var err2 error
	if ranged {
		b, err2 = ParseTime(to)
	}
	if err1 != nil || err2 != nil || b < a {
		return Span{}, fmt.Errorf("%q is no time and no range, write 500ms or 200ms..2s", s)
	}
	return Span{time.Duration(a), time.Duration(b)}, nil
}

// ParsePoint reads a place in a datum.
func ParsePoint(s string) (Point, error) {
	if strings.HasSuffix(s, "%") {
		v, err := ParseShare(s)
		if err != nil || v > 1 {
			return Point{}, fmt.Errorf("%q is no place in a datum, write 1MB or 99.9%%", s)
		}
		return Point{Share: v}, nil
	}
	v, err := ParseSize(s)
	if err != nil {
		return Point{}, fmt.Errorf("%q is no place in a datum, write 1MB or 99.9%%", s)
	}
	return Point{Bytes: v}, nil
}

// UnmarshalYAML reads a size.
func (v *Size) UnmarshalYAML(n ast.Node) error { return scalar(n, v, ParseSize) }

// UnmarshalYAML reads a rate.
func (r *Rate) UnmarshalYAML(n ast.Node) error { return scalar(n, r, ParseRate) }

// UnmarshalYAML reads a share.
func (v *Share) UnmarshalYAML(n ast.Node) error { return scalar(n, v, ParseShare) }

// UnmarshalYAML reads a time.
func (t *Time) UnmarshalYAML(n ast.Node) error { return scalar(n, t, ParseTime) }

// UnmarshalYAML reads a time or a range.
func (s *Span) UnmarshalYAML(n ast.Node) error { return scalar(n, s, ParseSpan) }

// UnmarshalYAML reads a place in a datum.
func (p *Point) UnmarshalYAML(n ast.Node) error { return scalar(n, p, ParsePoint) }

var errNoScalar = errors.New("a single value is wanted here")

// scalar parses the text of a node, and says at which line it can't.
func scalar[T any](n ast.Node, v *T, parse func(string) (T, error)) error {
	text, ok := textOf(n)
	if !ok {
		return at(n, errNoScalar)
	}
	got, err := parse(text)
	if err != nil {
		return at(n, err)
	}
	*v = got
	return nil
}

// textOf is the text of a scalar, without quotes.
func textOf(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case ast.ScalarNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// at puts the line of a node before an error.
func at(n ast.Node, err error) error {
	return fmt.Errorf("line %d: %w", n.GetToken().Position.Line, err)
}
