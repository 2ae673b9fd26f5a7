package rivals

import (
	"math"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/ranking"
)

// crowd is so many idle candidates, numbered from 1 on; each is altered by the
// function of its place.
func crowd(alter ...func(*engine.Candidate)) []engine.Candidate {
	out := make([]engine.Candidate, len(alter))
	for i, f := range alter {
		out[i].Conn = ranking.Conn(i + 1)
		out[i].Ungated = func() float64 { return 0 }
		f(&out[i])
	}
	return out
}

func plain(*engine.Candidate) {}

// shares are how often a rule picks each of the candidates. Picks must not change
// its mind.
func shares(r engine.Rule, now time.Duration, w engine.Want, c []engine.Candidate) []float64 {
	const times = 2000
	out := make([]float64, len(c))
	for range times {
		out[r.Pick(now, w, c)]++
	}
	for i := range out {
		out[i] /= times
	}
	return out
}

// always fails unless a rule picks one candidate only.
func always(t *testing.T, r engine.Rule, now time.Duration, w engine.Want, c []engine.Candidate, want int) {
	t.Helper()
	if got := shares(r, now, w, c); got[want] < 1 {
		t.Errorf("%s picks by %.2f, and not always %d", r.Name(), got, want)
	}
}

// evenly fails unless the candidates from one place on are picked alike, and no others.
func evenly(t *testing.T, r engine.Rule, now time.Duration, w engine.Want, c []engine.Candidate, from int) {
	t.Helper()
	got := shares(r, now, w, c)
	want := 1 / float64(len(c)-from)
	for i, x := range got {
		if i < from && x > 0 || i >= from && math.Abs(x-want) > 0.06 {
			t.Errorf("%s picks by %.2f, and not those from %d on alike", r.Name(), got, from)
			return
		}
	}
}

// came is a transfer that brought so many bytes in a time, of the candidate in a
// place.
func came(place int, bytes int64, took time.Duration) engine.Outcome {
	return engine.Outcome{Conn: ranking.Conn(place + 1), Bytes: bytes, Took: took}
}

