package behave

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

const ms = time.Millisecond

// TestNext looks up when bytes of a datum of 1 MB may go.
func TestNext(t *testing.T) {
	const all = math.MaxInt64
	pad := Behaviour{Pad: Pad{Rate: 100e3, From: 1000, To: 1e6}}
	tests := map[string]struct {
		b    Behaviour
		sent int64
		at   time.Duration
		n    int64
	}{
		"honest":              {Behaviour{}, 0, 0, all},
		"honest later":        {Behaviour{}, 5e5, 0, all},
		"drip":                {Behaviour{Drip: 10e3}, 0, 0, 300},
		"drip later":          {Behaviour{Drip: 10e3}, 5000, 500 * ms, 300},
		"a slow drip":         {Behaviour{Drip: 1}, 3, 3 * time.Second, 1},
		"disk":                {Behaviour{Disk: 1e6}, 1e5, 100 * ms, 30e3},
		"pad":                 {pad, 1e5, time.Second, 3000},
		"delay":               {Behaviour{Delay: 200 * ms}, 7, 200 * ms, all},
		"pace":                {Behaviour{Pace: Pace{50e3, time.Second}}, 0, 0, 50e3},
		"pace in a burst":     {Behaviour{Pace: Pace{50e3, time.Second}}, 70e3, time.Second, 30e3},
		"pace between bursts": {Behaviour{Pace: Pace{50e3, time.Second}}, 100e3, 2 * time.Second, 50e3},
		"vanish before":       {Behaviour{Vanish: 1000}, 400, 0, 600},
		"vanish":              {Behaviour{Vanish: 1000}, 1000, 0, 0},
		"delay and drip":      {Behaviour{Delay: 200 * ms, Drip: 10e3}, 5000, 700 * ms, 300},
		"the slower":          {Behaviour{Drip: 10e3, Disk: 1e6}, 5000, 500 * ms, 300},
	}
	for name, tt := range tests {
		if at, n := tt.b.next(1e6, tt.sent); at != tt.at || n != tt.n {
			t.Errorf("%s: %d bytes at %v, want %d at %v", name, n, at, tt.n, tt.at)
		}
	}
}

func TestPadHas(t *testing.T) {
	tests := []struct {
		pad  Pad
		size int64
		want bool
	}{
		{Pad{}, 5, false},
		{Pad{Rate: 1}, 5, true},
		{Pad{Rate: 1, From: 6}, 5, false},
		{Pad{Rate: 1, From: 5}, 5, true},
		{Pad{Rate: 1, To: 4}, 5, false},
		{Pad{Rate: 1, To: 5}, 5, true},
	}
	for _, tt := range tests {
		if got := tt.pad.has(tt.size); got != tt.want {
			t.Errorf("%+v has %d: %v", tt.pad, tt.size, got)
		}
	}
	fast := Behaviour{Pad: Pad{Rate: 1, To: 4}}
	if at, n := fast.next(5, 3); at != 0 || n != math.MaxInt64 {
		t.Errorf("another size goes %d at %v, want at once", n, at)
	}
}

func anyBehaviour(t *rapid.T) Behaviour {
	rate := rapid.SampledFrom([]Rate{0, 0, 500, 10e3, 1e6})
	return Behaviour{
		Drip: rate.Draw(t, "drip"), Disk: rate.Draw(t, "disk"),
		Pad:   Pad{Rate: rate.Draw(t, "pad"), From: rapid.Int64Range(0, 1e5).Draw(t, "from")},
		Delay: rapid.SampledFrom([]time.Duration{0, 300 * ms}).Draw(t, "delay"),
		Pace:  rapid.SampledFrom([]Pace{{}, {1000, 100 * ms}, {50e3, time.Second}}).Draw(t, "pace"),
	}
}

// TestNextGoesOn: whatever is combined, each byte's turn comes, none before the
// one ahead of it, and all of them when Takes says, to a grain.
func TestNextGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, size := anyBehaviour(t), rapid.Int64Range(1, 2e5).Draw(t, "size")
		var last time.Duration
		for sent := int64(0); sent < size; {
			at, n := b.next(size, sent)
			if n <= 0 || at < last {
				t.Fatalf("after %d bytes: %d at %v, after %v", sent, n, at, last)
			}
			sent, last = sent+n, at
			if sent < 0 {
				break // all the rest at once
			}
		}
		// The last grain of a rate goes at its begin, and is a byte at least.
		slack := 2 * grainTime
		for _, r := range []Rate{b.Drip, b.Disk, b.padding(size)} {
			slack = max(slack, 2*r.time(1))
		}
		if takes := b.Takes(size); last > takes || takes-last > slack {
			t.Fatalf("the last bytes go at %v, Takes says %v", last, takes)
		}
	})
}

func TestTakesForEver(t *testing.T) {
	b := Behaviour{Vanish: 1000}
	if b.Takes(1001) != math.MaxInt64 || b.Takes(1000) != 0 {
		t.Errorf("takes %v and %v", b.Takes(1001), b.Takes(1000))
	}
}

func TestOffers(t *testing.T) {
	offers := []wire.Offer{{Size: 1000}, {Size: 3}, {Size: 1}}
	for divisor, want := range map[float64][]int64{0: {1000, 3, 1}, 1: {1000, 3, 1}, 4: {250, 1, 1}, 1.5: {666, 2, 1}} {
		for i, o := range (Behaviour{Understate: divisor}).Offers(offers) {
			if o.Size != want[i] {
				t.Errorf("divided by %v: %d, want %d", divisor, o.Size, want[i])
			}
		}
	}
	if offers[0].Size != 1000 {
		t.Error("the store's own offers were changed")
	}
}
