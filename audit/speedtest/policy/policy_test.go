package policy

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var alice = Who{"alice", "192.0.2.0/24"}

func gate(t rapid.TB, change func(*Policy)) *Gate {
	t.Helper()
	p := Default()
	if change != nil {
		change(&p)
	}
	g, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// code is why an ask was refused, and when to ask again.
func code(err error) (Code, time.Duration) {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Code, r.RetryAfter
	}
	return Accepted, 0
}

// use runs one whole run of n bytes at an instant and ends the test.
func use(t rapid.TB, g *Gate, now time.Duration, id uint64, n int) {
	t.Helper()
	if !g.Begin(now, id) {
		t.Fatal("it does not begin")
	}
	g.Take(now, id, n)
	g.Stop(now, id)
	g.End(id)
}

func TestGrantIsTheLeastOfAllBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		limit int64
		ask   Ask
		want  Grant
	}{
		"no wishes": {0, Ask{}, Grant{Runs: 4, Streams: 256, Length: 30 * time.Second, Bytes: 256 << 20}},
		"small ones": {0, Ask{Runs: 1, Streams: 4, Length: 5 * time.Second, Bytes: 1 << 20, Rate: 1000},
			Grant{Runs: 1, Streams: 4, Length: 5 * time.Second, Bytes: 1 << 20, Rate: 1000}},
		"boundless ones": {0, Ask{Runs: 255, Streams: 65535, Length: 1 << 62, Bytes: math.MaxInt64, Rate: math.MaxInt64, Limit: math.MaxInt64},
			Grant{Runs: 4, Streams: 256, Length: 30 * time.Second, Bytes: 256 << 20, Rate: math.MaxInt64}},
		// 25 s of the smaller limit
		"its limit":      {0, Ask{Limit: 1e6}, Grant{Runs: 4, Streams: 256, Length: 30 * time.Second, Bytes: 25e6}},
		"our limit":      {2e6, Ask{Limit: 8e6}, Grant{Runs: 4, Streams: 256, Length: 30 * time.Second, Bytes: 50e6, Rate: 1.5e6}},
		"our limit only": {2e6, Ask{}, Grant{Runs: 4, Streams: 256, Length: 30 * time.Second, Bytes: 50e6, Rate: 1.5e6}},
		"the smaller":    {2e6, Ask{Limit: 1e6}, Grant{Runs: 4, Streams: 256, Length: 30 * time.Second, Bytes: 25e6, Rate: 1.5e6}},
	} {
		g := gate(t, func(p *Policy) { p.Limit = tt.limit })
		got, err := g.Ask(0, alice, tt.ask)
		tt.want.Test, tt.want.Until = 1, got.Until
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, tt.want)
		}
	}
}

func TestEachRefusal(t *testing.T) {
	hour := time.Hour
	for name, tt := range map[string]struct {
		change func(*Policy)
		before func(g *Gate)
		who    Who
		ask    Ask
		at     time.Duration
		want   Code
		again  time.Duration
	}{
		"opted out":       {change: func(p *Policy) { p.OptOut = true }, want: OptedOut},
		"no identity":     {who: Who{Group: "x"}, want: BadRequest},
		"a negative wish": {ask: Ask{Bytes: -1}, want: BadRequest},
		"next to nothing": {ask: Ask{Bytes: 1}, want: BadRequest},
		"not announced":   {change: func(p *Policy) { p.Notice = 24 * hour }, want: NotAnnounced, again: 24 * hour},
		"announced just now": {change: func(p *Policy) { p.Notice = 24 * hour },
			before: func(g *Gate) { g.Announce(0, alice); g.Announce(4*hour, alice) }, at: 5 * hour, want: NotAnnounced, again: 19 * hour},
		"busy": {before: func(g *Gate) { g.Ask(0, Who{"bob", "b"}, Ask{Runs: 1}) }, at: time.Second, want: Busy, again: 49 * time.Second},
		"too soon": {before: func(g *Gate) { a, _ := g.Ask(0, alice, Ask{}); g.End(a.Test) }, at: 2 * hour, want: TooSoon,
			again: 10 * hour},
		"its group": {before: func(g *Gate) {
			for i := range 4 {
				a, _ := g.Ask(time.Duration(i)*hour, Who{fmt.Sprint(i), alice.Group}, Ask{})
				g.End(a.Test)
			}
		}, at: 5 * hour, want: GroupQuota, again: 19 * hour},
		"the group's bytes": {change: func(p *Policy) { p.GroupBytes = 1 << 20 }, before: func(g *Gate) {
			a, _ := g.Ask(0, Who{"bob", alice.Group}, Ask{Runs: 1})
			use(t, g, 0, a.Test, 1<<20)
		}, at: hour, want: GroupQuota, again: 23 * hour},
		"the day": {change: func(p *Policy) { p.DayTests = 1 }, before: func(g *Gate) {
			a, _ := g.Ask(0, Who{"bob", "b"}, Ask{})
			g.End(a.Test)
		}, at: hour, want: DayQuota, again: 23 * hour},
		"the day's bytes": {change: func(p *Policy) { p.DayBytes = 1 << 20 }, before: func(g *Gate) {
			a, _ := g.Ask(0, Who{"bob", "b"}, Ask{Runs: 1})
			use(t, g, 0, a.Test, 1<<20)
		}, at: hour, want: DayQuota, again: 23 * hour},
	} {
		g := gate(t, tt.change)
		if tt.before != nil {
			tt.before(g)
		}
		who := tt.who
		if who == (Who{}) {
			who = alice
		}
		refused := g.Counts().Refusals()
		_, err := g.Ask(tt.at, who, tt.ask)
		if c, again := code(err); c != tt.want || again != tt.again {
			t.Errorf("%s: %v after %v, want %v after %v", name, c, again, tt.want, tt.again)
		}
		if g.Counts().Refused[tt.want] == 0 || g.Counts().Refusals() != refused+1 {
			t.Errorf("%s: not counted: %+v", name, g.Counts())
		}
		if tt.again > 0 { // what it says is true, but where nobody announces or ends anything
			if _, err := g.Ask(tt.at+tt.again, who, tt.ask); err != nil && tt.want != NotAnnounced {
				t.Errorf("%s: asked again when told to: %v", name, err)
			}
		}
	}
}

