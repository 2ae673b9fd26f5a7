package engine

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/ranking"
)

// datum is something to fetch.
type datum struct {
	n        int // its number in the run, from 1 on
	size     int64
	critical bool
	deadline time.Duration // since the fetch begins; 0 none
	only     string        // the one peer to ask, in the warm-up
}

func (d *datum) name() string { return "d" + strconv.Itoa(d.n) }

// number is that of a datum by its name.
func number(name string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "d"))
	return n
}

// datum is that of a number, nil if there is none.
func (w *world) datum(n int) *datum {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.data[n]
}

func (w *world) addDatum(d *datum) *datum {
	w.mu.Lock()
	defer w.mu.Unlock()
	d.n = len(w.data) + 1
	w.data[d.n] = d
	return d
}

// wanted are the user's data, all of them before the first is fetched, so that
// they are the same whoever chooses.
func (w *world) wanted() []*datum {
	l := w.s.Workload
	r := rand.New(rand.NewPCG(w.o.Seed, 1))
	out := make([]*datum, 0, l.Fetches)
	for i := range l.Fetches {
		k := i % len(l.Sizes)
		if l.Draw {
			k = r.IntN(len(l.Sizes))
		}
		d := &datum{size: int64(l.Sizes[k]), deadline: time.Duration(l.Deadline)}
		if c := l.Critical; c != nil && (i+1)%c.Every == 0 {
			d.critical, d.deadline = true, time.Duration(c.Deadline)
		}
		out = append(out, w.addDatum(d))
	}
	return out
}

// lateAfter is how long after a fetch begins a late claim comes.
const lateAfter = 20 * time.Millisecond

// offer tells the chooser who has a datum and what they say of its size; those
// that are late say it while it is being fetched.
func (w *world) offer(d *datum, late bool) {
	now := w.now()
	for _, a := range w.everyone() {
		claims := a.spec.Claims
		if a.current() == nil || late != (claims != nil && claims.Late) {
			continue
		}
		w.chooser.Offer(now, a.id, d.name(), w.sizeSaid(d, claims))
	}
}

// sizeSaid is what is said of a size by a peer. Who makes a claim of its own makes it beside what is
// attested.
func (w *world) sizeSaid(d *datum, c *scenario.Claims) ranking.Size {
	if f := w.s.Workload.Attested; f > 0 && c == nil {
		return ranking.Size{Bytes: max(1, int64(float64(d.size)*f)), Provenance: ranking.Attested}
	}
	factor := 1.0
	if c != nil {
		factor = c.Factor
	}
	return ranking.Size{Bytes: max(1, int64(float64(d.size)*factor)), Provenance: ranking.Advertised}
}
