package units

import "testing"

func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"16MiB": 16 << 20, "12 MB": 12e6, "262144": 262144, "1.5kB": 1500, "0": 0, "7b": 7, "1GiB": 1 << 30, " 2 KiB ": 2048,
		"": -1, "MB": -1, "-1": -1, "5Mbit": -1, "99999999999GiB": -1, "1e3": -1, "1.2.3kB": -1,
	} {
		got, err := Bytes(text)
		if (err == nil) != (want >= 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string]struct {
		v    float64
		unit string
		ok   bool
	}{
		"50Mbit": {50, "mbit", true}, "0.5 X": {0.5, "x", true}, "7": {7, "", true},
		"x": {0, "x", false}, "": {0, "", false}, "..": {0, "", false},
	} {
		if v, unit, ok := Split(text); v != want.v || unit != want.unit || ok != want.ok {
			t.Errorf("%q: %v, %q, %v; want %+v", text, v, unit, ok, want)
		}
	}
}

// FuzzBytes: no text does worse than an error.
func FuzzBytes(f *testing.F) {
	for _, s := range []string{"16MiB", "", "..", "٣MB", "1e999", "0x1p9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := Bytes(text); n < 0 || err != nil && n != 0 {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	})
}
