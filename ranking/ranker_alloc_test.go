//go:build !race

package ranking

import (
	"testing"
	"time"
)

// The race detector allocates on its own account, hence the build tag.
func TestProgressAndDoneDoNotAllocate(t *testing.T) {
	r, conns := crowd(t, 20, 40)
	now := time.Hour
	f, err := r.Begin(now, benchPlan(r, now, conns[0], 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(500, func() { now += ms; f.Progress(now, 16<<10) }); n != 0 {
		t.Errorf("progress: %v allocations", n)
	}
	if n := testing.AllocsPerRun(500, func() { now += 100 * ms; f.Progress(now, 1); f.Advice(now) }); n != 0 {
		t.Errorf("advice where all is well: %v allocations", n)
	}
	var fetches []*Fetch
	for i := range 400 {
		f, err := r.Begin(now, benchPlan(r, now, conns[1+i%19], 1<<16))
		if err != nil {
			t.Fatal(err)
		}
		now += 50 * ms
		f.Progress(now, 1<<16)
		fetches = append(fetches, f)
	}
	if n := testing.AllocsPerRun(300, func() {
		f := fetches[len(fetches)-1]
		fetches = fetches[:len(fetches)-1]
		f.Done(now, 0)
	}); n != 0 {
		t.Errorf("done: %v allocations", n)
	}
}

// Ranking again and again allocates only what it returns, and what it gathers.
func TestRankAllocatesLittle(t *testing.T) {
	r, _ := crowd(t, 500, 3)
	now := time.Hour
	r.Rank(now, 1e6, 20)
	if n := testing.AllocsPerRun(100, func() { now += ms; r.Rank(now, 1e6, 20) }); n > 3 {
		t.Errorf("%v allocations", n)
	}
}
