package mux

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// silentMeter is a meter whose burst opened at 0, with a base RTT.
func silentMeter(t *testing.T, rtt time.Duration) *Meter {
	o := newOptions([]Option{WithWatcher(NewWatcher()), WithHandshakeRTT(rtt)})
	m := newMeter(&o, &outCounts{})
	t.Cleanup(m.close)
	return m
}

func TestCausesOfASilence(t *testing.T) {
	const last, now = 1000 * ms, 2000 * ms
	full := func(m *Meter) {
		m.ledger.arrived(window(1, flagSYN, 0), 0)
		m.ledger.receive(data(1, 0, initialCredit), last)
	}
	frozen := func(from, to time.Duration) func(*Meter) {
		return func(m *Meter) { m.watcher.Mark(m.base.Add(from), m.base.Add(to)) }
	}
	none := func(*Meter) {}
	tests := []struct {
		name        string
		do          func(*Meter)
		left, began time.Duration
		want        Gaps
		union       time.Duration
	}{
		{"the peer was silent", none, last, last, Gaps{}, 0},
		{"no credit", full, last, last, Gaps{Credit: now - last}, now - last},
		{"no credit until a grant", func(m *Meter) {
			full(m)
			m.ledger.sent(window(1, 0, 9), 1300*ms)
		}, last, last, Gaps{Credit: 350 * ms}, 350 * ms},
		{"nobody read, data waited", none, 1100 * ms, now, Gaps{Absent: 900 * ms}, 900 * ms},
		{"nobody read since before the last payload", none, 900 * ms, now, Gaps{Absent: 1000 * ms}, 1000 * ms},
		{"nobody read, but the read had to wait", none, 1100 * ms, now - 2*ms, Gaps{}, 0},
		{"frozen to the end", frozen(1500*ms, now-5*ms), last, last, Gaps{Frozen: 495 * ms}, 495 * ms},
		{"frozen beyond both ends", frozen(0, 3000*ms), last, last, Gaps{Frozen: 1000 * ms}, 1000 * ms},
		{"frozen, and then the peer was silent", frozen(1200*ms, 1500*ms), last, last, Gaps{}, 0},
		{"frozen before", frozen(100*ms, 900*ms), last, last, Gaps{}, 0},
		{"all three overlap", func(m *Meter) {
			full(m)
			m.ledger.sent(window(1, 0, 9), 1300*ms)
			frozen(1600*ms, now)(m)
		}, 1200 * ms, now, Gaps{Credit: 350 * ms, Absent: 800 * ms, Frozen: 400 * ms}, 1000 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := silentMeter(t, 50*ms)
			tt.do(m)
			c := m.causes(silence{last: last, now: now, left: tt.left, began: tt.began})
			got := Gaps{c.credit.length(), c.absent.length(), c.frozen.length()}
			// The watcher's instants are rounded to nothing; compare exactly.
			if got != tt.want || c.union() != tt.union {
				t.Errorf("got %+v, together %v; want %+v, %v", got, c.union(), tt.want, tt.union)
			}
		})
	}
}

func TestShortGapsHaveNoCause(t *testing.T) {
	m := silentMeter(t, 0)
	c := m.causes(silence{last: ms, now: ms + worthwhile - 1, left: 0, began: ms + worthwhile - 1})
	if c != (causes{}) {
		t.Errorf("%+v", c)
	}
}

func TestUnionCountsEachMomentOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) span {
			return span{time.Duration(rapid.IntRange(0, 50).Draw(rt, name)), time.Duration(rapid.IntRange(0, 50).Draw(rt, name))}
		}
		c := causes{draw("credit"), draw("absent"), draw("frozen")}
		want := time.Duration(0)
		for at := range time.Duration(50) {
			for _, s := range []span{c.credit, c.absent, c.frozen} {
				if s.from <= at && at < s.to {
					want++
					break
				}
			}
		}
		if got := c.union(); got != want {
			rt.Fatalf("%+v: %d, want %d", c, got, want)
		}
	})
}

func TestOurOwnPartIsBookedOnlyWhileMeasuring(t *testing.T) {
	m := silentMeter(t, 0)
	m.ledger.arrived(window(1, flagSYN, 0), 0)
	m.ledger.receive(data(1, 0, initialCredit), 1000*ms)
	s := silence{last: 1000 * ms, now: 2000 * ms, left: 1000 * ms, began: 1000 * ms}
	if own, _ := m.attribute(s); own != 0 || m.gaps != (Gaps{}) {
		t.Errorf("%v of an idle connection's silence is ours", own)
	}
	end := m.Begin()
	defer end()
	m.settle = func() {}
	if own, _ := m.attribute(s); own != 1000*ms || m.gaps.Credit != 1000*ms || m.Reading().Credit != 1000*ms {
		t.Errorf("%v is ours, %+v booked", own, m.gaps)
	}
}
