package ranking

import (
	"cmp"
	"slices"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// usualSamples is how many completions the usual pace rests on. More is steadier where a peer stalls
// often, and follows a path that changes later. With eight, one that stalls in three fetches of ten
// has a usual pace without stalls four times in five.
const usualSamples = 8

// usual is the pace of a peer's usual fetch, in s/B: the median over the bytes of its last
// completions. The mean rate has the silences of every fetch in it, as it must to rank; but who stalls
// in some would talk its own claim down by that, until no stall is beyond it. A stall is held against
// what the peer does in most. The zero value knows of none. It is not saved: a claim without it is
// the mean's, which is never stricter.
type usual struct {
	ring    [usualSamples]paced
	n, next int
}

// paced is one completion.
type paced struct{ slope, bytes float64 }

// add takes in a completion.
func (u *usual) add(c completed) {
	rest := (c.time - c.first).Seconds()
	if rest <= 0 || c.bytes <= 0 {
		return
	}
	u.ring[u.next] = paced{rest / float64(c.bytes), float64(c.bytes)}
	u.next = (u.next + 1) % usualSamples
	u.n = min(u.n+1, usualSamples)
}

// median is looked up where a fetch stalled, which few do; 0 of none.
func (u *usual) median() float64 {
	sorted := u.ring
	s := sorted[:u.n]
	slices.SortFunc(s, func(a, b paced) int { return cmp.Compare(a.slope, b.slope) })
	all, sum := 0.0, 0.0
	for _, x := range s {
		all += x.bytes
	}
	for _, x := range s {
		if sum += x.bytes; 2*sum > all {
			return x.slope
		}
	}
	return 0
}

// hold makes a record's claim no slower than the usual pace, where the peer fell silent in mid-fetch
// and its echoes went on. Slowness without a silence is held against the mean alone: a path that has
// become slow looks like that.
func (u *usual) hold(rec *audit.Record, path Path) {
	if rec.Claim <= 0 || rec.Stalled <= 0 || rec.Echoes != audit.EchoesFlowed {
		return
	}
	if path.Rate = burst.SecondsPerByte(u.median()); path.Rate > 0 {
		rec.Claim = min(rec.Claim, Predict(rec.Size, path).Total)
	}
}
