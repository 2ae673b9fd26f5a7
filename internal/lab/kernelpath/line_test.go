package kernelpath

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/internal/lab"
)

const ms = time.Millisecond

// sound is a line that loses nothing by chance.
func sound(d Direction) *line { return newLine(d, newDice(1, 1)) }

func (l *line) send(now time.Duration, n int) bool { return l.enter(now, &packet{n: n}) }

// dues empties a line and returns when its packets were due.
func (l *line) dues() (at []time.Duration) {
	for p := l.leave(math.MaxInt64); p != nil; p = l.leave(math.MaxInt64) {
		at = append(at, p.due)
	}
	return at
}

// TestLine: packets leave at the rate, after the delay, in order; one that would
// wait too long is dropped.
func TestLine(t *testing.T) {
	l := sound(Direction{Rate: 12 * lab.Mbit, Delay: 10 * ms, Queue: 2 * ms}) // a packet a millisecond
	for i, want := range []bool{true, true, true, false} {
		if got := l.send(0, 1500); got != want {
			t.Errorf("packet %d: taken %v", i, got)
		}
	}
	if !l.send(100*ms, 750) {
		t.Error("dropped, after a pause")
	}
	if at, ok := l.due(); !ok || at != 11*ms {
		t.Errorf("due %v, %v", at, ok)
	}
	if p := l.leave(11*ms - 1); p != nil {
		t.Error("left early")
	}
	want := []time.Duration{11 * ms, 12 * ms, 13 * ms, 110*ms + 500*time.Microsecond}
	got := l.dues()
	if len(got) != len(want) {
		t.Fatalf("due %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("packet %d due %v, want %v", i, got[i], want[i])
		}
	}
	if s := l.stats(); s != (Stats{Packets: 4, Bytes: 5250, Dropped: 1}) {
		t.Errorf("stats %+v", s)
	}
	if _, ok := l.due(); ok {
		t.Error("something is due on an empty line")
	}
}

// TestDefaultQueue: a fast line's is a time, a slow one's a number of packets.
func TestDefaultQueue(t *testing.T) {
	for rate, want := range map[lab.BitRate]time.Duration{0: 100 * ms, 100 * lab.Mbit: 100 * ms, lab.Mbit: 768 * ms} {
		if got := (Direction{Rate: rate}).queue(); got != want {
			t.Errorf("%v: %v, want %v", rate, got, want)
		}
		if got := (Direction{Rate: rate, Queue: ms}).queue(); got != ms {
			t.Errorf("%v: %v, which was set to %v", rate, got, ms)
		}
	}
}

// TestChange: a change holds for what enters after it, and nothing overtakes.
func TestChange(t *testing.T) {
	l := sound(Direction{Delay: 100 * ms})
	l.send(0, 1500)
	l.set.Store(&Direction{Delay: 10 * ms})
	l.send(1*ms, 1500)
	l.send(95*ms, 1500)
	got := l.dues()
	if len(got) != 3 || got[0] != 100*ms || got[1] != 100*ms || got[2] != 105*ms {
		t.Errorf("due %v", got)
	}
	l.set.Store(&Direction{Rate: 1.2 * lab.Mbit})
	l.send(200*ms, 1500)
	if got := l.dues(); len(got) != 1 || got[0] != 210*ms {
		t.Errorf("at the new rate due %v", got)
	}
}

// TestRateHolds: whatever comes, no more leaves than the rate allows, in order,
// and each packet within queue, its own time and delay.
func TestRateHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Direction{
			Rate: lab.BitRate(rapid.Float64Range(1e5, 1e9).Draw(t, "rate")), Queue: 50 * ms,
			Delay: time.Duration(rapid.IntRange(0, 300).Draw(t, "delay")) * ms,
		}
		l := sound(d)
		var now, busy time.Duration
		bytes, taken := 0, 0
		for range rapid.IntRange(1, 300).Draw(t, "packets") {
			now += time.Duration(rapid.IntRange(0, 3000).Draw(t, "gap")) * time.Microsecond
			n := rapid.IntRange(40, mtu).Draw(t, "bytes")
			if !l.send(now, n) {
				continue
			}
			if taken == 0 {
				busy = now
			}
			taken, bytes = taken+1, bytes+n
			if most := now + d.Queue + d.Delay + d.Rate.Time(n) + time.Microsecond; l.last > most {
				t.Fatalf("due %v, at most %v", l.last, most)
			}
		}
		dues := l.dues()
		if len(dues) != taken {
			t.Fatalf("%d packets of %d", len(dues), taken)
		}
		for i := 1; i < len(dues); i++ {
			if dues[i] < dues[i-1] {
				t.Fatalf("overtaken: %v", dues)
			}
		}
		least := busy + d.Delay + d.Rate.Time(bytes) - time.Duration(taken)
		if taken > 0 && dues[taken-1] < least {
			t.Fatalf("%d bytes by %v, not before %v", bytes, dues[taken-1], least)
		}
	})
}

