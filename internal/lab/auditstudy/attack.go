package main

import (
	"math/rand/v2"
	"time"

	"github.com/assay-mux/assay/audit"
)

// An attack is what a peer does to the fetches it would else serve honestly, and the verdict it
// should meet.
type attack struct {
	name string
	want audit.Kind
	// limit is within how many of its own fetches at least share of the attempts should meet it,
	// and median within how many half should; 0 if there is no bar.
	limit, median int
	share         float64
	do            func(*rand.Rand, *residual)
}

// never is the delay of an attempt that was not found out: more than patience.
const (
	patience = 2000
	never    = patience + 1
)

// attacks are those of the bars, then those that show what is free and what a disguise buys.
var attacks = []attack{
	{"pads at 1/2", audit.Overclaims, 10, 0, 0.99, pace(2)},
	{"pads at 1/5", audit.Withholding, 10, 0, 0.99, pace(5)},
	{"withholds 30 %", audit.Withholding, 65, 32, 0.99, withhold(0.30)},
	{"withholds 10 %", audit.Withholding, 320, 125, 0.99, withhold(0.10)},
	{"withholds 4 %", audit.Withholding, 0, 0, 0, withhold(0.04)},
	{"pads at 1/5, drops echoes in a short stall", audit.Withholding, 0, 0, 0, func(rng *rand.Rand, r *residual) {
		pace(5)(rng, r)
		r.stalled = 0.5
	}},
	{"pads at 1/5, all of it before the first byte", audit.SlowToStart, 0, 0, 0, func(_ *rand.Rand, r *residual) { r.late += 4 }},
	{"pads at 1/5 behind a wall of held echoes", audit.Path, 0, 0, 0, func(rng *rand.Rand, r *residual) {
		pace(5)(rng, r)
		r.stalled = r.served
	}},
}

// pace serves at one n-th of the rate.
func pace(n float64) func(*rand.Rand, *residual) {
	return func(_ *rand.Rand, r *residual) { r.served = n*(1+r.served) - 1 }
}

// withhold sits on a share of the fetches, for four to fourteen times their claim.
func withhold(share float64) func(*rand.Rand, *residual) {
	return func(rng *rand.Rand, r *residual) {
		if rng.Float64() < share {
			r.served += 4 + 10*rng.Float64()
		}
	}
}

// try has a newcomer attack, as often as attempts says, and returns after how many of its own
// fetches each was found out.
func (t *attack) try(a *audit.Auditor, now time.Duration, pop Population, rng *rand.Rand, attempts int) []int {
	honest := pop
	honest.Lossy, honest.SlowDisk = 0, 0
	delays := make([]int, attempts)
	for i := range delays {
		p := honest.newPeer(rng, "attacker", honest.newGroup(rng, "attackers"))
		delays[i] = t.tryOnce(a, now, honest, rng, &p)
		a.Forget(now, p.name)
	}
	return delays
}

func (t *attack) tryOnce(a *audit.Auditor, now time.Duration, pop Population, rng *rand.Rand, p *peer) int {
	for n := 1; n <= patience; {
		r := pop.draw(rng, p)
		t.do(rng, &r)
		rec := pop.record(rng, p, r)
		if rec.Claim <= 50*time.Millisecond+2*rec.BaseRTT {
			continue // doubling it stays within the slack: the audit does not look
		}
		if a.Observe(now, rec).Kinds.Has(t.want) {
			return n
		}
		n++
	}
	return never
}
