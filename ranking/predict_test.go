package ranking

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/burst"
)

// near fails unless got is within a relative tolerance of want.
func near(t *testing.T, what string, got, want time.Duration, tolerance float64) {
	t.Helper()
	if d := math.Abs(float64(got-want)) / float64(want); !(d <= tolerance) {
		t.Errorf("%s: %v, want %v: off by %.2f %%", what, got, want, 100*d)
	}
}

// grid calls f for every combination of round trips (ms), rates (Mbit/s) and sizes.
func grid(rtts, rates []float64, sizes []int64, f func(name string, p Path, n int64)) {
	for _, r := range rtts {
		for _, s := range rates {
			for _, n := range sizes {
				p := Path{BaseRTT: seconds(r / 1e3), Rate: mbit(s)}
				f(fmt.Sprintf("%v ms, %v Mbit/s, %d bytes", r, s, n), p, n)
			}
		}
	}
}

func TestPredictionAgainstPackets(t *testing.T) {
	grid([]float64{12, 69, 268}, []float64{10, 100, 1000}, []int64{64e3, 512e3, 12e6},
		func(name string, p Path, n int64) {
			near(t, name, Predict(n, p).Total, packets(n, p), 0.02)
		})
}

// The grid that the whole node is held to, cold and from windows that an earlier transfer left.
func TestPredictionAgainstPacketsColdAndWarm(t *testing.T) {
	worst := 0.0
	for _, last := range []int64{0, 50e3, 400e3, 3e6} {
		grid([]float64{5, 20, 69, 150, 268}, []float64{1, 10, 100, 1000}, []int64{16e3, 64e3, 512e3, 4e6, 12e6},
			func(name string, p Path, n int64) {
				p.LastWindow = last
				want := packets(n, p)
				got := Predict(n, p).Total
				worst = max(worst, math.Abs(float64(got-want))/float64(want))
				near(t, fmt.Sprint(name, ", window ", last), got, want, 0.05)
			})
	}
	t.Logf("worst %.2f %%", 100*worst)
}

func TestPredictionWithinOurCredit(t *testing.T) {
	worst := 0.0
	for _, credit := range []int64{256 << 10, 1 << 20, 16 << 20} {
		grid([]float64{5, 20, 69, 268}, []float64{10, 100, 1000}, []int64{64e3, 512e3, 4e6, 12e6},
			func(name string, p Path, n int64) {
				p.StreamWindow = credit
				want := packets(n, p)
				got := Predict(n, p).Total
				worst = max(worst, math.Abs(float64(got-want))/float64(want))
				near(t, fmt.Sprint(name, ", credit ", credit), got, want, 0.10)
			})
	}
	t.Logf("worst %.2f %%", 100*worst)
}

// Segments that do not divide half a window return a little more than that at once, and from then on the
// rest waits for the next round trip. What one transfer waited says what the next takes.
func TestPredictionLearnsTheWaitsForOurCredit(t *testing.T) {
	grid([]float64{20, 69, 268}, []float64{50, 200, 1000}, []int64{1e6, 4e6, 12e6},
		func(name string, p Path, n int64) {
			p.StreamWindow, p.LastWindow = 256<<10, 8<<20
			if !Predict(n, p).CreditLimited {
				return
			}
			took, waited := segments(n, p, 1460)
			if n > 2e6 && float64(Predict(n, p).Total) > 0.85*float64(took) {
				t.Errorf("%s: in turns %v, together %v: nothing to learn", name, took, Predict(n, p).Total)
			}
			for range 32 {
				p.WindowRounds = p.RoundsAfter(n, waited)
			}
			near(t, name, Predict(n, p).Total, took, 0.10)
			even, waited := segments(n, p, 1024)
			for range 32 {
				p.WindowRounds = p.RoundsAfter(n, waited)
			}
			near(t, name+", evenly again", Predict(n, p).Total, even, 0.10)
		})
}