func TestNoticeRuns(t *testing.T) {
	g := gate(t, func(p *Policy) { p.Notice = time.Hour })
	if c := g.Announce(0, alice); c != Accepted {
		t.Fatal(c)
	}
	if _, err := g.Ask(time.Hour, alice, Ask{}); err != nil {
		t.Errorf("after the notice: %v", err)
	}
	if _, err := g.Ask(time.Hour, Who{"alice", "elsewhere"}, Ask{}); err == nil {
		t.Error("another network used the announcement")
	}
	g.SetOptOut(true)
	if c := g.Announce(0, alice); c != OptedOut {
		t.Errorf("announced to one who opted out: %v", c)
	}
}

func TestAnnouncementsAreBounded(t *testing.T) {
	g := gate(t, func(p *Policy) { p.Notice = time.Hour })
	g.Announce(0, alice)
	for i := range 100_000 {
		g.Announce(time.Second, Who{fmt.Sprint(i), "flood"})
	}
	if n := len(g.asked); n != mostOfGroup+1 {
		t.Errorf("one group holds %d", n)
	}
	if _, err := g.Ask(time.Hour, alice, Ask{}); err != nil {
		t.Errorf("a flood from another group cost an announcement: %v", err)
	}
	for i := range 10_000 {
		g.Announce(time.Second, Who{fmt.Sprint(i), fmt.Sprint(i)})
	}
	if n := len(g.asked); n > mostAnnounced {
		t.Errorf("%d announcements are kept", n)
	}
}

func TestOptOutStopsATest(t *testing.T) {
	g := gate(t, nil)
	a, _ := g.Ask(0, alice, Ask{})
	g.Begin(0, a.Test)
	if n, _, why := g.Take(0, a.Test, 1000); n != 1000 || why != Going {
		t.Fatal(n, why)
	}
	g.SetOptOut(true)
	if n, _, why := g.Take(0, a.Test, 1000); n != 0 || why != Withdrawn {
		t.Errorf("%d bytes after the opt-out, %v", n, why)
	}
	if g.Check(0, a.Test) != Withdrawn || g.Alive(0, a.Test) {
		t.Error("the test goes on")
	}
	g.SetOptOut(false)
	if n, _, _ := g.Take(0, a.Test, 1000); n != 0 {
		t.Error("the test has come back")
	}
}

func TestHardStops(t *testing.T) {
	s := time.Second
	start := func(ask Ask) (*Gate, uint64) {
		g := gate(t, nil)
		a, err := g.Ask(0, alice, ask)
		if err != nil || !g.Begin(0, a.Test) {
			t.Fatal(err)
		}
		return g, a.Test
	}
	g, id := start(Ask{Bytes: 100_000})
	if n, _, _ := g.Take(s, id, 1<<30); n != 100_000 {
		t.Errorf("%d bytes of 100000", n)
	}
	if _, _, why := g.Take(s, id, 1); why != Spent {
		t.Errorf("all spent: %v", why)
	}
	g, id = start(Ask{Length: 5 * s})
	if g.Check(5*s-1, id) != Going || g.Check(5*s, id) != Timeout {
		t.Error("its length is not kept")
	}
	if _, _, why := g.Take(5*s, id, 1); why != Timeout {
		t.Errorf("after its length: %v", why)
	}
	g, id = start(Ask{})
	if g.Check(9*s, id) != Going || g.Check(10*s, id) != Idled || g.Alive(10*s, id) {
		t.Error("one that moves nothing goes on")
	}
	g, id = start(Ask{Runs: 2})
	g.Stop(s, id)
	if g.Begin(s, id); g.Begin(s, id) {
		t.Error("a run began within a run")
	}
	g.Stop(2*s, id)
	if g.Begin(2*s, id) {
		t.Error("a third run of two")
	}
	if _, _, why := g.Take(2*s, id, 1); why != Withdrawn {
		t.Error("bytes between runs")
	}
	if g.Begin(0, 77) || g.Alive(0, 77) {
		t.Error("a test that nobody was granted")
	}
}

