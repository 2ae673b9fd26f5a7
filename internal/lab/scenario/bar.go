package scenario

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Bar is an assertion over the result document.
type Bar struct {
	// Path leads to one value of the document, or several: names with dots between.
	// In a list a name is that of an element; * stands for any part of a name.
	Path string `yaml:"path"`
	// Over says what is done with several: each (unless given), sum, max, min, mean
	// or any.
	Over string `yaml:"over"`

	// What the value must be: one or two of them.
	Is      *Value `yaml:"is"`
	Not     *Value `yaml:"not"`
	AtMost  *Value `yaml:"at_most"`
	AtLeast *Value `yaml:"at_least"`
	Below   *Value `yaml:"below"`
	Above   *Value `yaml:"above"`

	// Of is a path to a number that the bounds are multiples of.
	Of string `yaml:"of"`

	// Why is the reason, for whoever sees it fail.
	Why string `yaml:"why"`
}

// Value is a bound: a number, which may have a unit (5%, 250ms in seconds, 1MB
// in bytes, 20Mbit/s in bits per second), or a text.
type Value struct {
	Number   float64
	Text     string
	IsNumber bool
}

// String returns it as it may be written.
func (v Value) String() string {
	if v.IsNumber {
		return strconv.FormatFloat(v.Number, 'g', 6, 64)
	}
	return v.Text
}

// UnmarshalYAML reads a bound.
func (v *Value) UnmarshalYAML(n ast.Node) error { return scalar(n, v, parseValue) }

// parseValue never fails: what is no number is a text.
func parseValue(s string) (Value, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return Value{Number: f, IsNumber: true, Text: s}, nil
	}
	if strings.HasSuffix(s, "%") {
		if f, err := ParseShare(s); err == nil {
			return Value{Number: float64(f), IsNumber: true, Text: s}, nil
		}
	}
	if t, err := ParseTime(s); err == nil {
		return Value{Number: t.Seconds(), IsNumber: true, Text: s}, nil
	}
	if b, err := ParseSize(s); err == nil {
		return Value{Number: float64(b), IsNumber: true, Text: s}, nil
	}
	if r, err := ParseRate(s); err == nil {
		return Value{Number: float64(r), IsNumber: true, Text: s}, nil
	}
	return Value{Text: s}, nil
}
