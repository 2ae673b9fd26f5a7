package plots

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

// TestContrast: texts and marks can be read in the light and in the dark, by WCAG
// 2's 4.5 for text and 3 for the rest. What is only a help may be faint.
func TestContrast(t *testing.T) {
	for name, c := range map[string]struct {
		of    paint
		least float64
	}{
		"ink": {ink, 7}, "soft": {soft, 4.5}, "passed": {passed, 4.5}, "failed": {failed, 4.5}, "foretold": {foretold, 7},
		"honest": {honest, 3}, "bad": {bad, 3}, "trial": {trial, 3}, "copied": {copied, 3}, "hedge": {hedge, 3}, "limit": {limit, 3},
	} {
		for _, behind := range []paint{paper, before, held} {
			if got := contrast(c.of.light, behind.light); got < c.least {
				t.Errorf("%s on %s: a contrast of %.1f, less than %g", name, behind.hex(), got, c.least)
			}
			if got := contrast(parse(t, c.of.dark), parse(t, behind.dark)); got < c.least {
				t.Errorf("%s on %s, in the dark: a contrast of %.1f, less than %g", name, behind.dark, got, c.least)
			}
		}
	}
}

// TestColoursAreDistinct: each stands for one thing, and honest and bad differ for
// those who do not see red, or green.
func TestColoursAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range paints {
		if seen[p.hex()] {
			t.Errorf("%s stands for two things", p.hex())
		}
		seen[p.hex()] = true
	}
	// Viénot, Brettel and Mollon (1999): what protanopes and deuteranopes see, in linear RGB.
	for name, m := range map[string][3][3]float64{
		"no red":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"no green": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
	} {
		for _, pair := range [][2]color.NRGBA{{honest.light, bad.light}, {parse(t, honest.dark), parse(t, bad.dark)}} {
			far := 0.0
			a, b := linear(pair[0]), linear(pair[1])
			for _, row := range m {
				d := 0.0
				for k := range row {
					d += row[k] * (a[k] - b[k])
				}
				far += d * d
			}
			if far = math.Sqrt(far); far < 0.25 {
				t.Errorf("%s: %v are %.2f apart", name, pair, far)
			}
		}
	}
}

func parse(t *testing.T, hex string) color.NRGBA {
	t.Helper()
	var v uint32
	if _, err := fmt.Sscanf(hex, "#%06x", &v); err != nil {
		t.Fatalf("%s: %v", hex, err)
	}
	return rgb(v)
}

func linear(c color.NRGBA) [3]float64 {
	var out [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		if x := float64(v) / 255; x <= 0.04045 {
			out[i] = x / 12.92
		} else {
			out[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return out
}

func contrast(a, b color.NRGBA) float64 {
	light := func(c color.NRGBA) float64 { l := linear(c); return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }
	return (max(light(a), light(b)) + 0.05) / (min(light(a), light(b)) + 0.05)
}
