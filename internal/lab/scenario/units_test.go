package scenario

import (
	"testing"
	"time"
)

func TestUnits(t *testing.T) {
	sizes := map[string]Size{"0B": 0, "64B": 64, "512kB": 512e3, "1.5MB": 1.5e6, "16KiB": 16 << 10, "4MiB": 4 << 20, "1GB": 1e9, "1GiB": 1 << 30, "2 kB": 2e3}
	for text, want := range sizes {
		if got, err := ParseSize(text); got != want || err != nil {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for v, want := range map[Size]string{0: "0B", 64: "64B", 1e6: "1MB", 1.5e6: "1500kB", 1 << 20: "1MiB", 256 << 10: "256KiB", 262139: "262139B", 2e9: "2GB"} {
		if got := v.String(); got != want {
			t.Errorf("%d is written %s, want %s", int64(v), got, want)
		}
		if back, err := ParseSize(v.String()); back != v || err != nil {
			t.Errorf("%s reads %d, %v", v, back, err)
		}
	}
	rates := map[string]Rate{
		"20Mbit/s": 20e6, "1.5kbit/s": 1500, "1Gbit/s": 1e9, "1bit/s": 1, "200kB/s": 1.6e6, "1MB/s": 8e6,
		"1B/s": 8, "1KiB/s": 8 << 10, "1MiB/s": 8 << 20, "1GB/s": 8e9,
	}
	for text, want := range rates {
		if got, err := ParseRate(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]Share{"30%": 0.3, "0.5": 0.5, "150%": 1.5, "0": 0} {
		if got, err := ParseShare(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "kB", "1", "-1kB", "1e99GB", "NaNkB", "1TB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is a size of %d", text, got)
		}
	}
	for _, text := range []string{"", "%", "-1%", "Inf", "NaN", "1e999"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q is a share of %v", text, got)
		}
	}
}

func TestSpan(t *testing.T) {
	s, err := ParseSpan("200ms..2s")
	if err != nil {
		t.Fatal(err)
	}
	for u, want := range map[float64]time.Duration{0: 200 * time.Millisecond, 0.5: 1100 * time.Millisecond, 1: 2 * time.Second} {
		if got := s.At(u); got != want {
			t.Errorf("at %v it is %v, want %v", u, got, want)
		}
	}
	if one, err := ParseSpan("1s"); err != nil || one.At(0.7) != time.Second {
		t.Error(one, err)
	}
}

func TestPoint(t *testing.T) {
	for text, want := range map[string]int64{"1kB": 1000, "50%": 2000, "99.9%": 3996, "0B": 0, "1MB": 4000, "100%": 4000} {
		p, err := ParsePoint(text)
		if got := p.Of(4000); got != want || err != nil {
			t.Errorf("%s of 4000: %d, %v", text, got, err)
		}
	}
}

func TestValue(t *testing.T) {
	for text, want := range map[string]Value{
		"5%": {0.05, "5%", true}, "250ms": {0.25, "250ms", true}, "1MB": {1e6, "1MB", true}, "1Mbit/s": {1e6, "1Mbit/s", true},
		"3": {3, "3", true}, "-1": {-1, "-1", true}, "true": {0, "true", false}, "clear": {0, "clear", false},
	} {
		got, err := parseValue(text)
		if got != want || err != nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if s := (Value{Number: 0.05, IsNumber: true, Text: "5%"}).String(); s != "0.05" {
		t.Error(s)
	}
	if s := (Value{Text: "clear"}).String(); s != "clear" {
		t.Error(s)
	}
}

// FuzzParse: whatever a file says, it is taken or refused, and what is taken is
// within bounds.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(whole))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
		if s.Workload.Parallel < 1 || s.Node.Window <= 0 {
			t.Errorf("%+v", s)
		}
	})
}