// TestNeverStarting: who holds the place and does nothing loses it, and has had
// its turn.
func TestNeverStarting(t *testing.T) {
	g := gate(t, nil)
	g.Ask(0, alice, Ask{})
	if _, err := g.Ask(9*time.Second, Who{"bob", "b"}, Ask{}); err == nil {
		t.Fatal("two at once")
	}
	if _, err := g.Ask(10*time.Second, Who{"bob", "b"}, Ask{}); err != nil {
		t.Errorf("the place is still held: %v", err)
	}
	if c, _ := code(second(g.Ask(time.Hour, alice, Ask{}))); c != TooSoon {
		t.Errorf("it may come again: %v", c)
	}
}

func second(_ Grant, err error) error { return err }

// TestPace: the rate is kept whatever the chunks, and the rest of the link is
// left to ordinary traffic as far as it uses it.
func TestPace(t *testing.T) {
	for name, tt := range map[string]struct {
		limit, wish int64
		ordinary    float64 // bytes per second; negative is not told
		want        float64
	}{
		"a wish":                  {0, 1e6, -1, 1e6},
		"reserve, unknown use":    {4e6, 0, -1, 3e6},
		"reserve unused":          {4e6, 0, 0, 4e6},
		"reserve partly used":     {4e6, 0, 0.5e6, 3.5e6},
		"reserve used up":         {4e6, 0, 3e6, 3e6},
		"a wish below the limit":  {4e6, 1e6, 3e6, 1e6},
		"a wish beyond the limit": {4e6, 9e6, 3e6, 3e6},
	} {
		g := gate(t, func(p *Policy) { p.Limit = tt.limit })
		a, _ := g.Ask(0, alice, Ask{Rate: tt.wish})
		g.Begin(0, a.Test)
		var now time.Duration
		var moved int64
		for now < 10*time.Second {
			if tt.ordinary >= 0 {
				g.Ordinary(now, int64(tt.ordinary*now.Seconds()))
			}
			n, wait, why := g.Take(now, a.Test, 10_000)
			if why != Going {
				t.Fatalf("%s: %v at %v", name, why, now)
			}
			moved += int64(n)
			now += max(wait, time.Millisecond/2)
		}
		if got := float64(moved) / now.Seconds(); math.Abs(got/tt.want-1) > 0.03 {
			t.Errorf("%s: %.0f B/s, want %.0f", name, got, tt.want)
		}
	}
}

func TestUnusedIsNotCharged(t *testing.T) {
	g := gate(t, func(p *Policy) { p.Interval = 0; p.GroupTests = 100; p.DayBytes = 1 << 30; p.GroupBytes = 1 << 30 })
	for range 20 {
		a, err := g.Ask(0, alice, Ask{Runs: 1})
		if err != nil {
			t.Fatal(err)
		}
		use(t, g, 0, a.Test, 1<<20)
	}
	a, _ := g.Ask(0, alice, Ask{Runs: 4})
	if want := int64((1<<30 - 20<<20) / 4); a.Bytes != want {
		t.Errorf("%d bytes a run are left, want %d", a.Bytes, want)
	}
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Policy){
		"limit": func(p *Policy) { p.Limit = -1 }, "bytes": func(p *Policy) { p.Bytes = 0 },
		"reserve": func(p *Policy) { p.Reserve = math.NaN() }, "all reserved": func(p *Policy) { p.Reserve = 1 },
		"length": func(p *Policy) { p.Duration = 0 }, "interval": func(p *Policy) { p.Interval = 25 * time.Hour },
		"runs": func(p *Policy) { p.Runs = 9 }, "streams": func(p *Policy) { p.Streams = 0 },
		"tests": func(p *Policy) { p.DayTests = 0 }, "idle": func(p *Policy) { p.Idle = 0 }, "notice": func(p *Policy) { p.Notice = -1 },
	} {
		p := Default()
		change(&p)
		if _, err := New(p); !errors.Is(err, ErrPolicy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for c := Code(0); c <= codes; c++ {
		seen[c.String()] = true
	}
	for e := range endings {
		seen[e.String()] = true
	}
	if len(seen) != int(codes)+1+int(endings) || Code(99).String() != "unknown" || Ended(99).String() != "unknown" {
		t.Errorf("labels: %v", seen)
	}
	if got := (&Refusal{Busy, 3 * time.Second}).Error(); got != "the peer is being tested by another; ask again in 3s" {
		t.Error(got)
	}
	if (&Refusal{Code: 99}).Error() == "" {
		t.Error("a code of a later version has no words")
	}
}
