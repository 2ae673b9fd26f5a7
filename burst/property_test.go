package burst

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// step is one thing that happens to a Window.
type step struct {
	kind     int // see play
	gap      time.Duration
	ours     time.Duration
	bytes    int
	queued   bool
	finished bool
}

const (
	arrive = iota
	begin
	end
	ask
	echo
	tick
	kinds
)

// drawGap mixes the scales at which the rules differ.
func drawGap(t *rapid.T) time.Duration {
	scale := rapid.SampledFrom([]time.Duration{0, 10 * time.Microsecond, ms, 10 * ms, 100 * ms, 700 * ms, 3 * time.Second}).Draw(t, "scale")
	if scale == 0 {
		return 0
	}
	return time.Duration(rapid.Int64Range(1, int64(scale)).Draw(t, "gap"))
}

func drawSteps(t *rapid.T) []step {
	n := rapid.IntRange(1, 300).Draw(t, "n")
	steps := make([]step, n)
	for i := range steps {
		s := step{kind: arrive, gap: drawGap(t), bytes: rapid.IntRange(-1, 70_000).Draw(t, "bytes")}
		if rapid.IntRange(0, 3).Draw(t, "other") == 0 {
			s.kind = rapid.IntRange(0, kinds-1).Draw(t, "kind")
		}
		if rapid.IntRange(0, 5).Draw(t, "own") == 0 {
			s.ours = drawGap(t)
			s.queued = rapid.Bool().Draw(t, "queued")
		}
		s.finished = rapid.Bool().Draw(t, "finished")
		steps[i] = s
	}
	return steps
}

func drawPath(t *rapid.T) Path {
	return Path{
		BaseRTT:   rapid.SampledFrom([]time.Duration{0, ms, 20 * ms, 268 * ms, 2 * time.Second}).Draw(t, "rtt"),
		Confirmed: rapid.Bool().Draw(t, "confirmed"),
		Rate:      SecondsPerByte(rapid.SampledFrom([]float64{0, 1e-9, 8e-8, 1e-5, 1, math.NaN(), math.Inf(1), -1}).Draw(t, "rate")),
	}
}

// play runs the steps and closes the connection; ticks, if any, come between steps.
func play(w *Window, e *echoes, steps []step, ticks bool) (out []Sample, arrived int64) {
	got := func(s Sample, ok bool) {
		if ok {
			out = append(out, s)
		}
	}
	var open []Fetch
	now := time.Second
	for _, s := range steps {
		now += s.gap
		if d, ok := w.Deadline(); ok && ticks && s.ours == 0 && d+1 < now {
			got(w.Tick(d+1, 0))
		}
		switch s.kind {
		case arrive:
			got(w.Arrive(Arrival{At: now, Bytes: s.bytes, Ours: s.ours, Queued: s.queued}))
			arrived += int64(max(s.bytes, 0))
		case begin:
			id, smp, ok := w.Begin(now)
			got(smp, ok)
			open = append(open, id)
		case end:
			if len(open) > 0 {
				got(w.End(now, open[0], s.ours, s.finished))
				open = open[1:]
			}
		case ask:
			w.Asked(now)
		case echo:
			*e = echoes{now - s.ours, true}
			w.Echoed(now)
		case tick:
			if ticks {
				got(w.Tick(now, s.ours))
			}
		}
	}
	got(w.Close(now, 0, false))
	return out, arrived
}

func TestNoTimeOrByteIsInventedOrLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &echoes{}
		w := NewWindow(DefaultConfig(), e)
		w.SetPath(drawPath(t))
		steps := drawSteps(t)
		out, arrived := play(w, e, steps, rapid.Bool().Draw(t, "ticks"))
		st := w.State()

		first, now, seen := time.Duration(0), time.Second, false
		for _, s := range steps {
			now += s.gap
			if s.kind == arrive && s.bytes > 0 && !seen {
				first, seen = now, true
			}
		}
		if sum := st.Tight + st.Ours + st.Peers + st.Waiting; seen && sum != w.from-first {
			t.Fatalf("kinds of time sum to %v of %v", sum, w.from-first)
		}
		charged := bySum(out, func(s Sample) time.Duration { return s.Time + s.LeftOut - s.Recalled })
		if charged != st.Tight+st.Peers {
			t.Fatalf("samples hold %v of %v charged", charged, st.Tight+st.Peers)
		}
		if n := bytesOf(out, func(s Sample) int64 { return s.Bytes }); n != arrived {
			t.Fatalf("samples hold %d of %d bytes", n, arrived)
		}
		if own := bySum(out, func(s Sample) time.Duration { return s.Ours }); own > st.Ours {
			t.Fatalf("samples hold %v of our own time, total %v", own, st.Ours)
		}
		for _, s := range out {
			checkSample(t, s)
		}
		if st.Gate != Idle || st.Fetches != 0 {
			t.Fatalf("after Close: %+v", st)
		}
	})
}

func checkSample(t *rapid.T, s Sample) {
	t.Helper()
	rate := float64(s.Rate)
	switch {
	case s.Covered < 0, s.Covered > s.Bytes:
		t.Fatalf("covered: %+v", s)
	case s.RampBytes < 0, s.RampBytes > s.Bytes, s.Counted < 0:
		t.Fatalf("bytes: %+v", s)
	case s.Time < 0, s.LeftOut < 0, s.Ours < 0, s.Recalled < 0, s.Recalled > s.Time, s.Closed < s.Opened:
		t.Fatalf("time: %+v", s)
	case math.IsNaN(rate), math.IsInf(rate, 0), rate < 0, (rate > 0) != (s.Counted > 0):
		t.Fatalf("rate: %+v", s)
	case !(s.StandardError >= 0), s.UpperBound && s.Rate == 0:
		t.Fatalf("error: %+v", s)
	}
}

// sums are what an estimate is made of.
type sums struct {
	time    time.Duration
	counted int64
	covered int64
}

func sumsOf(out []Sample) (u sums) {
	for _, s := range out {
		u.covered += s.Covered
		if !s.UpperBound {
			u.time += s.Time
			u.counted += s.Counted
		}
	}
	return u
}

// A burst that was closed by a tick and one found closed by the next arrival say the same.
func TestTicksChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path, steps := drawPath(t), drawSteps(t)
		for i := range steps {
			if steps[i].kind != echo {
				steps[i].ours = 0 // a tick in an absence of ours may close a burst too early
			}
		}
		var both [2]sums
		for i := range both {
			e := &echoes{}
			w := NewWindow(DefaultConfig(), e)
			w.SetPath(path)
			out, _ := play(w, e, steps, i == 0)
			both[i] = sumsOf(out)
		}
		if both[0] != both[1] {
			t.Fatalf("with ticks %+v, without %+v", both[0], both[1])
		}
	})
}

// How a read is chopped is the reader's business.
func TestChoppingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path, steps := drawPath(t), drawSteps(t)
		var chopped []step
		for i, s := range steps {
			// Two arrivals at one instant are one; but not so if something came between.
			if s.kind != arrive || s.bytes < 2 || (s.gap == 0 && i > 0 && steps[i-1].kind != arrive) {
				chopped = append(chopped, s)
				continue
			}
			a, b := s, s
			a.bytes = rapid.IntRange(1, s.bytes-1).Draw(t, "chop")
			b.bytes, b.gap = s.bytes-a.bytes, 0
			chopped = append(chopped, a, b)
		}
		var both [2][]Sample
		for i, in := range [][]step{steps, chopped} {
			e := &echoes{}
			w := NewWindow(DefaultConfig(), e)
			w.SetPath(path)
			both[i], _ = play(w, e, in, true)
		}
		if len(both[0]) != len(both[1]) {
			t.Fatalf("%d samples, chopped %d", len(both[0]), len(both[1]))
		}
		for i := range both[0] {
			if both[0][i] != both[1][i] {
				t.Fatalf("whole %+v\nchopped %+v", both[0][i], both[1][i])
			}
		}
	})
}

// Within a declared fetch there is no instant at which a peer gains by sending later: at best, after
// a silence that brings in its first read as well, the reading is the exact truth.
func TestDelayNeverReadsFaster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 200).Draw(t, "n")
		in := make([]read, n)
		at := 50 * ms
		for i := range in {
			in[i] = read{at: at, bytes: rapid.IntRange(1, 70_000).Draw(t, "bytes")}
			at += 1 + drawGap(t)
		}
		shifted := rapid.IntRange(1, n-1).Draw(t, "from")
		delay := drawGap(t)
		alone := rapid.Bool().Draw(t, "alone") && shifted < n-1
		late := append([]read(nil), in...)
		for i := shifted; i < n; i++ {
			if alone && i > shifted {
				late[i].at = max(in[i].at, late[i-1].at)
				continue
			}
			late[i].at += delay
		}
		truth := float64(late[n-1].at-late[0].at) / float64(total(late))
		var rate [2]float64
		for i, reads := range [][]read{in, late} {
			h := newHost(Path{}) // no slow start is left out: see TestDelayOnTheRamp
			h.fetch(0, reads)
			u := sumsOf(h.out)
			rate[i] = float64(u.time) / float64(u.counted)
		}
		if rate[1] < min(rate[0], truth)*(1-1e-9) {
			t.Fatalf("delay %v from %d on: %v ns/B became %v", delay, shifted, rate[0], rate[1])
		}
	})
}

// On slow start a delay may be forgiven, but only within twice what a slow start explains.
func TestDelayOnTheRamp(t *testing.T) {
	l := link{rtt: 100 * ms, speed: 100 * mbit}
	for _, delay := range []time.Duration{50 * ms, 200 * ms, 800 * ms, 3 * time.Second, 30 * time.Second} {
		for _, at := range []int{1, 20, 100, 500, 1000, 2000, 5000} {
			in := l.cold(0, 12e6)
			for i := at; i < len(in); i++ {
				in[i].at += delay
			}
			h := newHost(l.path(true))
			h.fetch(0, in)
			u := sumsOf(h.out)
			hidden := in[len(in)-1].at - in[0].at - time.Duration(float64(u.time)*float64(total(in))/float64(u.counted))
			if limit := 2 * 7 * l.rtt; hidden > limit {
				t.Errorf("delay %v at %d: %v of the fetch is in no rate", delay, at, hidden)
			}
		}
	}
}

// The curve keeps totals exactly and every cut within one stride and one arrival.
func TestCurveIsExactWithinAStride(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := new(curve)
		c.reset()
		all := []point{{}}
		largest, instant := int64(0), int64(0) // bytes of the arrivals at one instant
		for range rapid.IntRange(1, 2000).Draw(t, "n") {
			b := int64(rapid.IntRange(1, 70_000).Draw(t, "bytes"))
			dt := time.Duration(rapid.IntRange(0, 1e6).Draw(t, "dt"))
			if dt > 0 {
				instant = 0
			}
			instant += b
			largest = max(largest, instant)
			c.add(b, dt)
			last := all[len(all)-1]
			next := point{last.bytes + b, last.time + dt}
			if dt == 0 {
				all[len(all)-1].bytes = next.bytes
			} else {
				all = append(all, next)
			}
		}
		end := all[len(all)-1]
		if c.head != end {
			t.Fatalf("head %+v, exact %+v", c.head, end)
		}
		skip := rapid.Int64Range(0, end.bytes).Draw(t, "skip")
		cut, _, _, ok := c.after(skip)
		if !ok {
			return
		}
		exact := point{-1, 0}
		for _, p := range all {
			if p.bytes == cut.bytes {
				exact = p
			}
		}
		if exact != cut && cut != (point{}) {
			t.Fatalf("checkpoint %+v is none of the exact ones", cut)
		}
		if cut.bytes <= skip || cut.bytes > skip+2*c.stride+largest {
			t.Fatalf("cut at %d for %d, stride %d", cut.bytes, skip, c.stride)
		}
	})
}
