package plots

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// mostLanes is how many lanes there are room for. With more peers, those of one
// entry of the file share a lane.
const mostLanes = 24

// ourselves is the lane of what is said of no peer.
const ourselves = "our node"

// lane is what happened to one peer, or to several of a kind.
type lane struct {
	name  string
	bad   bool
	peers int
	asked []*engine.TransferRecord
	flags []flagged
}

// flagged is that something was said of a peer.
type flagged struct {
	at   float64
	text string
}

// ordinal is what the file's count adds to a name, and a new identity's mark.
var ordinal = regexp.MustCompile(`(-[0-9]+)?(~[0-9]+)?$`)

// lanes sorts a run by peers, in the order of the file.
func lanes(r *engine.Result) []*lane {
	name := lanesOf(r)
	var all []*lane
	byName := map[string]*lane{}
	find := func(peer string) *lane {
		l, ok := byName[name(peer)]
		if !ok {
			l = &lane{name: name(peer)}
			byName[l.name] = l
			all = append(all, l)
		}
		return l
	}
	for _, e := range r.Events {
		if e.Peer == "" {
			find(ourselves) // before the others
			break
		}
	}
	for _, p := range r.Peers {
		l := find(p.Name)
		l.peers++
		l.bad = l.bad || p.Bad
	}
	for _, t := range r.Transfers {
		l := find(t.Peer)
		l.asked = append(l.asked, t)
	}
	for _, e := range r.Events {
		if text, ok := say(e); ok {
			l := find(cmp.Or(e.Peer, ourselves))
			l.flags = append(l.flags, flagged{e.At, text})
		}
	}
	for _, l := range all {
		l.flags = once(l.flags)
	}
	return fewer(all)
}

// lanesOf says which lane a peer has. Where there are more peers than lanes, those
// of one entry of the file have one together, the largest entries first.
func lanesOf(r *engine.Result) func(peer string) string {
	families := map[string]int{}
	family := func(peer string) string { return ordinal.ReplaceAllString(peer, "") }
	for _, p := range r.Peers {
		families[family(p.Name)]++
	}
	names := slices.SortedFunc(maps.Keys(families), func(a, b string) int {
		return cmp.Or(cmp.Compare(families[b], families[a]), cmp.Compare(a, b))
	})
	joined := map[string]bool{}
	for n := len(r.Peers); n > mostLanes-1 && len(names) > 0; names = names[1:] {
		joined[names[0]] = true
		n -= families[names[0]] - 1
	}
	return func(peer string) string {
		if f := family(peer); joined[f] {
			return f
		}
		return peer
	}
}

// say is an event as a flag has it; false for those that other marks show.
func say(e engine.EventRecord) (string, bool) {
	switch e.Kind {
	case "verdict_changed":
		return verdict(e.Verdict), true
	case "demoted", "redeemed", "churned":
		return e.Kind, true
	case "drop_now":
		return "to drop", true
	case "hedged":
		return "", false
	}
	return words(e.Kind), true
}

func words(label string) string { return strings.ReplaceAll(label, "_", " ") }

// verdict is what was found, in words.
func verdict(v string) string {
	if v = words(v); v == "clear" {
		return "cleared"
	}
	return v
}

// once keeps the first of what is said again and again; how often is in its text.
func once(all []flagged) []flagged {
	counts := map[string]int{}
	for _, f := range all {
		counts[f.text]++
	}
	var out []flagged
	for _, f := range all {
		switch n := counts[f.text]; {
		case n > 2:
			out = append(out, flagged{f.at, fmt.Sprintf("%s (%d times)", f.text, n)})
			counts[f.text] = -1
		case n > 0:
			out = append(out, f)
		}
	}
	return out
}

// fewer joins lanes where there are more than fit: adversaries and whoever has
// flags keep theirs, as long as they fit.
func fewer(all []*lane) []*lane {
	if len(all) <= mostLanes {
		return all
	}
	dull := slices.Clone(all)
	slices.SortStableFunc(dull, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(len(a.asked), len(b.asked)))
	})
	rest := &lane{}
	for _, l := range dull[:len(all)-mostLanes+1] {
		rest.peers += l.peers
		rest.bad = rest.bad || l.bad
		rest.asked = append(rest.asked, l.asked...)
		rest.flags = append(rest.flags, l.flags...)
		all = slices.DeleteFunc(all, func(k *lane) bool { return k == l })
	}
	slices.SortStableFunc(rest.flags, func(a, b flagged) int { return cmp.Compare(a.at, b.at) })
	rest.flags = once(rest.flags)
	rest.name = "others"
	return append(all, rest)
}

func weight(l *lane) int {
	switch {
	case l.bad:
		return 2
	case len(l.flags) > 0:
		return 1
	}
	return 0
}

// label is the lane's name on the axis.
func (l *lane) label() string {
	text := l.name
	if r := []rune(text); len(r) > 22 {
		text = string(r[:21]) + "…"
	}
	if l.peers > 1 {
		text += fmt.Sprintf(" (%d)", l.peers)
	}
	if l.bad {
		text += " (bad)"
	}
	return text
}