func TestRoundsAfter(t *testing.T) {
	p := Path{BaseRTT: 100 * ms, StreamWindow: 100_000, LastWindow: 1e6} // each full window waits 100 ms
	for _, c := range []struct {
		name   string
		change func(*Path)
		n      int64
		credit time.Duration
		want   float64
	}{
		{"nothing known, nothing to learn", nil, 100_000, time.Second, 0},
		{"nothing to learn", func(p *Path) { p.WindowRounds = 1.5 }, 100_000, time.Second, 1.5},
		{"a window that covers the path", func(p *Path) { p.Rate, p.WindowRounds = 1e-5, 1.5 }, 900_000, time.Second, 1.5},
		{"without limit", func(p *Path) { p.StreamWindow = 0 }, 900_000, time.Second, 0},
		{"in turns, four windows", nil, 500_000, 800 * ms, 1.5},
		{"in turns, many windows", nil, 1e9, 2000 * time.Second, 2},
		{"more than there can be", nil, 1e9, time.Hour, 2},
		{"together again", func(p *Path) { p.WindowRounds = 2 }, 500_000, 400 * ms, 1.875},
		{"less than there can be", func(p *Path) { p.WindowRounds = 2 }, 1e9, -time.Hour, 1.75},
		{"a belief out of range", func(p *Path) { p.WindowRounds = math.Inf(1) }, 1e9, 2000 * time.Second, 2},
		{"a belief that is no number", func(p *Path) { p.WindowRounds = math.NaN() }, 0, 0, 0},
	} {
		q := p
		if c.change != nil {
			c.change(&q)
		}
		if got := q.RoundsAfter(c.n, c.credit); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What the ramp is for: without it a far fast path is predicted several times too fast.
func TestPlainFormulaIsFarOff(t *testing.T) {
	p := Path{BaseRTT: 268 * ms, Rate: mbit(1000)}
	plain := p.BaseRTT + seconds(float64(p.Rate)*12e6)
	if ratio := float64(packets(12e6, p)) / float64(plain); ratio < 7 {
		t.Errorf("the packets take %.1f times the plain formula", ratio)
	}
}

func TestPredictionParts(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int64
		p    Path
		want Prediction
	}{
		{"nothing known", 1e6, Path{}, Prediction{Windows: 7}},
		{"nothing asked", 0, Path{BaseRTT: 40 * ms, Rate: 1e-6},
			Prediction{Total: 40 * ms, RoundTrip: 40 * ms, Windows: 1}},
		{"less than nothing", -5, Path{BaseRTT: 40 * ms, Rate: 1e-6},
			Prediction{Total: 40 * ms, RoundTrip: 40 * ms, Windows: 1}},
		{"one window", 14600, Path{BaseRTT: 40 * ms, Rate: 1e-6},
			Prediction{Total: 54600 * time.Microsecond, RoundTrip: 40 * ms, Transfer: 14600 * time.Microsecond, Windows: 1}},
		{"one stall", 14601, Path{BaseRTT: 40 * ms, Rate: 1e-6},
			Prediction{
				Total: 40*ms + 25400*time.Microsecond + 14601*time.Microsecond, RoundTrip: 40 * ms,
				Ramp: 25400 * time.Microsecond, Transfer: 14601 * time.Microsecond, Windows: 2, Stalls: 1,
			}},
		{"waiting", 0, Path{BaseRTT: 40 * ms, HighRTT: 100 * ms},
			Prediction{Total: 100 * ms, RoundTrip: 40 * ms, Waiting: 60 * ms, Windows: 1}},
		{"high round trip below the base", 0, Path{BaseRTT: 40 * ms, HighRTT: 30 * ms},
			Prediction{Total: 40 * ms, RoundTrip: 40 * ms, Windows: 1}},
		{"negative round trips", 0, Path{BaseRTT: -40 * ms, HighRTT: -30 * ms}, Prediction{Windows: 1}},
		{"rate that is no number", 14600, Path{BaseRTT: ms, Rate: burst.SecondsPerByte(math.NaN())},
			Prediction{Total: ms, RoundTrip: ms, Windows: 1}},
		{"rate below zero", 14600, Path{BaseRTT: ms, Rate: -1}, Prediction{Total: ms, RoundTrip: ms, Windows: 1}},
		{"three times our credit", 300_000, Path{BaseRTT: 100 * ms, StreamWindow: 100_000, LastWindow: 1e6},
			Prediction{
				Total: 300 * ms, RoundTrip: 100 * ms, Ramp: 200 * ms,
				Windows: 3, Stalls: 2, CreditLimited: true,
			}},
		{"credit that is not used up", 14601, Path{BaseRTT: 40 * ms, StreamWindow: 100_000},
			Prediction{Total: 80 * ms, RoundTrip: 40 * ms, Ramp: 40 * ms, Windows: 2, Stalls: 1}},
		{"credit that covers the path", 300_000, Path{BaseRTT: 10 * ms, Rate: 1e-6, StreamWindow: 100_000, LastWindow: 1e6},
			Prediction{Total: 310 * ms, RoundTrip: 10 * ms, Transfer: 300 * ms, Windows: 3}},
	} {
		if got := Predict(c.n, c.p); got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func TestPredictionSaturates(t *testing.T) {
	const ever = time.Duration(math.MaxInt64)
	for _, c := range []struct {
		n int64
		p Path
	}{
		{math.MaxInt64, Path{BaseRTT: ever, Rate: 1}},
		{math.MaxInt64, Path{BaseRTT: ever, HighRTT: ever, Rate: burst.SecondsPerByte(math.Inf(1))}},
		{math.MaxInt64, Path{BaseRTT: ever, StreamWindow: 1}},
		{1, Path{Rate: burst.SecondsPerByte(math.Inf(1))}},
	} {
		if got := Predict(c.n, c.p).Total; got != ever {
			t.Errorf("%d bytes over %+v: %v", c.n, c.p, got)
		}
	}
}

// genPath draws paths from loopback to satellite and beyond what exists.
func genPath(t *rapid.T) Path {
	p := Path{
		BaseRTT: time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "rtt")),
		HighRTT: time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "high")),
		Rate:    burst.SecondsPerByte(math.Pow(10, rapid.Float64Range(-10, -3).Draw(t, "log rate"))),
		Idle:    time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "idle")),
	}
	if rapid.Bool().Draw(t, "warm") {
		p.LastWindow = rapid.Int64Range(0, 64<<20).Draw(t, "window")
	}
	if rapid.Bool().Draw(t, "credited") {
		p.StreamWindow = rapid.Int64Range(1<<10, 64<<20).Draw(t, "credit")
	}
	if rapid.IntRange(0, 9).Draw(t, "unlimited") == 0 {
		p.Rate = 0
	}
	return p
}

