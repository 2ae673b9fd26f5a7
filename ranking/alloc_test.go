//go:build !race

package ranking

import (
	"testing"
	"time"
)

// The race detector allocates on its own account, hence the build tag.
func TestHotPathDoesNotAllocate(t *testing.T) {
	p := Path{BaseRTT: 40 * ms, HighRTT: 60 * ms, Rate: 1e-7, StreamWindow: 256 << 10, LastWindow: 1e5}
	e := newExplorer(always(), seeded())
	e.want("p", "G", false, false)
	e.demote("q", "G", 0, false)
	b := newBudget(defaultBudgetLimits())
	u := newItsUs()
	book := heard(t, said{"A1", 7}, said{"B1", 5})
	var a allowance
	now := time.Hour
	for i := range 20 {
		u.observe(now, numbered(i), 5, true)
	}
	speaker := numbered(3)
	for what, f := range map[string]func(){
		"predict": func() { Predict(12e6, p) },
		"chunk":   func() { ChunkSize(time.Second, p) },
		"explore": func() {
			if x, ok := e.explore(anyone); ok {
				e.done(x.peer, false)
			}
			e.cast(now, anyone)
		},
		"budget": func() {
			b.fetched(now, 1000)
			r, _ := b.reserve(now, ordinary, 10)
			b.settle(now, r, 5)
		},
		"allowance": func() { a.charge(now) },
		"it's us":   func() { u.observe(now, speaker, 5, true); u.held(now) },
		"claim":     func() { book.claimed("d", "B1") },
	} {
		if n := testing.AllocsPerRun(200, func() { now += time.Millisecond; f() }); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}
