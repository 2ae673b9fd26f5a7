package ranking

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

const half = 4 * time.Hour

func genCompleted(t *rapid.T) completed {
	total := time.Duration(rapid.Int64Range(int64(ms), int64(time.Hour)).Draw(t, "time"))
	return completed{
		bytes: rapid.Int64Range(1, 1<<34).Draw(t, "bytes"), time: total,
		first: time.Duration(rapid.Float64Range(0, 1).Draw(t, "first") * float64(total)),
		tail:  time.Duration(rapid.Float64Range(0, 1).Draw(t, "tail") * float64(total)),
	}
}

// One completion says its own time of its own size, and more for more.
func TestWaitsAtTheirOwnSize(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var ws waits
		c, p := genCompleted(rt), genPath(rt)
		if got := ws.add(0, c, p, half); got != 1 {
			rt.Fatalf("the first is %v times those before", got)
		}
		at, weight := ws.of(0, c.bytes, p, half)
		if math.Abs(at-c.time.Seconds()) > 1e-9*at || weight != 1 {
			rt.Fatalf("%v s of weight %v, %v were measured", at, weight, c.time)
		}
		last := 0.0
		for n := int64(1); n < 1<<36; n *= 3 {
			now, w := ws.of(0, n, p, half)
			if w == 0 { // too little to go by
				break
			}
			if now < last-1e-6*last-1e-8 || math.IsNaN(now) || math.IsInf(now, 0) {
				rt.Fatalf("%d bytes: %v s, less than for a third: %v s", n, now, last)
			}
			if want := min(1, 4*float64(c.bytes)/float64(n)); math.Abs(w-want) > 1e-6 {
				rt.Fatalf("%d bytes: weight %v, want %v", n, w, want)
			}
			last = now
		}
	})
}

// One slow completion moves the mean, and one good one does not move it back. How quick the punishment
// is is the penalty's.
func TestWaitsMove(t *testing.T) {
	p := Path{BaseRTT: 20 * ms, Rate: 1e-7}
	took := func(d time.Duration) completed { return completed{bytes: 1e6, time: d, first: 20 * ms, tail: d / 2} }
	at := func(ws *waits) float64 { t, _ := ws.of(0, 1e6, p, half); return t }
	var ws waits
	for range 20 {
		ws.add(0, took(time.Second), p, half)
	}
	if got := at(&ws); math.Abs(got-1) > 0.01 {
		t.Fatalf("%v s of twenty of one second", got)
	}
	if times := ws.add(0, took(4*time.Second), p, half); math.Abs(times-4) > 0.1 {
		t.Errorf("it took %v times as long", times)
	}
	worse := at(&ws)
	ws.add(0, took(time.Second), p, half)
	better := at(&ws)
	if worse < 1.15 || better <= 1.1 || better >= worse {
		t.Errorf("after one of 4 s: %v s, and after one more of 1 s: %v s", worse, better)
	}
	if now, weight := ws.of(10*half, 1e6, p, half); weight > 0.01 || now <= 0 {
		t.Errorf("ten half-lives on: %v s of weight %v", now, weight)
	}
}

func TestSizeClasses(t *testing.T) {
	last := 0
	for n := int64(1); n < 1<<41; n += n/3 + 1 {
		c := sizeClass(n)
		if c < last || c > last+1 {
			t.Fatalf("%d bytes are of class %d, fewer of %d", n, c, last)
		}
		last = c
	}
	if last != sizeClasses-1 || sizeClass(-5) != 0 {
		t.Errorf("the last class is %d", last)
	}
}

func TestCalibration(t *testing.T) {
	var c calibration
	if f := c.factor(0, day); f != 1 {
		t.Errorf("unknown: %v", f)
	}
	c.add(0, 5)
	if f := c.factor(0, day); f != 5 {
		t.Errorf("the first decides: %v", f)
	}
	c.add(0, 1)
	c.add(0, 1)
	if f := c.factor(0, day); f != 1 {
		t.Errorf("the median of 5, 1, 1: %v", f)
	}
	c.add(0, 0.01)
	c.add(0, math.Inf(1))
	c.add(0, math.NaN())
	if f := c.factor(0, day); f < 1 || f > calibrationMost {
		t.Errorf("%v", f)
	}
	c = calibration{}
	for range 3 {
		c.add(0, 1000)
	}
	if f := c.factor(0, day); f != calibrationMost {
		t.Errorf("%v", f)
	}
	if f := c.factor(20*day, day); f != 1 {
		t.Errorf("twenty days on: %v", f)
	}
}