func failed(place int, bytes int64, took time.Duration) engine.Outcome {
	o := came(place, bytes, took)
	o.Failed = true
	return o
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestStrangers: a rule that knows nothing prefers nobody, and nobody who has a
// transfer under way is preferred by those that count these.
func TestStrangers(t *testing.T) {
	for _, r := range []engine.Rule{newMsgRate(1), newPeakEWMA(1), &ungated{newDice(1)}, newAdvertised(1)} {
		evenly(t, r, time.Second, engine.Want{}, crowd(plain, plain, plain), 0)
	}
	busy := crowd(func(c *engine.Candidate) { c.Transfers = 1 }, plain, plain)
	for _, r := range []engine.Rule{newMsgRate(1), newPeakEWMA(1)} {
		evenly(t, r, time.Second, engine.Want{}, busy, 1)
	}
}

func TestMsgRateCapacity(t *testing.T) {
	m := newMsgRate(1)
	c := crowd(plain, plain, plain)
	m.Pick(0, engine.Want{}, c)
	m.Learn(time.Second, came(0, 1e6, time.Second))
	near(t, "a tenth of the first measurement", m.peers[1].capacity, 1e5)
	m.Learn(2*time.Second, came(0, 2e6, time.Second))
	near(t, "nine tenths of that and a tenth of the second", m.peers[1].capacity, 0.9*1e5+0.1*2e6)
	m.Learn(3*time.Second, came(1, 9e6, time.Second))
	always(t, m, 3*time.Second, engine.Want{}, c, 1)

	// A stranger starts with the mean of the others.
	c = append(c, engine.Candidate{Conn: 4})
	m.Pick(3*time.Second, engine.Want{}, c)
	near(t, "the stranger's capacity", m.peers[4].capacity, (2.9e5+9e5+0)/3)

	round := m.peers[2].roundTrip
	m.Learn(4*time.Second, failed(1, 5e6, 10*time.Second))
	if p := m.peers[2]; p.capacity != 0 || p.roundTrip != round {
		t.Errorf("after a failure the capacity is %v, the round trip %v and was %v", p.capacity, p.roundTrip, round)
	}
	m.Learn(5*time.Second, engine.Outcome{Conn: 1, Failed: true, Aborted: true})
	near(t, "after what we gave up, as before", m.peers[1].capacity, 2.9e5)
	m.Learn(5*time.Second, came(8, 1, time.Second)) // of nobody it knows
	always(t, m, 5*time.Second, engine.Want{}, c, 3)
}

// TestMsgRateIdleFirst: the best is not asked while it is busy and another is not; if
// all are, the one with the fewest requests is.
func TestMsgRateIdleFirst(t *testing.T) {
	m := newMsgRate(1)
	c := crowd(plain, plain, plain)
	m.Pick(0, engine.Want{}, c)
	for i, bytes := range []int64{3e6, 2e6, 1e6} {
		m.Learn(time.Second, came(i, bytes, time.Second))
	}
	for _, tc := range []struct {
		busy [3]int
		want int
	}{
		{[3]int{0, 0, 0}, 0}, {[3]int{1, 0, 0}, 1}, {[3]int{1, 1, 0}, 2}, {[3]int{1, 1, 1}, 0}, {[3]int{2, 1, 1}, 1},
	} {
		for i, n := range tc.busy {
			c[i].Transfers = n
		}
		always(t, m, time.Second, engine.Want{}, c, tc.want)
	}
}

// TestMsgRateRoundTrip: the population's follows the peers' within its bounds, once
// in a round trip.
func TestMsgRateRoundTrip(t *testing.T) {
	m := newMsgRate(1)
	c := crowd(plain, plain, plain, plain)
	m.Pick(0, engine.Want{}, c)
	for i, took := range []time.Duration{9 * time.Second, 3 * time.Second, 5 * time.Second, 7 * time.Second} {
		m.peers[ranking.Conn(i+1)].roundTrip = took
	}
	m.Pick(19*time.Second, engine.Want{}, c)
	if m.roundTrip != rttMaxEstimate {
		t.Errorf("it moved to %v before its time", m.roundTrip)
	}
	m.Pick(20*time.Second, engine.Want{}, c) // sorted 3 5 7 9, at 2
	near(t, "the round trip", m.roundTrip.Seconds(), 0.75*20+0.25*7)
	for _, p := range m.peers {
		p.roundTrip = time.Millisecond
	}
	for now := time.Minute; now < time.Hour; now += time.Minute {
		m.Pick(now, engine.Want{}, c)
	}
	if m.roundTrip != rttMinEstimate {
		t.Errorf("it ends at %v", m.roundTrip)
	}
	m.Learn(time.Hour, came(0, 1e6, 11*time.Millisecond))
	near(t, "a peer's own", m.peers[1].roundTrip.Seconds(), 0.002)
}

func TestPeakEWMA(t *testing.T) {
	e := newPeakEWMA(1)
	e.Learn(0, came(0, 1, 2*time.Second))
	p := e.peers[1]
	near(t, "the first cost", p.cost, 2e9)
	e.Learn(time.Second, came(0, 1, 8*time.Second))
	near(t, "the cost after a worse one", p.cost, 8e9)
	e.Learn(11*time.Second, came(0, 1, time.Second))
	w := math.Exp(-1)
	near(t, "the cost after a better one", p.cost, 8e9*w+1e9*(1-w))

	c := crowd(plain)
	before := p.cost
	near(t, "a read later", e.load(21*time.Second, c[0]), before*w)
	near(t, "and at the same instant", e.load(21*time.Second, c[0]), before*w)
	c[0].Transfers = 2
	near(t, "the load of two more", e.load(21*time.Second, c[0]), 3*before*w)
}

// TestPeakEWMAForgets: the better of two is asked, until the worse has been left alone
// for so long that it seems as good.
func TestPeakEWMAForgets(t *testing.T) {
	e := newPeakEWMA(1)
	c := crowd(plain, plain)
	e.Learn(0, came(0, 1, 8*time.Second))
	for now := time.Duration(0); now < 20*time.Second; now += time.Second {
		e.Learn(now, came(1, 1, time.Second))
		always(t, e, now, engine.Want{}, c, 1)
	}
	e.Learn(30*time.Second, came(1, 1, time.Second))
	always(t, e, 30*time.Second, engine.Want{}, c, 0)
}

// TestPeakEWMAFailures: to fail fast is no way to be asked.
func TestPeakEWMAFailures(t *testing.T) {
	e := newPeakEWMA(1)
	e.Learn(0, failed(0, 0, time.Millisecond))
	e.Learn(0, came(1, 1, time.Second))
	e.Learn(0, failed(2, 0, 30*time.Second))
	e.Learn(0, engine.Outcome{Conn: 2, Took: time.Hour, Failed: true, Aborted: true})
	near(t, "a quick failure", e.peers[1].cost, 5e9)
	near(t, "one that we gave up", e.peers[2].cost, 1e9)
	near(t, "a slow failure", e.peers[3].cost, 30e9)
	always(t, e, 0, engine.Want{}, crowd(plain, plain, plain), 1)
}

// with makes a candidate with an ungated rate, a round trip and a word on the size.
func with(rate float64, rtt time.Duration, said int64) func(*engine.Candidate) {
	return func(c *engine.Candidate) {
		c.Ungated = func() float64 { return rate }
		c.RTT, c.Advertised = rtt, said
	}
}

func TestUngated(t *testing.T) {
	far, next := 200*time.Millisecond, 20*time.Millisecond
	for name, tc := range map[string]struct {
		c    []engine.Candidate
		want int
	}{
		"large, by rate":             {crowd(with(2e6, far, 4e6), with(1e6, next, 4e6)), 0},
		"small, by round trip":       {crowd(with(2e6, far, 2e4), with(1e6, next, 2e4)), 1},
		"understating gains nothing": {crowd(with(1e6, next, 1e3), with(2e6, next, 4e6), with(1e6, next, 4e6)), 1},
		"a stranger has the mean":    {crowd(with(0, next, 4e6), with(1e6, next, 4e6), with(4e6, next, 4e6)), 2},
		"and so may be best":         {crowd(with(0, next, 1e5), with(1e6, far, 1e5), with(1e6, far, 1e5)), 0},
		"nobody says a size":         {crowd(with(1e6, next, 0), with(4e6, far, 0)), 1},
	} {
		t.Run(name, func(t *testing.T) { always(t, &ungated{newDice(1)}, 0, engine.Want{}, tc.c, tc.want) })
	}
	u := &ungated{newDice(1)}
	owing := crowd(with(2e6, next, 1e6), with(1.5e6, next, 1e6))
	owing[0].Outstanding = 2e6
	always(t, u, 0, engine.Want{}, owing, 1)
	u.Learn(0, failed(1, 0, time.Minute)) // which it does not care about
	always(t, u, 0, engine.Want{}, owing, 1)
	small := crowd(with(2e6, far, 4e6), with(1e6, next, 4e6))
	always(t, u, 0, engine.Want{Attested: 2e4}, small, 1)
}

func TestAdvertised(t *testing.T) {
	a := newAdvertised(1)
	a.Learn(0, came(0, 1e6, time.Second))
	near(t, "the first rate", a.rates[1], 1e6)
	a.Learn(0, came(0, 3e6, time.Second))
	near(t, "half of each", a.rates[1], 2e6)
	a.Learn(0, failed(0, 1e6, 10*time.Second))
	near(t, "and of what failed", a.rates[1], 1.05e6)
	a.Learn(0, engine.Outcome{Conn: 1, Failed: true, Aborted: true, Took: time.Hour})
	near(t, "nothing of what we gave up", a.rates[1], 1.05e6)
	a.Learn(0, came(1, 2e6, time.Second))

	said := func(n ...int64) []engine.Candidate {
		c := crowd(plain, plain)
		for i := range c {
			c[i].Advertised = n[i]
		}
		return c
	}
	always(t, a, 0, engine.Want{}, said(1e6, 1e6), 1)
	always(t, a, 0, engine.Want{}, said(1e5, 1e6), 0) // what lying is good for
	always(t, a, 0, engine.Want{Attested: 1e6}, said(1e5, 1e6), 1)
	always(t, a, 0, engine.Want{}, said(0, 1e6), 1) // who says nothing gains nothing
	always(t, a, 0, engine.Want{}, said(0, 0), 1)
	owing := said(1e6, 1e6)
	owing[1].Outstanding = 4e6
	always(t, a, 0, engine.Want{}, owing, 0)

	// One that only fails is last, and a stranger between it and the best.
	a.Learn(0, failed(2, 0, time.Millisecond))
	c := crowd(plain, plain, plain, plain)
	for i := range c {
		c[i].Advertised = 1e6
	}
	always(t, a, 0, engine.Want{}, c, 1)
	always(t, a, 0, engine.Want{}, []engine.Candidate{c[2], c[0], c[3]}, 1)
	a.Learn(0, failed(0, 0, time.Second))
	a.Learn(0, failed(0, 0, time.Second))
	always(t, a, 0, engine.Want{}, []engine.Candidate{c[2], c[0], c[1], c[3]}, 2)
}

func TestSizeFor(t *testing.T) {
	for _, tc := range []struct {
		attested int64
		said     []int64
		want     int64
	}{
		{0, []int64{5, 5, 1}, 5}, {0, []int64{9, 5, 1}, 5}, {0, []int64{0, 0, 7}, 7}, {0, []int64{1, 9}, 9},
		{4, []int64{5, 5, 1}, 4}, {0, []int64{0, 0}, unsaid},
	} {
		var c []engine.Candidate
		for _, n := range tc.said {
			c = append(c, engine.Candidate{Advertised: n})
		}
		if got := sizeFor(engine.Want{Attested: tc.attested}, c); got != tc.want {
			t.Errorf("of %v with %d attested it is %d, want %d", tc.said, tc.attested, got, tc.want)
		}
	}
}
