package policy

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// record is what an attacker got, as a host would see it.
type record struct {
	at    time.Duration
	who   Who
	bytes int64
}

// TestNoSequenceTakesMore: whatever is asked in whatever order, at any instants,
// nobody gets more than the policy says: of bytes within any day, in all and for a group, of tests of an
// identity, of a run. Wishes are as large as they can be written.
func TestNoSequenceTakesMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Default()
		p.DayBytes, p.GroupBytes, p.Bytes = 8<<20, 3<<20, 1<<20
		p.DayTests, p.GroupTests = 12, 3
		p.Interval = time.Duration(rapid.IntRange(0, 24).Draw(t, "hours")) * time.Hour
		p.Limit = rapid.SampledFrom([]int64{0, 50_000, 1 << 40}).Draw(t, "limit")
		g, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		a := &attack{t: t, g: g, p: p, ids: []uint64{0, 99}}
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			a.step()
		}
		a.check()
		if len(g.days) > p.DayTests {
			t.Fatalf("%d tests are remembered", len(g.days))
		}
	})
}

type attack struct {
	t    *rapid.T
	g    *Gate
	p    Policy
	now  time.Duration
	ids  []uint64
	live map[uint64]int // record of each id
	got  []record
	runs map[uint64]int64 // bytes of its run under way
	most map[uint64]int64 // bytes of a run that it was granted
}

func (a *attack) step() {
	if a.live == nil {
		a.live, a.runs, a.most = map[uint64]int{}, map[uint64]int64{}, map[uint64]int64{}
	}
	t := a.t
	a.now += time.Duration(rapid.SampledFrom([]int64{0, 1e6, 3e8, 1e9, 11e9, 3600e9, 7 * 3600e9}).Draw(t, "later"))
	id := rapid.SampledFrom(a.ids).Draw(t, "id")
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
		a.ask()
	case 1:
		if a.g.Begin(a.now, id) {
			a.runs[id] = 0
		}
	case 2, 3:
		a.take(id)
	case 4:
		a.g.Stop(a.now, id)
	case 5:
		a.g.End(id)
	}
}

func (a *attack) ask() {
	t := a.t
	wish := rapid.SampledFrom([]int64{0, 1 << 17, 1 << 62, 1<<63 - 1})
	who := Who{fmt.Sprint("id", rapid.IntRange(0, 9).Draw(t, "who")), fmt.Sprint("group", rapid.IntRange(0, 2).Draw(t, "group"))}
	grant, err := a.g.Ask(a.now, who, Ask{
		Runs: rapid.IntRange(0, 255).Draw(t, "runs"), Streams: rapid.IntRange(0, 65535).Draw(t, "streams"),
		Length: time.Duration(wish.Draw(t, "length")), Bytes: wish.Draw(t, "bytes"), Rate: wish.Draw(t, "rate"), Limit: wish.Draw(t, "limit"),
	})
	if err != nil {
		return
	}
	if grant.Streams > a.p.Streams || grant.Runs > a.p.Runs || grant.Length > a.p.Duration {
		t.Fatalf("%+v is beyond the policy", grant)
	}
	a.ids = append(a.ids, grant.Test)
	a.live[grant.Test], a.most[grant.Test] = len(a.got), grant.Bytes
	a.got = append(a.got, record{at: a.now, who: who})
}

func (a *attack) take(id uint64) {
	n, _, why := a.g.Take(a.now, id, rapid.SampledFrom([]int{1, 16 << 10, 1 << 20, 1<<63 - 1, -5}).Draw(a.t, "n"))
	if why != Going {
		if n != 0 {
			a.t.Fatalf("%d bytes although %v", n, why)
		}
		return
	}
	a.got[a.live[id]].bytes += int64(n)
	a.runs[id] += int64(n)
	if a.runs[id] > a.most[id] || a.runs[id] > max(a.p.Bytes, a.p.volume(0)) {
		a.t.Fatalf("%d bytes in a run", a.runs[id])
	}
}

// check looks at every day that begins with a test.
func (a *attack) check() {
	for i, first := range a.got {
		var day int64
		groups, tests := map[string]int64{}, map[string]int{}
		for j, r := range a.got[i:] {
			if r.at >= first.at+Day {
				break
			}
			day += r.bytes
			groups[r.who.Group] += r.bytes
			tests[r.who.Group]++
			if j > 0 && r.who.Identity == first.who.Identity && r.at < first.at+a.p.Interval {
				a.t.Fatalf("%s was tested twice in %v", r.who.Identity, r.at-first.at)
			}
			if groups[r.who.Group] > a.p.GroupBytes || tests[r.who.Group] > a.p.GroupTests {
				a.t.Fatalf("%s got %d bytes in %d tests in a day", r.who.Group, groups[r.who.Group], tests[r.who.Group])
			}
		}
		if day > a.p.DayBytes {
			a.t.Fatalf("%d bytes in a day", day)
		}
	}
}

// TestHundredTests: of a hundred tests at once one begins.
func TestHundredTests(t *testing.T) {
	g := gate(t, nil)
	granted := 0
	for i := range 100 {
		if _, err := g.Ask(0, Who{fmt.Sprint(i), fmt.Sprint(i)}, Ask{}); err == nil {
			granted++
		}
	}
	if granted != 1 || g.Counts().Refused[Busy] != 99 {
		t.Errorf("%d granted, %+v", granted, g.Counts())
	}
}

// TestNewIdentitiesInOneGroup: they share what one group may have.
func TestNewIdentitiesInOneGroup(t *testing.T) {
	g := gate(t, nil)
	var moved int64
	for i := range 1000 {
		now := time.Duration(i) * time.Minute
		a, err := g.Ask(now, Who{fmt.Sprint(i), "2001:db8::/48"}, Ask{Limit: 1 << 40})
		if err != nil {
			continue
		}
		for range a.Runs {
			g.Begin(now, a.Test)
			n, _, _ := g.Take(now, a.Test, 1<<40)
			moved += int64(n)
			g.Stop(now, a.Test)
		}
		g.End(a.Test)
	}
	if moved > g.p.GroupBytes {
		t.Errorf("a group got %d bytes within a day", moved)
	}
	if _, err := g.Ask(1000*time.Minute, alice, Ask{}); err != nil {
		t.Errorf("which left nothing for others: %v", err)
	}
}