// A failure never makes the factor better, whatever is in the ring.
func TestCalibrationOfFailures(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var c calibration
		now := time.Duration(0)
		for range rapid.IntRange(0, 30).Draw(rt, "samples") {
			c.add(now, rapid.Float64Range(0, 40).Draw(rt, "ratio"))
			now += time.Duration(rapid.IntRange(0, 40).Draw(rt, "hours")) * time.Hour
		}
		before := c.factor(now, day)
		c.fail(now, rapid.Float64Range(0, 40).Draw(rt, "failure"), day)
		if after := c.factor(now, day); after < before {
			rt.Fatalf("%v, %v before", after, before)
		}
	})
}

// What is given up for being slow, and then completes as slowly, is as slow as that.
func TestPenaltyIsLearnt(t *testing.T) {
	cfg := DefaultConfig()
	for _, c := range []struct {
		name     string
		expected float64 // after it, of 1 s before
		want     float64
	}{{"as slow as it failed", 10, 1}, {"half as slow", 5, 2}, {"slower still", 40, 1}, {"as fast as before", 1, 10}, {"faster", 0.1, 10}} {
		var p penalty
		p.fail(0, 10, 1, 1e6, &cfg)
		p.learnt(0, c.expected, &cfg)
		if f := p.factor(0, 0, &cfg); math.Abs(f-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.name, f, c.want)
		}
		p.learnt(0, c.expected, &cfg)
		if f := p.factor(0, 0, &cfg); math.Abs(f-c.want) > 1e-9 {
			t.Errorf("%s, told twice: %g, want %g", c.name, f, c.want)
		}
	}
}

// A slow honest peer that was given up once and then left to finish is expected to take what it takes.
func TestAFailureCountsOnce(t *testing.T) {
	w := newWorld(t)
	w.honestPeers([2]float64{80, 20}, [2]float64{80, 20})
	slow := w.add(&actor{id: "slow", addr: in(1, 1), rate: 1e4, rtt: 20 * ms})
	const size = 2e5 // in 20 s
	for range 2 {
		f := w.started(slow, Query{Size: size})
		w.now += 10 * time.Second
		f.Progress(w.now, size/2)
		f.Abort(w.now)
	}
	if got := w.expect(slow, size); got < 2*time.Second || got > 30*time.Second {
		t.Errorf("given up after 10 s of 20 s, it is expected in %v", got)
	}
	for range 2 {
		f := w.started(slow, Query{Size: size})
		w.now += 20 * time.Second
		f.Progress(w.now, size)
		f.Done(w.now, size)
	}
	if got := w.expect(slow, size); got < 19*time.Second || got > 25*time.Second {
		t.Errorf("after it came in 20 s twice, it is expected in %v", got)
	}
}

// What else is awaited of a peer makes it no slower, so that failures are not forgiven for it.
func TestContentionForgivesNoFailure(t *testing.T) {
	penalty := func(beside int) float64 {
		w := newWorld(t)
		a := w.honestPeers([2]float64{80, 20})[0]
		for range 20 {
			w.from(a, 1e6)
		}
		f := w.started(a, Query{Size: 1e6})
		w.now += 5 * time.Second
		f.Fail(w.now, TimedOut)
		for range beside {
			w.started(a, Query{Size: 4e6})
		}
		f = w.started(a, Query{Size: 1e6})
		w.now += 130 * time.Millisecond
		f.Progress(w.now, 1e6)
		f.Done(w.now, 1e6)
		return w.r.peers[a.id].penalty.failure
	}
	alone, beside := penalty(0), penalty(5)
	if alone < 2 || math.Abs(beside/alone-1) > 0.05 {
		t.Errorf("a penalty of %.1f is left, and beside 20 MB that are awaited %.1f", alone, beside)
	}
}

