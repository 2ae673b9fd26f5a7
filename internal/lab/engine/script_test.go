package engine

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/internal/lab/scenario"
)

const ms = time.Millisecond

// TestDraw: draws are even, and depend on all that they are made from.
func TestDraw(t *testing.T) {
	sum := 0.0
	for n := range 10_000 {
		u := draw(1, "peer", n, 0)
		if u < 0 || u >= 1 {
			t.Fatalf("%v", u)
		}
		sum += u
	}
	if mean := sum / 10_000; mean < 0.48 || mean > 0.52 {
		t.Errorf("mean %v", mean)
	}
	base := draw(1, "a", 1, 1)
	for name, other := range map[string]float64{
		"seed": draw(2, "a", 1, 1), "peer": draw(1, "b", 1, 1), "nth": draw(1, "a", 2, 1), "what": draw(1, "a", 1, 2),
	} {
		if other == base {
			t.Errorf("another %s draws the same", name)
		}
	}
	if draw(1, "a", 1, 1) != base {
		t.Error("the same draws another")
	}
}

func TestHolds(t *testing.T) {
	yes, no := true, false
	ask := asked{size: 1e6, critical: true, nth: 4, at: 10 * time.Second}
	for name, tc := range map[string]struct {
		when scenario.When
		want bool
	}{
		"always":         {scenario.When{}, true},
		"never":          {scenario.When{Not: true}, false},
		"critical":       {scenario.When{Critical: &yes}, true},
		"not critical":   {scenario.When{Critical: &no}, false},
		"after 4":        {scenario.When{AfterFetches: 4}, true},
		"after 5":        {scenario.When{AfterFetches: 5}, false},
		"until 4":        {scenario.When{UntilFetches: 4}, false},
		"until 5":        {scenario.When{UntilFetches: 5}, true},
		"after 10 s":     {scenario.When{After: scenario.Time(10 * time.Second)}, true},
		"after 11 s":     {scenario.When{After: scenario.Time(11 * time.Second)}, false},
		"until 10 s":     {scenario.When{Until: scenario.Time(10 * time.Second)}, false},
		"until 11 s":     {scenario.When{Until: scenario.Time(11 * time.Second)}, true},
		"share":          {scenario.When{Share: 0.6}, true},
		"smaller share":  {scenario.When{Share: 0.5}, false},
		"every fifth":    {scenario.When{Every: 5}, true},
		"every fourth":   {scenario.When{Every: 4}, false},
		"from":           {scenario.When{Sizes: &scenario.Sizes{From: 1e6}}, true},
		"from more":      {scenario.When{Sizes: &scenario.Sizes{From: 1e6 + 1}}, false},
		"to":             {scenario.When{Sizes: &scenario.Sizes{To: 1e6}}, false},
		"to more":        {scenario.When{Sizes: &scenario.Sizes{To: 1e6 + 1}}, true},
		"all, one fails": {scenario.When{Critical: &yes, Every: 4, Share: 0.6}, false},
		"its opposite":   {scenario.When{Critical: &yes, Every: 4, Share: 0.6, Not: true}, true},
	} {
		if got := holds(tc.when, ask, 0.55); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// walk serves a reply of n bytes by a script and returns its pieces, and how it
// ended.
func walk(s script, n int64) (pauses time.Duration, sent int64, last time.Duration) {
	for sent < n {
		wait, most := s.step(sent, sent == 0)
		pauses += wait
		if most == 0 {
			return pauses, sent, last
		}
		last = s.due(0, sent)
		sent += min(most, n-sent, s.piece(sent))
	}
	return pauses, sent, last
}

func TestScripts(t *testing.T) {
	span := func(d time.Duration) scenario.Span { return scenario.Span{From: d, To: d} }
	for name, tc := range map[string]struct {
		do     scenario.Do
		pauses time.Duration
		sent   int64
		last   time.Duration // about when the last piece is due by the rate
	}{
		"honest":        {scenario.Do{}, 0, 1e6, 0},
		"pace":          {scenario.Do{Pace: &scenario.Pace{Burst: 100e3, Silence: span(time.Second)}}, 9 * time.Second, 1e6, 0},
		"pace, uneven":  {scenario.Do{Pace: &scenario.Pace{Burst: 300e3, Silence: span(time.Second)}}, 3 * time.Second, 1e6, 0},
		"stall":         {scenario.Do{Stalls: []scenario.Stall{{At: scenario.Point{Share: 0.5}, For: span(ms)}}}, ms, 1e6, 0},
		"stall at 0":    {scenario.Do{Stalls: []scenario.Stall{{For: span(ms)}}}, ms, 1e6, 0},
		"stall at end":  {scenario.Do{Stalls: []scenario.Stall{{At: scenario.Point{Share: 1}, For: span(ms)}}}, 0, 1e6, 0},
		"stalls":        {scenario.Do{Stalls: []scenario.Stall{{At: scenario.Point{Bytes: 900e3}, For: span(ms)}, {At: scenario.Point{Bytes: 100}, For: span(ms)}}}, 2 * ms, 1e6, 0},
		"rate":          {scenario.Do{Rate: 8e5}, 0, 1e6, 9950 * ms},
		"rate to":       {scenario.Do{Rate: 8e5, RateTo: &scenario.Point{Bytes: 100e3}}, 0, 1e6, time.Second},
		"rate from":     {scenario.Do{Rate: 8e5, RateFrom: scenario.Point{Bytes: 900e3}}, 0, 1e6, 950 * ms},
		"fails half":    {scenario.Do{Fail: &scenario.Fail{How: scenario.Reset, At: scenario.Point{Share: 0.5}}}, 0, 5e5, 0},
		"fails at once": {scenario.Do{Fail: &scenario.Fail{How: scenario.NotFound}}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(1, "p", []scenario.Rule{{Do: tc.do}}, asked{size: 1e6, want: 1e6})
			pauses, sent, last := walk(s, 1e6)
			if pauses != tc.pauses || sent != tc.sent || (last-tc.last).Abs() > 100*ms {
				t.Errorf("paused %v, sent %d, last due at %v", pauses, sent, last)
			}
		})
	}
}

// TestAnyScript: whatever the rules, a script makes progress, its pauses add up, and
// the oracle's time is no less than either the link's or the script's own.
func TestAnyScript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 3e6).Draw(t, "size")
		var rules []scenario.Rule
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			rules = append(rules, scenario.Rule{Do: drawDo(t)})
		}
		s := newScript(1, "p", rules, asked{size: n, want: n})
		pauses, sent, last := walk(s, n)
		if sent != min(n, s.failAt) {
			t.Fatalf("%d of %d bytes, it fails at %d", sent, n, s.failAt)
		}
		if s.failAt < n {
			return
		}
		w := way{slope: 1e-6, buffer: 1 << 20, rtt: 40 * ms}
		got := s.finish(n, w)
		if least := max(w.seconds(n), s.delay+pauses+last) - ms; got < least {
			t.Fatalf("%v, less than %v", got, least)
		}
		if most := w.seconds(n) + s.delay + pauses + last + ms; got > most+w.seconds(n) {
			t.Fatalf("%v, more than %v", got, most)
		}
	})
}

