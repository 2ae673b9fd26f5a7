package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const (
	testClaim = time.Second
	testRTT   = 20 * time.Millisecond
	testSize  = 1 << 20
)

// plain is a record with nothing special but its residual.
func plain(peer, group string, residual float64) Record {
	return Record{
		Peer: peer, Group: group,
		Size: testSize, BaseRTT: testRTT, Coverage: 16 << 20,
		Claim:  testClaim,
		Actual: testClaim + time.Duration(residual*float64(testClaim)),
		TTFB:   testRTT,
		Echoes: EchoesFlowed,
	}
}

// with changes a plain record.
func with(residual float64, change func(*Record)) Record {
	r := plain("p", "g", residual)
	change(&r)
	return r
}

// observeAll feeds the same record n times and returns the last verdict.
func observeAll(a *Auditor, now time.Duration, r Record, n int) (v Verdict) {
	for range n {
		v = a.Observe(now, r)
	}
	return v
}

// voters makes groups vote: each has two peers with samples enough of one residual, which are so old
// that the group is. It returns the instant at which they vote.
func voters(a *Auditor, prefix string, groups int, residual func(g int) float64) time.Duration {
	const now = 2 * time.Hour
	for g := range groups {
		for p := range 2 {
			r := plain(fmt.Sprintf("%s%d.%d", prefix, g, p), fmt.Sprintf("%s%d", prefix, g), residual(g))
			a.Observe(0, r)
			observeAll(a, now, r, a.cfg.PairSamples)
		}
	}
	return now
}

// all is a residual that all groups share.
func all(r float64) func(int) float64 { return func(int) float64 { return r } }

// honest draws a residual of a peer whose factor is mu.
func honest(rng *rand.Rand, mu float64) float64 {
	return 0.1 * math.Exp(mu+0.6*rng.NormFloat64())
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.4f, want %.4f within %.4f", what, got, want, tolerance)
	}
}

// checkInvariants recomputes every panel and vote from the cells.
func checkInvariants(t interface {
	Helper()
	Fatalf(string, ...any)
}, a *Auditor,
) {
	t.Helper()
	type place struct {
		s *stratum
		g *group
	}
	voices, solos, cells := map[place]ranked{}, map[place]int{}, map[place]int{}
	members := map[*group]int{}
	for slot, p := range a.list {
		members[p.group]++
		if p.slot != slot || a.peers[p.name] != p || a.groups[p.group.name] != p.group {
			t.Fatalf("peer %s is filed wrongly", p.name)
		}
		if len(p.cells) > maxCells {
			t.Fatalf("peer %s has %d cells", p.name, len(p.cells))
		}
		for i := range p.cells {
			c := &p.cells[i]
			at := place{c.stratum, p.group}
			cells[at]++
			if c.panel != c.stratum.panels[p.group] {
				t.Fatalf("peer %s speaks in a panel that is not its group's", p.name)
			}
			if c.voter && !p.speaks() {
				t.Fatalf("peer %s speaks though convicted", p.name)
			}
			if c.voter {
				v := voices[at]
				v.add(entry{c.voice, p.id})
				voices[at] = v
			}
			if c.solo {
				solos[at]++
			}
		}
	}
	if len(a.groups) != len(members) {
		t.Fatalf("%d groups, %d of them with members", len(a.groups), len(members))
	}
	for g, n := range members {
		if g.peers != n {
			t.Fatalf("group %s counts %d peers, has %d", g.name, g.peers, n)
		}
	}
	for _, s := range a.strata {
		if s == nil {
			continue
		}
		var votes ranked
		for g, p := range s.panels {
			at := place{s, g}
			if p.cells != cells[at] || p.solos != solos[at] || len(p.voices) != len(voices[at]) {
				t.Fatalf("panel of %s: %d cells, %d solos, %d voices; want %d, %d, %d", g.name,
					p.cells, p.solos, len(p.voices), cells[at], solos[at], len(voices[at]))
			}
			for i, e := range voices[at] {
				if p.voices[i] != e {
					t.Fatalf("panel of %s: voice %d is %v, want %v", g.name, i, p.voices[i], e)
				}
			}
			if p.votes {
				if p.vote != p.voices.median() {
					t.Fatalf("group %s votes %v, its median is %v", g.name, p.vote, p.voices.median())
				}
				votes.add(entry{p.vote, g.id})
			}
		}
		if len(votes) != len(s.votes) {
			t.Fatalf("stratum %v: %d votes listed, %d cast", s.key, len(s.votes), len(votes))
		}
		for i := range votes {
			if votes[i] != s.votes[i] {
				t.Fatalf("stratum %v: vote %d is %v, want %v", s.key, i, s.votes[i], votes[i])
			}
		}
	}
}