// TestLoss: as many are lost as should be, and in spells as long as they should
// be. The tolerances are five standard deviations.
func TestLoss(t *testing.T) {
	for _, tt := range []struct {
		name  string
		loss  Loss
		mean  float64 // lost
		spell float64 // mean run of losses
	}{
		{"none", Loss{}, 0, 0},
		{"random", Loss{Random: 0.01}, 0.01, 1 / 0.99},
		{"bursty", Loss{Enter: 0.001, Leave: 0.1, InBad: 1}, 0.001 / 0.101, 10},
		{"half within spells", Loss{Enter: 0.001, Leave: 0.05, InBad: 0.5}, 0.5 * 0.001 / 0.051, 1 / (1 - 0.5*0.95)},
		{"all", Loss{Random: 1}, 1, 1e6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.loss.Mean(); math.Abs(got-tt.mean) > 1e-9 {
				t.Errorf("mean %v, want %v", got, tt.mean)
			}
			const n = 1_000_000
			d := newDice(7, 1)
			lost, runs, within := 0, 0, false
			for range n {
				is := d.lost(tt.loss)
				if is {
					lost++
					if !within {
						runs++
					}
				}
				within = is
			}
			share := float64(lost) / n
			// Losses within a spell go together, which widens the spread.
			tolerance := 5 * math.Sqrt(tt.mean*(1-tt.mean)/n*2*max(1, tt.spell))
			if math.Abs(share-tt.mean) > tolerance {
				t.Errorf("lost %v, want %v within %v", share, tt.mean, tolerance)
			}
			if runs > 0 {
				if spell := float64(lost) / float64(runs); math.Abs(spell/tt.spell-1) > 0.15 {
					t.Errorf("spells of %v, want %v", spell, tt.spell)
				}
			}
		})
	}
}

// TestSeeds: equal seeds lose the same, others do not.
func TestSeeds(t *testing.T) {
	draw := func(seed uint64) (out [200]bool) {
		d := newDice(seed, 3)
		for i := range out {
			out[i] = d.lost(Loss{Random: 0.3})
		}
		return out
	}
	one, again := draw(1), draw(1)
	if one != again || one == draw(2) {
		t.Error("the seed does not decide")
	}
}

// TestFIFO: what is pushed comes out, in order, however often it grows and wraps.
func TestFIFO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f fifo
		in, out := 0, 0
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "push") > 0 {
				f.push(&packet{n: in})
				in++
				continue
			}
			p := f.front()
			if (p == nil) != (in == out) || p != nil && p.n != out {
				t.Fatalf("front %+v after %d of %d", p, out, in)
			}
			if p != nil {
				f.pop()
				out++
			}
		}
		if f.n != in-out {
			t.Fatalf("%d held, want %d", f.n, in-out)
		}
	})
}

func TestValidate(t *testing.T) {
	fine := Symmetric(20*ms, lab.Mbit)
	bad := func(change func(*Direction)) Path {
		p := fine
		change(&p.Down)
		return p
	}
	for name, tt := range map[string]struct {
		cfg  Config
		want error
	}{
		"fine":             {Config{Paths: []Path{fine, {}}, Shared: []Shared{{Direction{}, []int{0, 1}}}}, nil},
		"nobody":           {Config{}, ErrPeers},
		"too many":         {Config{Paths: make([]Path, maxPeers+1)}, ErrPeers},
		"negative rate":    {Config{Paths: []Path{bad(func(d *Direction) { d.Rate = -1 })}}, ErrPath},
		"no number":        {Config{Paths: []Path{bad(func(d *Direction) { d.Rate = lab.BitRate(math.NaN()) })}}, ErrPath},
		"infinite rate":    {Config{Paths: []Path{bad(func(d *Direction) { d.Rate = lab.BitRate(math.Inf(1)) })}}, ErrPath},
		"negative delay":   {Config{Paths: []Path{bad(func(d *Direction) { d.Delay = -1 })}}, ErrPath},
		"negative queue":   {Config{Paths: []Path{bad(func(d *Direction) { d.Queue = -1 })}}, ErrPath},
		"loss above 1":     {Config{Paths: []Path{bad(func(d *Direction) { d.Loss.Random = 1.1 })}}, ErrPath},
		"no loss":          {Config{Paths: []Path{bad(func(d *Direction) { d.Loss.InBad = math.NaN() })}}, ErrPath},
		"shares with whom": {Config{Paths: []Path{fine}, Shared: []Shared{{Peers: []int{1}}}}, ErrPeers},
		"shares twice":     {Config{Paths: []Path{fine}, Shared: []Shared{{Peers: []int{0}}, {Peers: []int{0}}}}, ErrPeers},
		"shared, bad":      {Config{Paths: []Path{fine}, Shared: []Shared{{Direction{Delay: -1}, []int{0}}}}, ErrPath},
	} {
		if err := tt.cfg.Validate(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p := fine.WithLoss(Loss{Random: 0.1}); p.Down.Loss.Random != 0.1 || p.Up.Loss != (Loss{}) || p.RTT() != 20*ms {
		t.Errorf("path %+v", p)
	}
}