func drawDo(t *rapid.T) scenario.Do {
	span := func(what string) scenario.Span {
		d := time.Duration(rapid.IntRange(0, 5000).Draw(t, what)) * ms
		return scenario.Span{From: d, To: d}
	}
	place := func(what string) scenario.Point {
		return scenario.Point{Bytes: scenario.Size(rapid.IntRange(0, 3e6).Draw(t, what))}
	}
	do := scenario.Do{Delay: span("delay")}
	if rapid.Bool().Draw(t, "paces") {
		do.Pace = &scenario.Pace{Burst: scenario.Size(rapid.IntRange(1000, 1e6).Draw(t, "burst")), Silence: span("silence")}
	}
	if rapid.Bool().Draw(t, "stalls") {
		do.Stalls = []scenario.Stall{{At: place("at"), For: span("for")}, {At: place("at"), For: span("for")}}
	}
	if rapid.Bool().Draw(t, "rated") {
		do.Rate = scenario.Rate(rapid.IntRange(1e5, 1e8).Draw(t, "rate"))
	}
	if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
		do.Fail = &scenario.Fail{How: scenario.Reset, At: place("end")}
	}
	return do
}

// TestContent: what is served is right where it belongs and nowhere else.
func TestContent(t *testing.T) {
	c := newContent()
	rapid.Check(t, func(t *rapid.T) {
		datum := rapid.IntRange(0, 1000).Draw(t, "datum")
		offset := rapid.Int64Range(0, 1<<40).Draw(t, "offset")
		n := rapid.IntRange(64, 100_000).Draw(t, "n")
		var p []byte
		for len(p) < n {
			p = append(p, c.at(datum, offset+int64(len(p)), n-len(p))...)
		}
		switch {
		case !c.right(datum, offset, p):
			t.Fatal("it is wrong")
		case c.right(datum+1, offset, p), c.right(datum, offset+1, p):
			t.Fatal("another is right too")
		}
		p[rapid.IntRange(0, n-1).Draw(t, "flip")] ^= 1
		if c.right(datum, offset, p) {
			t.Fatal("it is right with a bit flipped")
		}
	})
}

