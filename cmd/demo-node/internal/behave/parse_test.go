package behave

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	tests := map[string]Behaviour{
		"":                           {},
		"pace=50kB/1.05s":            {Pace: Pace{50e3, 1050 * ms}},
		"pad=250kB/s:1MB-":           {Pad: Pad{Rate: 250e3, From: 1e6}},
		"pad=250kB/s:0-512KiB":       {Pad: Pad{Rate: 250e3, To: 512 << 10}},
		"drip=10kB/s":                {Drip: 10e3},
		"disk=1MB/s":                 {Disk: 1e6},
		"delay=500ms":                {Delay: 500 * ms},
		"hold=200ms":                 {Hold: 200 * ms},
		"understate=4":               {Understate: 4},
		"understate=1.5":             {Understate: 1.5},
		"vanish=100kB":               {Vanish: 100e3},
		"delay=1s, hold=1s,drip=1/s": {Delay: time.Second, Hold: time.Second, Drip: 1},
	}
	for text, want := range tests {
		var parts []string
		if text != "" {
			parts = strings.Split(text, ",")
		}
		if got, err := Parse(parts...); got != want || err != nil {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// TestParseRefuses: the error names what is wrong, or what it should look like.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"pase=1":            "there are pace, pad, drip, disk, delay, hold, understate, vanish",
		"":                  "there are pace",
		"pace":              "write pace=50kB/1.05s",
		"pace=50kB":         "write pace=",
		"pace=/1s":          "write pace=",
		"pace=0/1s":         "write pace=",
		"pace=50kB/1":       "write pace=",
		"pace=50kB/-1s":     "write pace=",
		"pad=1kB/s":         "write pad=",
		"pad=1kB/s:1MB":     "write pad=",
		"pad=1kB:1MB-":      "write pad=",
		"pad=1kB/s:-1MB":    "write pad=",
		"pad=1kB/s:2MB-1MB": "write pad=",
		"pad=1kB/s:1MB-0":   "write pad=",
		"drip=10kB":         "write drip=10kB/s",
		"drip=0/s":          "write drip=",
		"disk=-1/s":         "write disk=",
		"delay=5":           "write delay=500ms",
		"delay=2h":          "write delay=",
		"hold=0s":           "write hold=",
		"understate=1":      "write understate=4",
		"understate=NaN":    "write understate=",
		"understate=Inf":    "write understate=",
		"vanish=0":          "write vanish=",
		"drip=1/s,drip=2/s": "given twice",
	} {
		got, err := Parse(strings.Split(text, ",")...)
		if !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), want) || got != (Behaviour{}) {
			t.Errorf("%q: %+v, %v; want an error with %q", text, got, err, want)
		}
	}
}

// FuzzParse: what is accepted can be carried out.
func FuzzParse(f *testing.F) {
	for _, form := range forms() {
		example, _, _ := strings.Cut(form.example, " ")
		f.Add(example)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Parse(text)
		if err != nil {
			return
		}
		if b == (Behaviour{}) {
			t.Errorf("%q is accepted and does nothing", text)
		}
		if at, n := b.next(1e6, 0); at < 0 || n < 0 || b.Takes(1e6) < 0 {
			t.Errorf("%q: %d bytes at %v, %v in all", text, n, at, b.Takes(1e6))
		}
	})
}

// TestExamples: what the errors tell to write is right.
func TestExamples(t *testing.T) {
	for _, form := range forms() {
		example, _, _ := strings.Cut(form.example, " ")
		if b, err := Parse(example); err != nil || b == (Behaviour{}) {
			t.Errorf("%s: %+v, %v", example, b, err)
		}
	}
}