func genBytes(t *rapid.T) int64 {
	return int64(math.Exp2(rapid.Float64Range(0, 40).Draw(t, "log bytes")))
}

// slack is what rounding to nanoseconds and to 53 bits may make of a time.
func slack(d time.Duration) time.Duration { return 4 + d/1e12 }

func TestPredictionIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := genPath(t), genBytes(t)
		base := Predict(n, p)
		more := map[string]Prediction{}
		more["bytes"] = Predict(n+rapid.Int64Range(0, 2*n).Draw(t, "more bytes"), p)
		q := p
		q.BaseRTT += time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "more rtt"))
		q.HighRTT += q.BaseRTT - p.BaseRTT
		// What an idle window is halved by depends on the round trip: not this property.
		q.Idle, p.Idle = 0, 0
		more["rtt"] = Predict(n, q)
		warm := Predict(n, p)
		q = p
		q.Rate *= burst.SecondsPerByte(rapid.Float64Range(1, 10).Draw(t, "slower"))
		more["s/B"] = Predict(n, q)
		q = p
		q.HighRTT += time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "more waiting"))
		more["high rtt"] = Predict(n, q)
		q = p
		q.WindowRounds = rapid.Float64Range(0, 3).Draw(t, "rounds")
		more["rounds"] = Predict(n, q)
		for what, m := range more {
			was := warm
			if what == "bytes" {
				was = base
			}
			if m.Total < was.Total-slack(was.Total) {
				t.Errorf("more %s take less time: %v, then %v", what, was.Total, m.Total)
			}
		}
	})
}

func TestPredictionBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := genPath(t), genBytes(t)
		got := Predict(n, p)
		if sum := got.RoundTrip + got.Waiting + got.Ramp + got.Transfer; sum != got.Total {
			t.Fatalf("parts %v, total %v", sum, got.Total)
		}
		if least := p.BaseRTT + got.Transfer; got.Total < least {
			t.Errorf("%v, less than a round trip and the bytes: %v", got.Total, least)
		}
		k := Predict(n, Path{BaseRTT: p.BaseRTT, LastWindow: p.LastWindow, StreamWindow: p.StreamWindow, Idle: p.Idle})
		want := time.Duration(k.Windows) * p.BaseRTT
		if d := k.Total - want; d < -slack(want) || d > slack(want) {
			t.Errorf("without serialisation %v, want %d round trips: %v", k.Total, k.Windows, want)
		}
		if got.Total > want+got.Waiting+got.Transfer+slack(want) {
			t.Errorf("%v, more than all round trips and the bytes: %v", got.Total, want+got.Waiting+got.Transfer)
		}
	})
}

func TestWarmEnoughIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := genPath(t), genBytes(t)
		p.HighRTT, p.Idle, p.StreamWindow = 0, 0, 0
		p.LastWindow = max(n, initialWindow)
		if got := Predict(n, p); got.Total != got.RoundTrip+got.Transfer {
			t.Errorf("a window of all bytes: ramp %v", got.Ramp)
		}
		if p.Rate <= 0 {
			return
		}
		covers := p.BaseRTT.Seconds() / float64(p.Rate)
		p.LastWindow = int64(min(covers*1.001+1, 1<<62))
		if got := Predict(n, p); got.Total != got.RoundTrip+got.Transfer {
			t.Errorf("a window that covers the path: ramp %v", got.Ramp)
		}
	})
}

func TestLargerWindowsDoNotHurt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := genPath(t), genBytes(t)
		p.StreamWindow, p.Idle = 0, 0
		q := p
		q.LastWindow += rapid.Int64Range(0, 1<<30).Draw(t, "more")
		if a, b := Predict(n, p).Total, Predict(n, q).Total; b > a+slack(a) {
			t.Errorf("window %d: %v, %d: %v", p.LastWindow, a, q.LastWindow, b)
		}
		q = p
		q.StreamWindow = rapid.Int64Range(1<<10, 64<<20).Draw(t, "credit")
		if a, b := Predict(n, p).Total, Predict(n, q).Total; b < a-slack(a) {
			t.Errorf("bounded credit is faster: %v, %v", b, a)
		}
	})
}

func TestIdlenessCools(t *testing.T) {
	for _, c := range []struct {
		last int64
		rtt  time.Duration
		idle time.Duration
		want int64
	}{
		{0, 20 * ms, 0, initialWindow},
		{-1, 20 * ms, 0, initialWindow},
		{1e6, 20 * ms, -time.Second, 1e6},
		{1e6, 20 * ms, 199 * ms, 1e6},
		{1e6, 20 * ms, 200 * ms, 5e5},
		{1e6, 20 * ms, 400 * ms, 25e4},
		{1e6, 20 * ms, 1300 * ms, 15625},
		{1e6, 20 * ms, 1400 * ms, initialWindow},
		{1e6, 20 * ms, math.MaxInt64, initialWindow},
		{1e6, 300 * ms, 299 * ms, 1e6},
		{1e6, 300 * ms, 300 * ms, 5e5},
	} {
		p := Path{BaseRTT: c.rtt, LastWindow: c.last, Idle: c.idle}
		if got := p.startWindow(); got != c.want {
			t.Errorf("%d bytes, rtt %v, idle %v: window %d, want %d", c.last, c.rtt, c.idle, got, c.want)
		}
	}
}

func TestWindowAfter(t *testing.T) {
	far := Path{BaseRTT: 100 * ms, Rate: 1e-7} // 1 MB covers it
	for _, c := range []struct {
		name string
		p    Path
		n    int64
		want int64
	}{
		{"grows by what came", far, 100_000, 114_600},
		{"not beyond what covers the path", far, 12e6, 1e6},
		{"nothing came", far, 0, initialWindow},
		{"less than nothing", far, -5, initialWindow},
		{"a path that the first window covers", Path{BaseRTT: ms, Rate: 1e-6}, 12e6, initialWindow},
		{"keeps what it had", Path{BaseRTT: ms, Rate: 1e-6, LastWindow: 50_000}, 12e6, 50_000},
		{"without limit", Path{BaseRTT: ms}, math.MaxInt64, math.MaxInt64},
	} {
		if got := c.p.WindowAfter(c.n); got < c.want-1 || got > c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A transfer cut in two takes as long as the whole but for the second request.
func TestWindowAfterContinues(t *testing.T) {
	p := Path{BaseRTT: 100 * ms, Rate: mbit(100)}
	first, rest := int64(initialWindow*15), int64(12e6-initialWindow*15)
	whole := Predict(12e6, p).Total
	two := Predict(first, p).Total
	p.LastWindow = p.WindowAfter(first)
	two += Predict(rest, p).Total
	near(t, "in two", two, whole+p.BaseRTT-(p.BaseRTT-seconds(float64(p.Rate)*initialWindow*8)), 0.02)
}

func TestChunkSizeInverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genPath(t)
		within := time.Duration(rapid.Int64Range(-1, int64(20*time.Second)).Draw(t, "within"))
		c := ChunkSize(within, p)
		switch {
		case c == 0:
			if got := Predict(1, p).Total; got <= within {
				t.Fatalf("none in %v, and one byte takes %v", within, got)
			}
			return
		case Predict(c, p).Total > within:
			t.Errorf("%d bytes take %v, not %v", c, Predict(c, p).Total, within)
		case c < math.MaxInt64 && Predict(c+1, p).Total <= within:
			t.Errorf("%d bytes, and one more comes in time too", c)
		}
		n := genBytes(t)
		if got := ChunkSize(Predict(n, p).Total, p); got < n {
			t.Errorf("in the time of %d bytes come %d", n, got)
		}
	})
}

func TestChunkSizeLimits(t *testing.T) {
	if got := ChunkSize(time.Hour, Path{}); got != math.MaxInt64 {
		t.Errorf("without delay: %d", got)
	}
	p := Path{BaseRTT: 100 * ms, Rate: 1e-6}
	if got := ChunkSize(100*ms, p); got != 0 {
		t.Errorf("in one round trip: %d", got)
	}
	if got := ChunkSize(101*ms, p); got != 1000 {
		t.Errorf("in one round trip and 1 ms at 1 MB/s: %d", got)
	}
}

func TestFirstByte(t *testing.T) {
	p := Predict(12e6, Path{BaseRTT: 40 * ms, HighRTT: 55 * ms, Rate: 1e-6})
	if got := p.FirstByte(); got != 55*ms {
		t.Errorf("first byte after %v", got)
	}
}

func FuzzPredict(f *testing.F) {
	f.Add(int64(12e6), int64(69*ms), int64(80*ms), 8e-8, int64(256<<10), 1.7, int64(0), int64(0))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64), math.Inf(1), int64(1), math.NaN(), int64(math.MaxInt64), int64(math.MaxInt64))
	f.Add(int64(-1), int64(-1), int64(-1), -1.0, int64(-1), -1.0, int64(-1), int64(-1))
	f.Fuzz(func(t *testing.T, n, rtt, high int64, rate float64, credit int64, rounds float64, last, idle int64) {
		p := Path{
			BaseRTT: time.Duration(rtt), HighRTT: time.Duration(high), Rate: burst.SecondsPerByte(rate),
			StreamWindow: credit, WindowRounds: rounds, LastWindow: last, Idle: time.Duration(idle),
		}
		got := Predict(n, p)
		if got.Total < got.RoundTrip || got.RoundTrip < 0 || got.Waiting < 0 || got.Ramp < 0 || got.Transfer < 0 {
			t.Errorf("negative part: %+v", got)
		}
		if got.Windows < 1 || got.Stalls < 0 || got.Stalls >= got.Windows {
			t.Errorf("%d stalls in %d windows", got.Stalls, got.Windows)
		}
		if k := p.RoundsAfter(n, got.Ramp); !(k >= 0) {
			t.Errorf("%v rounds", k)
		}
		if w := p.WindowAfter(n); w < initialWindow {
			t.Errorf("window %d", w)
		}
		if c := ChunkSize(got.Total, p); n > 0 && c < n && got.Total < math.MaxInt64 {
			// Rounding may cost bytes that take less than a nanosecond, at sizes that do not exist.
			if least := Predict(c+1, p).Total; least > got.Total+slack(got.Total) {
				t.Errorf("in the time of %d bytes come %d", n, c)
			}
		}
	})
}

func BenchmarkPredict(b *testing.B) {
	p := Path{BaseRTT: 69 * ms, HighRTT: 80 * ms, Rate: mbit(100), StreamWindow: 256 << 10, LastWindow: 1e5}
	b.Run("predict", func(b *testing.B) {
		for b.Loop() {
			Predict(12e6, p)
		}
	})
	b.Run("chunk size", func(b *testing.B) {
		for b.Loop() {
			ChunkSize(time.Second, p)
		}
	})
}
