package campaign

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Plan is how a campaign goes. Start from Default.
type Plan struct {
	// Notice is how long before the first test peers are told. Longer gives
	// operators time; a peer that wants more gets it. 24 h.
	Notice time.Duration `json:"notice"`
	// Rounds is how often each peer is tested, and Gap the time from one round to
	// the next: more than the 12 h in which a peer is tested once. 3, 24 h apart:
	// the experiment took a few days, so that each report showed the effect.
	Rounds int           `json:"rounds"`
	Gap    time.Duration `json:"gap"`
	// Spacing is the mean time between two tests of a round, and Jitter the share
	// of it by which each is early or late, 0 to 1. More is harder to foretell.
	// 2 min and 0.5.
	Spacing time.Duration `json:"spacing"`
	Jitter  float64       `json:"jitter"`
	// Memory is how long peers' figures remember a test: what they publish later
	// is from after it. 24 h and a quarter, as package passive keeps them.
	Memory time.Duration `json:"memory"`
	// Retry is how long after a failed or interrupted test it is made up for, if
	// that is within the round; the peer may ask for another time. 12 h.
	Retry time.Duration `json:"retry"`
	// Tolerance is how far the pre-test may be from the known limit. 0.11.
	Tolerance float64 `json:"tolerance"`
	// Seed decides the jitter.
	Seed uint64 `json:"seed"`
}

// Default returns the plan documented on each field, with no seed.
func Default() Plan {
	return Plan{
		Notice: 24 * time.Hour, Rounds: 3, Gap: 24 * time.Hour, Spacing: 2 * time.Minute, Jitter: 0.5,
		Memory: 24*time.Hour + 15*time.Minute, Retry: 12 * time.Hour, Tolerance: 0.11,
	}
}

// ErrPlan says that a Plan makes no sense.
var ErrPlan = errors.New("campaign: bad plan: durations are not negative, rounds from 1 to 100, jitter from 0 to 1, and tolerance from 0 to 1")

// Validate returns nil or ErrPlan.
func (p Plan) Validate() error {
	for _, d := range []time.Duration{p.Notice, p.Gap, p.Spacing, p.Memory, p.Retry} {
		if d < 0 {
			return ErrPlan
		}
	}
	if p.Rounds < 1 || p.Rounds > 100 || !(p.Jitter >= 0 && p.Jitter <= 1) || !(p.Tolerance >= 0 && p.Tolerance <= 1) {
		return ErrPlan
	}
	return nil
}

// slot is when the test of a peer is due in a round, after the campaign's first:
// the place is its rank by size.
func (p Plan) slot(round, place int) float64 {
	rng := rand.New(rand.NewPCG(p.Seed, uint64(round)<<32|uint64(place)))
	off := (rng.Float64() - 0.5) * p.Jitter
	at := float64(round)*p.Gap.Seconds() + (float64(place)+0.5+off)*p.Spacing.Seconds()
	return max(at, 0)
}