// TestNaive: the ungated rate leaves long silences out, and so believes a pacer.
func TestNaive(t *testing.T) {
	var honest, pacer naive
	for i := range 1000 {
		honest.arrived(time.Duration(i)*ms+time.Second, 1000)
	}
	at := time.Second
	for range 20 {
		for range 50 {
			at += ms
			pacer.arrived(at, 1000)
		}
		at += 1050 * ms
	}
	for name, v := range map[string]*naive{"honest": &honest, "pacer": &pacer} {
		if r := v.rate(); r < 0.98e6 || r > 1.02e6 {
			t.Errorf("%s: %.0f B/s", name, r)
		}
	}
	if r := new(naive).rate(); r != 0 {
		t.Errorf("%v of nothing", r)
	}
}

// TestTrack: the oracle's path is the link as it is at the time.
func TestTrack(t *testing.T) {
	l := scenario.Link{
		Rate: 8e6, RTT: scenario.Time(40 * ms),
		Changes: []scenario.Change{{At: scenario.Time(10 * time.Second), Rate: 4e6}, {At: scenario.Time(20 * time.Second), RTT: scenario.Time(80 * ms)}},
	}
	tr := newTrack(l)
	for at, want := range map[time.Duration]struct{ rate, rtt float64 }{
		0: {1e6, 0.04}, 10 * time.Second: {5e5, 0.04}, 30 * time.Second: {5e5, 0.08},
	} {
		p := tr.path(at, 1e6, 1<<20, 0)
		if got := p.Rate.BytesPerSecond(); got < want.rate*0.999 || got > want.rate*1.001 || p.BaseRTT.Seconds() != want.rtt {
			t.Errorf("at %v: %.0f B/s, %v", at, got, p.BaseRTT)
		}
	}
	if p := tr.path(0, 1e6, 0, 4e6); p.Rate.BytesPerSecond() > 5.01e5 {
		t.Errorf("%v B/s through half of it", p.Rate.BytesPerSecond())
	}
	lossy := newTrack(scenario.Link{Rate: 100e6, RTT: scenario.Time(100 * ms), Loss: &scenario.Loss{Random: 0.01}})
	// 1448 B / 100 ms x 1.22 / sqrt(0.01)
	if got := lossy.path(0, 1e6, 0, 0).Rate.BytesPerSecond(); got < 176e3 || got > 177e3 {
		t.Errorf("%.0f B/s with loss", got)
	}
}

// TestTrackBucket: the first bytes are free until the bucket is empty, and again
// after it has filled.
func TestTrackBucket(t *testing.T) {
	tr := newTrack(scenario.Link{Rate: 8e6, RTT: scenario.Time(40 * ms), Bucket: &scenario.Bucket{Bytes: 1e6, Peak: 80e6}})
	slope := func(at time.Duration, n int64) float64 { return float64(tr.path(at, n, 0, 0).Rate) * 1e6 }
	for _, step := range []struct {
		at    time.Duration
		n     int64
		want  float64 // us/B
		serve bool
	}{
		{0, 1e6, 0.1, false},
		{0, 2e6, 0.55, true}, // uses it up
		{0, 1e6, 1, false},
		{500 * ms, 1e6, 0.55, false},
		{time.Minute, 1e6, 0.1, false},
	} {
		if got := slope(step.at, step.n); got < step.want*0.99 || got > step.want*1.01 {
			t.Errorf("%d bytes at %v: %.3f us/B, want %.3f", step.n, step.at, got, step.want)
		}
		if step.serve {
			tr.served(step.at, step.n)
		}
	}
}
