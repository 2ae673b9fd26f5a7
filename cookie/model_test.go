package cookie

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// modelCookie is one cookie of the model.
type modelCookie struct {
	value  Value
	sentAt time.Duration
	fate   string // "out", "echoed", "skipped", "withdrawn"
	echoes int
}

// model is the queue as one would write it with no regard for time or memory: a
// list of all cookies ever issued, oldest first, searched from end to end.
type model struct {
	cfg     Config
	cookies []*modelCookie
	last    time.Duration
	counts  Counts
}

func (m *model) out() []*modelCookie {
	var out []*modelCookie
	for _, c := range m.cookies {
		if c.fate == "out" {
			out = append(out, c)
		}
	}
	return out
}

func (m *model) skip(c *modelCookie) {
	c.fate = "skipped"
	m.counts.Skipped++
}

func (m *model) expire(now time.Duration) int {
	n := 0
	for _, c := range m.out() {
		if now-c.sentAt >= m.cfg.MaxAge {
			m.skip(c)
			n++
		}
	}
	return n
}

// mayIssue is whether the rules allow a cookie; it expires as Issue does.
func (m *model) mayIssue(now time.Duration) bool {
	if len(m.cookies) > 0 && now-m.last < m.cfg.MinInterval {
		return false
	}
	m.expire(now)
	return len(m.out()) < m.cfg.MaxOutstanding
}

func (m *model) issued(v Value, now time.Duration) {
	m.cookies = append(m.cookies, &modelCookie{value: v, sentAt: now, fate: "out"})
	m.last = now
	m.counts.Issued++
}

func (m *model) withdraw(v Value) {
	for _, c := range m.out() {
		if c.value == v {
			c.fate = "withdrawn"
			m.counts.Withdrawn++
		}
	}
}

func (m *model) echo(v Value) Outcome {
	if v&Marker == 0 {
		return Foreign
	}
	i := slices.IndexFunc(m.cookies, func(c *modelCookie) bool { return c.value == v })
	if i < 0 {
		m.counts.Forged++
		return Forged
	}
	c := m.cookies[i]
	if len(m.cookies)-i > remembered {
		m.counts.Late++
		return Late
	}
	c.echoes++
	switch {
	case c.fate == "out":
		c.fate = "echoed"
		m.counts.Echoed++
		m.skipOvertaken()
		return Sample
	case c.echoes > 1:
		m.counts.Replayed++
		return Replay
	}
	m.counts.Late++
	return Late
}

// skipOvertaken skips each cookie that SkipAfter newer samples have overtaken.
func (m *model) skipOvertaken() {
	for i, c := range m.cookies {
		newer := 0
		for _, d := range m.cookies[i+1:] {
			if d.fate == "echoed" {
				newer++
			}
		}
		if c.fate == "out" && newer >= m.cfg.SkipAfter {
			m.skip(c)
		}
	}
}

// pick draws a value: mostly one that was issued, lately or long ago.
func (m *model) pick(t *rapid.T) Value {
	out := m.out()
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case kind < 6 && len(out) > 0:
		return rapid.SampledFrom(out).Draw(t, "outstanding").value
	case kind < 9 && len(m.cookies) > 0:
		return rapid.SampledFrom(m.cookies).Draw(t, "issued").value
	}
	return Value(rapid.Uint32().Draw(t, "any"))
}

// check compares all that can be seen.
func (m *model) check(t *rapid.T, q *Queue, now time.Duration) {
	if got := q.Counts(); got != m.counts {
		t.Fatalf("counts %+v, want %+v", got, m.counts)
	}
	c, out := m.counts, m.out()
	if c.Issued != c.Echoed+c.Skipped+c.Withdrawn+uint64(len(out)) {
		t.Fatalf("cookies are not conserved: %+v and %d", c, len(out))
	}
	if q.Len() != len(out) {
		t.Fatalf("%d outstanding, want %d", q.Len(), len(out))
	}
	age, ok := q.FrontAge(now)
	if ok != (len(out) > 0) || ok && age != now-out[0].sentAt {
		t.Fatalf("front age %v, %v with %d outstanding", age, ok, len(out))
	}
	var newest time.Duration
	for _, c := range m.cookies {
		if c.fate == "echoed" {
			newest = c.sentAt
		}
	}
	if got, ok := q.NewestEchoed(); ok != (c.Echoed > 0) || got != newest {
		t.Fatalf("newest echoed %v, %v, want %v", got, ok, newest)
	}
}

func TestQueueAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			MaxOutstanding: rapid.IntRange(1, 32).Draw(t, "outstanding"),
			MinInterval:    time.Duration(rapid.IntRange(0, 3).Draw(t, "interval")) * ms,
			SkipAfter:      rapid.IntRange(1, 20).Draw(t, "skip"),
			MaxAge:         time.Duration(rapid.IntRange(1, 100).Draw(t, "age")) * ms,
			LoadedAfter:    1,
		}
		q := NewQueue(cfg, drawKey(t, "key"), NewRTT(DefaultRTTConfig()))
		m := &model{cfg: cfg}
		now := time.Duration(0)
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { m.check(t, q, now) },
			"wait": func(t *rapid.T) {
				now += time.Duration(rapid.IntRange(0, 30).Draw(t, "ms")) * ms
			},
			"issue": func(t *rapid.T) {
				ringFull := q.ring != nil && int(q.next-q.front) == len(q.ring)
				due := q.Due(now)
				v, ok := q.Issue(now, 0)
				want := m.mayIssue(now)
				if due != ok || ok != want && !(ringFull && !ok) {
					t.Fatalf("due %v, issued %v, want %v", due, ok, want)
				}
				if ok {
					m.issued(v, now)
				}
			},
			"issue and wait": func(t *rapid.T) {
				now += 3 * ms
				want := m.mayIssue(now)
				if v, ok := q.Issue(now, 0); ok {
					m.issued(v, now)
				} else if want && int(q.next-q.front) < len(q.ring) {
					t.Fatal("no cookie")
				}
			},
			"echo": func(t *rapid.T) {
				v := m.pick(t)
				want := m.echo(v)
				if got := q.Echo(v, now, 0).Outcome; got != want {
					t.Fatalf("echo of %#x: %v, want %v", v, got, want)
				}
			},
			"withdraw": func(t *rapid.T) {
				v := m.pick(t)
				m.withdraw(v)
				q.Withdraw(v)
			},
			"expire": func(t *rapid.T) {
				want := m.expire(now)
				if got := q.Expire(now, 0); got != want {
					t.Fatalf("%d expired, want %d", got, want)
				}
			},
		})
	})
}

// FuzzEcho: no value makes it panic, and only an outstanding one is a sample.
func FuzzEcho(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 0x80, 0, 0, 0})      // issue, then a guess
	f.Add([]byte{0, 2, 0, 0, 2, 0})                  // issue, echo it, replay it
	f.Add([]byte{0, 0, 0, 3, 1, 4, 2, 0, 2, 1})      // withdraw, expire, echo both
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 2, 255}) // before any cookie
	f.Fuzz(func(t *testing.T, script []byte) {
		rtt := NewRTT(DefaultRTTConfig())
		q := NewQueue(DefaultConfig(), testKey, rtt)
		var issued []Value
		live := map[Value]bool{}
		next := func() (b byte) {
			if len(script) > 0 {
				b, script = script[0], script[1:]
			}
			return b
		}
		known := func() Value {
			i := int(next())
			if len(issued) == 0 {
				return Value(i)
			}
			return issued[i%len(issued)]
		}
		echo := func(v Value, now time.Duration) {
			was := live[v]
			got := q.Echo(v, now, uint64(next())<<12)
			if got.Outcome == Sample && !was {
				t.Fatalf("%#x is a sample and was not outstanding", v)
			}
			if got.Outcome != Sample && got != (Echo{Outcome: got.Outcome}) {
				t.Fatalf("%v carries a measurement: %+v", got.Outcome, got)
			}
			delete(live, v)
		}
		for now := time.Duration(0); len(script) > 0; now += time.Millisecond {
			switch next() % 5 {
			case 0:
				if v, ok := q.Issue(now, 0); ok {
					issued, live[v] = append(issued, v), true
				}
			case 1:
				v := Value(next())<<24 | Value(next())<<16 | Value(next())<<8 | Value(next())
				echo(v, now)
			case 2:
				echo(known(), now)
			case 3:
				v := known()
				q.Withdraw(v)
				delete(live, v)
			case 4:
				now += time.Duration(next()) * 50 * time.Millisecond
				q.Expire(now, 0)
			}
		}
		r := rtt.Reading(time.Hour)
		if r.P50 > r.P95 && r.Samples > 0 || r.Base > r.P95 {
			t.Fatalf("reading out of order: %+v", r)
		}
	})
}