func TestPenalties(t *testing.T) {
	cfg := DefaultConfig()
	var p penalty
	if f := p.factor(0, 0, &cfg); f != 1 {
		t.Fatal(f)
	}
	p.fail(0, 3, 0, 0, &cfg)
	if f := p.factor(0, 0, &cfg); f != 3 {
		t.Errorf("one failure: %v", f)
	}
	p.fail(0, 3, 0, 0, &cfg)
	if f := p.factor(0, 0, &cfg); f != 5 {
		t.Errorf("two: %v", f)
	}
	if f := p.factor(6*time.Hour, 0, &cfg); math.Abs(f-3) > 1e-9 {
		t.Errorf("a half-life on: %v", f)
	}
	p.more(6*time.Hour, 7, &cfg)
	if f := p.factor(6*time.Hour, 0, &cfg); math.Abs(f-10) > 1e-9 {
		t.Errorf("and it took long elsewhere: %v", f)
	}
	for range 100 {
		p.fail(6*time.Hour, 50, 0, 0, &cfg)
	}
	if f := p.factor(6*time.Hour, 0, &cfg); f > failureMost+1 {
		t.Errorf("a hundred: %v", f)
	}
	p.complete(6*time.Hour, 0, 1, &cfg)
	if f := p.factor(6*time.Hour, 0, &cfg); f > forgiven*failureMost+1 || p.running != 0 {
		t.Errorf("a completion: %v", f)
	}
	p = penalty{}
	p.complete(0, 0, 5, &cfg)
	if f := p.factor(0, 0, &cfg); f != 3 {
		t.Errorf("one slow completion: %v", f)
	}
	if f := p.factor(cfg.HalfPeak, 0, &cfg); f != 2 {
		t.Errorf("ten minutes on: %v", f)
	}
	if f := p.factor(ms, 2*peakServed, &cfg); math.Abs(f-1.5) > 0.01 {
		t.Errorf("and after sixteen completions of others: %v", f)
	}
	p.complete(0, 0, 1, &cfg)
	if f := p.factor(0, 0, &cfg); f != 2 {
		t.Errorf("a good one: %v", f)
	}
}

func TestQuiet(t *testing.T) {
	const s = time.Second
	flows := burst.Reading{EchoAge: 100 * ms, Silence: 3 * s}
	stops := burst.Reading{EchoAge: 4 * s, Silence: 3 * s}
	other := burst.Reading{EchoAge: 4 * s, Silence: 10 * ms} // another fetch's payload comes
	for name, c := range map[string]struct {
		looks   []burst.Reading
		first   bool
		stalled time.Duration
		echoes  audit.Echoes
	}{
		"none":             {nil, true, 3 * s, audit.EchoesUnknown},
		"they flow":        {[]burst.Reading{flows}, true, 3 * s, audit.EchoesFlowed},
		"they stop":        {[]burst.Reading{flows, stops}, true, 3 * s, audit.EchoesStopped},
		"others are fed":   {[]burst.Reading{other}, true, 3 * s, audit.EchoesFlowed},
		"no cookies":       {[]burst.Reading{{}}, true, 3 * s, audit.EchoesUnknown},
		"before the first": {[]burst.Reading{flows}, false, 0, audit.EchoesFlowed},
	} {
		var q quiet
		for _, r := range c.looks {
			q.look(3*s, r)
		}
		q.over(3*s, s, c.first)
		q.over(500*ms, s, true) // too short to count
		if stalled, echoes := q.report(); stalled != c.stalled || echoes != c.echoes {
			t.Errorf("%s: %v, %v", name, stalled, echoes)
		}
	}
	q := quiet{flowed: 5 * s, stopped: s}
	if stalled, echoes := q.report(); stalled != s || echoes != audit.EchoesStopped {
		t.Errorf("some of either: %v, %v", stalled, echoes)
	}
}

func TestPace(t *testing.T) {
	p := pace{}
	now, got := time.Duration(0), int64(0)
	for range 50 {
		now += 100 * ms
		got += 1e5
		p.add(now, got)
	}
	if rate, span := p.rate(now, got); math.Abs(rate-1e6) > 1e4 || span < paceSpan {
		t.Errorf("%.0f B/s over %v", rate, span)
	}
	if rate, _ := p.rate(now+10*time.Second, got); rate > 2e5 {
		t.Errorf("%.0f B/s after ten silent seconds", rate)
	}
}

