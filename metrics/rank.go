package metrics

import (
	"cmp"
	"slices"
	"strings"
)

// list is the peers of one scrape, best first.
type list []*Peer

// rank orders the peers: as they come if they are ranked, else by estimated
// rate, unknown ones last, then by name, then as they come. The same peers
// always give the same order.
func rank(peers []Peer, ranked bool) list {
	best := make(list, len(peers))
	for i := range peers {
		best[i] = &peers[i]
	}
	if ranked {
		return best
	}
	slices.SortStableFunc(best, func(a, b *Peer) int {
		return cmp.Or(
			cmp.Compare(b.rate(), a.rate()),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return best
}

func (p *Peer) rate() float64 { return p.Snapshot.Estimate.Rate.BytesPerSecond() }

// first is the first k of the list, or all there are.
func (l list) first(k int) list { return l[:min(k, len(l))] }

// named picks the first connection of each of the first k names, and counts
// the names that it left out; a connection without a name counts as one.
func (l list) named(k int) (shown list, omitted int) {
	seen := make(map[string]bool, len(l))
	for _, p := range l {
		name := label(p.Name)
		if seen[name] && name != "" {
			continue
		}
		seen[name] = true
		if name == "" || len(shown) == k {
			omitted++
			continue
		}
		shown = append(shown, p)
	}
	return shown, omitted
}

// label makes a name fit to be a label, which has to be UTF-8.
func label(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }
