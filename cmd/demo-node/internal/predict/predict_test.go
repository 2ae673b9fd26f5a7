package predict

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

const mbit50 = 8 / 50e6 // seconds per byte

func within(t *testing.T, what string, got, want time.Duration, share float64) {
	t.Helper()
	if off := (got - want).Abs().Seconds() / want.Seconds(); off > share {
		t.Errorf("%s: %v, want %v within %.1f %%", what, got, want, share*100)
	}
}

// TestFetch compares with what can be worked out by hand.
func TestFetch(t *testing.T) {
	warm := Path{BaseRTT: 40 * time.Millisecond, SecondsPerByte: mbit50, Window: 1 << 20}
	cold := warm
	cold.Window = 0
	narrow := warm
	narrow.StreamWindow = 256 << 10
	busy := warm
	busy.Outstanding, busy.Waiting = 3e6, 10*time.Millisecond
	tests := []struct {
		name string
		path Path
		n    int64
		want time.Duration
	}{
		{"nothing", warm, 0, 40 * time.Millisecond},
		{"a full window carries all at the rate", warm, 12e6, 1960 * time.Millisecond},
		// One window: no round stalls, cold or not.
		{"one initial window", cold, 14600, 42336 * time.Microsecond},
		// ceil(log2(0.04/(S W0))) = 5 rounds stall, the 14 MB to come see all of them:
		// 5 x 40 ms less 31 windows at the rate.
		{"cold", cold, 12e6, 2087584 * time.Microsecond},
		// 58400 B need 3 windows (1, 2 and part of 4): two stalls, less 3 windows at the rate.
		{"ends in its slow start", cold, 58400, 122336 * time.Microsecond},
		// Half a window each round trip, once the first is used up.
		{"yamux's window", narrow, 256<<10 + 256<<10*10, 40*time.Millisecond + 41943*time.Microsecond + 800*time.Millisecond},
		{"yamux's window is not used up", narrow, 256 << 10, 40*time.Millisecond + 41943*time.Microsecond},
		{"queue and wait", busy, 9e6, 1970 * time.Millisecond},
	}
	for _, tt := range tests {
		got, ok := Fetch(tt.path, tt.n)
		if !ok {
			t.Errorf("%s: no prediction", tt.name)
		}
		within(t, tt.name, got, tt.want, 0.02)
	}
}

func TestUnknown(t *testing.T) {
	known := Path{BaseRTT: time.Millisecond, SecondsPerByte: mbit50}
	for name, change := range map[string]func(*Path, *int64){
		"no round trip": func(p *Path, _ *int64) { p.BaseRTT = 0 },
		"no rate":       func(p *Path, _ *int64) { p.SecondsPerByte = 0 },
		"negative size": func(_ *Path, n *int64) { *n = -1 },
	} {
		p, n := known, int64(1)
		change(&p, &n)
		if d, ok := Fetch(p, n); ok || d != 0 {
			t.Errorf("%s: predicted %v", name, d)
		}
	}
}

// TestMoreTakesLonger: more bytes, a slower peer, a longer path, a smaller window
// of ours and more before it never make a fetch faster.
func TestMoreTakesLonger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Path{
			BaseRTT:        time.Duration(rapid.Int64Range(1e5, 5e8).Draw(t, "rtt")),
			SecondsPerByte: rapid.Float64Range(8/10e9, 8/100e3).Draw(t, "slope"),
			Window:         rapid.Int64Range(0, 4<<20).Draw(t, "window"),
			StreamWindow:   rapid.Int64Range(256<<10, 16<<20).Draw(t, "stream window"),
		}
		n := rapid.Int64Range(1, 100e6).Draw(t, "bytes")
		before, _ := Fetch(p, n)
		least := p.BaseRTT.Seconds() + p.SecondsPerByte*float64(n)
		if before.Seconds() < least*0.999 {
			t.Fatalf("%v, faster than the path allows, %v s", before, least)
		}
		worse := p
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			n *= 2
		case 1:
			worse.StreamWindow /= 2
		case 2:
			worse.Outstanding = 1e6
		case 3:
			worse.Waiting = time.Millisecond
		}
		if after, _ := Fetch(worse, n); after < before {
			t.Fatalf("%v, better than %v", after, before)
		}
	})
}

func TestGrowth(t *testing.T) {
	const rtt = 40 * time.Millisecond
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	var g Growth
	check := func(what string, now int, want int64) {
		t.Helper()
		if got := g.Ask(at(now), rtt); got != want {
			t.Errorf("%s: window %d, want %d", what, got, want)
		}
	}
	check("new", 0, InitialWindow)
	g.Arrived(at(1000), 100e3)
	check("grown by all that came", 1000, InitialWindow+100e3)
	check("not idle long enough", 1239, InitialWindow+100e3)
	check("one timeout", 1240, (InitialWindow+100e3)/2)
	check("asked again at once", 1240, (InitialWindow+100e3)/2)
	check("two", 1480, (InitialWindow+100e3)/4)
	check("never below the initial window", 100e3, InitialWindow)
	g.Arrived(at(100e3), -5)
	check("bytes are not negative", 100e3, InitialWindow)
}