func TestTheOwnLink(t *testing.T) {
	var m meterOfLink
	full := 0
	for i := range 100 {
		if m.add(time.Duration(i)*100*ms, 95_000, 1e6) {
			full++
		}
	}
	if full != 9 {
		t.Errorf("%d of 9 seconds at 950 kB/s of a limit of 1 MB/s", full)
	}
	for i := range 100 {
		if m.add(time.Minute+time.Duration(i)*100*ms, 50_000, 1e6) && i > 0 {
			t.Fatal("half of it is no limit")
		}
		if m.add(0, 1e9, 0) {
			t.Fatal("no limit is known")
		}
	}
}

func TestDebts(t *testing.T) {
	var d debts
	d.add("", debt{peer: "x"})
	for i := range 3000 {
		d.add([]string{"a", "b"}[i%2], debt{peer: "p", at: time.Duration(i) * time.Second})
	}
	if len(d) > mostDebts || len(d) < mostDebts/2 {
		t.Fatalf("%d", len(d))
	}
	n := len(d)
	paid := d.pay("a")
	if len(paid)+len(d) != n || len(paid) < n/3 || len(d.pay("a")) != 0 {
		t.Errorf("%d paid of %d, %d left", len(paid), n, len(d))
	}
	d.expire(3000*time.Second + debtMost)
	if len(d) != 0 {
		t.Errorf("%d are still owed", len(d))
	}
}

func TestHolders(t *testing.T) {
	h := newHolders()
	groups := []*group{{name: "a"}, {name: "b"}}
	var crowd []*peer
	for range 2 * mostHolders {
		p := &peer{group: groups[0]}
		crowd = append(crowd, p)
		h.add("d", p)
	}
	one := &peer{group: groups[1]}
	h.add("d", one)
	h.add("d", one)
	if n := len(h.of("d")); n != mostHolders {
		t.Errorf("%d holders", n)
	}
	found := 0
	for _, p := range h.of("d") {
		if p == one {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the one of another group is there %d times", found)
	}
	for i := range 2 * maxData {
		h.add(string(rune(i))+"x", one)
	}
	if len(h.data) > maxData {
		t.Errorf("%d data", len(h.data))
	}
	h.forget(one)
	if len(h.data) > 1 {
		t.Errorf("%d data of one that is forgotten", len(h.data))
	}
	h.drop("none", crowd[0])
}

// Trust in coverage is what the burst window's own reading says.
func TestTrust(t *testing.T) {
	for _, n := range []int64{0, 1, 1e3, 1e6, 1e9} {
		for _, c := range []int64{0, 1, 1e6} {
			if got, want := trust(float64(c), n), (burst.Estimation{Coverage: c}).Trust(n); math.Abs(got-want) > 1e-9 {
				t.Errorf("coverage %d for %d: %v, want %v", c, n, got, want)
			}
		}
	}
}

// Echoes held while a crumb is served undo no failure.
func TestHeldEchoesUndoNoFailure(t *testing.T) {
	after := func(hold time.Duration) time.Duration {
		w := served(t, 3, 1e6)
		a := w.add(&actor{id: "bad", addr: in(71, 1), rate: 1e7, rtt: 20 * ms})
		w.reads(a, 1e7, 1e6)
		w.from(a, 1e6)
		f := w.started(a, Query{Size: 1e6})
		w.now += 5 * time.Second
		f.Fail(w.now, Reset)
		high := func(d time.Duration) {
			a.gauge.set(func(r *burst.Reading) { r.P95RTT = d })
			w.now += 2 * time.Second
			w.r.Poll(w.now)
		}
		high(22*ms + hold)
		w.from(a, 2000)
		high(22 * ms)
		return w.expect(a, 1e6)
	}
	if plain, held := after(0), after(5*time.Second); held < plain*99/100 {
		t.Errorf("expected in %v after a failure and a crumb, in %v if echoes were held meanwhile", plain, held)
	}
}
