package behave

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/units"
)

// ErrSyntax is what Parse returns; the text after it says which part is wrong,
// and what it should look like.
var ErrSyntax = errors.New("no such behaviour")

// form is a behaviour as it is typed, and what it does.
type form struct {
	name, example, does string
	parse               func(*Behaviour, string) bool
}

// longest is the longest time that may be asked for: what takes longer looks
// like a node that hangs.
const longest = time.Minute

func forms() []form {
	return []form{
		{"pace", "pace=50kB/1.05s", "serves a burst of 50 kB each 1.05 s", func(b *Behaviour, s string) (ok bool) {
			bytes, every, found := strings.Cut(s, "/")
			var okBytes, okEvery bool
			b.Pace.Bytes, okBytes = bytesOf(bytes)
			b.Pace.Every, okEvery = timeOf(every)
			return found && okBytes && okEvery
		}},
		{"pad", "pad=250kB/s:1MB-", "serves data of 1 MB and more at 250 kB/s, all else fast; also :0-1MB", parsePad},
		{"drip", "drip=10kB/s", "serves all at that rate: just enough to look alive", func(b *Behaviour, s string) (ok bool) { b.Drip, ok = rateOf(s); return ok }},
		{"disk", "disk=1MB/s", "serves from a disk that slow, as an honest node may", func(b *Behaviour, s string) (ok bool) { b.Disk, ok = rateOf(s); return ok }},
		{"delay", "delay=500ms", "waits so long before the first byte", func(b *Behaviour, s string) (ok bool) { b.Delay, ok = timeOf(s); return ok }},
		{"hold", "hold=200ms", "keeps each echo back for so long, to seem farther away", func(b *Behaviour, s string) (ok bool) { b.Hold, ok = timeOf(s); return ok }},
		{"understate", "understate=4", "advertises sizes as a quarter of what they are", func(b *Behaviour, s string) bool {
			v, err := strconv.ParseFloat(s, 64)
			b.Understate = v
			return err == nil && v > 1 && v <= 1e6
		}},
		{"vanish", "vanish=100kB", "closes the connection after so much of a reply", func(b *Behaviour, s string) (ok bool) { b.Vanish, ok = bytesOf(s); return ok }},
	}
}

// Help is a line on each behaviour: how it is typed, and what it does.
func Help() string {
	var lines []string
	for _, f := range forms() {
		lines = append(lines, fmt.Sprintf("%-17s %s", f.example, f.does))
	}
	return strings.Join(lines, "\n")
}

// Parse reads behaviours, each a name, = and its parameters. Each may be given
// once. The error is ErrSyntax.
func Parse(texts ...string) (Behaviour, error) {
	var b Behaviour
	seen := make(map[string]bool)
	for _, text := range texts {
		name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
		f, ok := find(name)
		switch {
		case !ok:
			return Behaviour{}, fmt.Errorf("%w: %q, there are %s", ErrSyntax, text, names())
		case seen[name]:
			return Behaviour{}, fmt.Errorf("%w: %s is given twice", ErrSyntax, name)
		case !f.parse(&b, value):
			return Behaviour{}, fmt.Errorf("%w: %q, write %s, which %s", ErrSyntax, text, f.example, f.does)
		}
		seen[name] = true
	}
	return b, nil
}

func find(name string) (form, bool) {
	for _, f := range forms() {
		if f.name == name {
			return f, true
		}
	}
	return form{}, false
}

func names() string {
	var all []string
	for _, f := range forms() {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

func parsePad(b *Behaviour, s string) bool {
	rate, sizes, found := strings.Cut(s, ":")
	from, to, ranged := strings.Cut(sizes, "-")
	var ok bool
	if b.Pad.Rate, ok = rateOf(rate); !ok || !found || !ranged {
		return false
	}
	var err error
	if b.Pad.From, err = units.Bytes(from); err != nil {
		return false
	}
	if to == "" {
		return true
	}
	b.Pad.To, ok = bytesOf(to)
	return ok && b.Pad.To >= b.Pad.From
}

func bytesOf(s string) (int64, bool) {
	n, err := units.Bytes(s)
	return n, err == nil && n > 0
}

func rateOf(s string) (Rate, bool) {
	per, ok := strings.CutSuffix(s, "/s")
	n, positive := bytesOf(per)
	return Rate(n), ok && positive
}

func timeOf(s string) (time.Duration, bool) {
	d, err := time.ParseDuration(s)
	return d, err == nil && d > 0 && d <= longest
}
