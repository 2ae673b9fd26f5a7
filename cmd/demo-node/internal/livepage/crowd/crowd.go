package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cmd/demo-node/internal/livepage"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

const (
	// size is the datum in bytes that the peers are ranked for.
	size = 2_000_000
	// stepEvery is how much time one step of the made-up world is.
	stepEvery = 250 * time.Millisecond
	// mostSteps bounds how many are made up at once, as after a long sleep.
	mostSteps = 40
)

// crowd is a livepage.Source. Safe for concurrent use.
type crowd struct {
	clock func() time.Time
	began time.Time

	mu      sync.Mutex
	rng     *rand.Rand
	members []*member
	byName  map[string]*member
	auditor *audit.Auditor
	now     time.Duration // the instant it is at, always whole steps
	events  []livepage.Event
	stats   ranking.Stats
}

// member is a made-up peer.
type member struct {
	name, group string
	base        time.Duration
	rate        float64 // bytes per second, wanders
	ideal       float64 // what it wanders about
	slow        float64 // how many times slower than claimed, where it withholds
	lies        bool
	burst       burst.State
	completions int
	verdict     audit.Verdict
}

func newCrowd(n int, seed uint64, clock func() time.Time) *crowd {
	cfg := audit.DefaultConfig()
	cfg.GroupAge, cfg.PairSamples, cfg.SoloSamples = 5*time.Second, 4, 8 // so that groups vote while one looks on
	c := &crowd{
		clock: clock, began: clock(), rng: rand.New(rand.NewPCG(seed, 1)),
		byName: make(map[string]*member, n), auditor: audit.New(cfg),
	}
	for i := range n {
		m := &member{
			name: fmt.Sprintf("peer-%03d", i), group: fmt.Sprintf("198.51.%d.0/24", i/3),
			base: time.Duration(5+c.rng.ExpFloat64()*60) * time.Millisecond, ideal: 2e5 * math.Exp(c.rng.NormFloat64()+2),
		}
		m.rate = m.ideal
		switch {
		case i == 3 || i%50 == 49:
			m.slow = 6
		case i == 5:
			m.lies = true
		}
		c.members = append(c.members, m)
		c.byName[m.name] = m
	}
	return c
}

// advance makes up what happened since.
func (c *crowd) advance() {
	until := c.clock().Sub(c.began)
	c.now = max(c.now, until-mostSteps*stepEvery)
	for ; c.now+stepEvery <= until; c.now += stepEvery {
		for _, m := range c.members {
			c.step(m)
		}
	}
}

// step moves one peer on.
func (c *crowd) step(m *member) {
	m.rate *= math.Exp(0.08*c.rng.NormFloat64() + 0.02*math.Log(m.ideal/m.rate))
	switch {
	case m.burst.Gate == burst.Idle && c.rng.Float64() < 0.2:
		m.burst.Gate, m.burst.Opened, m.burst.Bytes, m.burst.Covered = burst.Open, c.now, 0, 0
		m.arrive(c.now)
	case m.burst.Gate == burst.Idle:
	case c.now > m.burst.Deadline:
		m.burst.Gate = burst.Idle
		m.burst.Bursts[burst.Horizon]++
	case m.burst.Gate == burst.Open && c.rng.Float64() < 0.6:
		m.arrive(c.now)
	case c.rng.Float64() < 0.1:
		m.burst.Gate = burst.Tripped
	case c.rng.Float64() < 0.15:
		m.burst.Gate = burst.Idle
		m.burst.Bursts[burst.FetchEnd]++
		c.fetched(m)
	}
}

func (m *member) arrive(now time.Duration) {
	n := int64(m.rate * stepEvery.Seconds())
	m.burst.Last, m.burst.Deadline = now, now+time.Second
	m.burst.Bytes += n
	m.burst.Covered += n
	m.burst.Tight += stepEvery
}

func (m *member) claim() time.Duration {
	return 2*m.base + time.Duration(size/m.rate*float64(time.Second))
}

// fetched has the audit look at a fetch from the peer.
func (c *crowd) fetched(m *member) {
	took := float64(m.claim()) * math.Exp(0.2*c.rng.NormFloat64()+0.05)
	if m.slow > 0 && c.rng.Float64() < 0.5 {
		took *= m.slow
	}
	m.completions++
	c.stats.Completions++
	before := m.verdict.Kind
	if m.lies && m.completions == 1 {
		m.verdict = c.auditor.Lie(c.now, m.name, m.group, audit.FalseSize, "said 1 MB for 2 MB")
	}
	m.verdict = c.auditor.Observe(c.now, audit.Record{
		Peer: m.name, Group: m.group, Size: size, BaseRTT: m.base, Claim: m.claim(), ClaimError: m.claim() / 50, Coverage: size,
		Actual: time.Duration(took), TTFB: m.base, Echoes: audit.EchoesFlowed,
	})
	if m.verdict.Kind != before {
		c.tell(ranking.Event{At: c.now, Kind: ranking.VerdictChanged, Peer: m.name, Verdict: m.verdict, Detail: m.verdict.Reason()})
	}
}

func (c *crowd) tell(e ranking.Event) {
	c.stats.Events[e.Kind]++
	c.events = append(c.events, livepage.Event{Number: c.stats.Events[e.Kind], Event: e})
	c.events = c.events[max(0, len(c.events)-60):]
}

// View implements livepage.Source.
func (c *crowd) View() livepage.View {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	v := livepage.View{Ranked: true, Size: size, Strata: c.auditor.Strata(), FreeRates: c.auditor.FreeRates(), Events: slices.Clone(c.events)}
	for _, m := range c.members {
		v.Peers = append(v.Peers, livepage.Peer{Name: m.name, Standing: m.standing(), Snapshot: m.snapshot(c.now)})
		if m.verdict.Kind.Punitive() {
			c.stats.Demoted++
		}
	}
	slices.SortStableFunc(v.Peers, func(a, b livepage.Peer) int {
		return cmp.Compare(weight(&a.Standing), weight(&b.Standing))
	})
	v.Stats = c.stats
	v.Stats.Groups = (len(c.members) + 2) / 3
	c.stats.Demoted = 0
	return v
}

// weight orders the peers: the demoted come last.
func weight(s *ranking.Standing) time.Duration {
	if s.Demoted {
		return s.Expected + time.Hour
	}
	return s.Expected
}

// Snapshot implements livepage.Source.
func (c *crowd) Snapshot(name string) (mux.Snapshot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	m := c.byName[name]
	if m == nil {
		return mux.Snapshot{}, false
	}
	return m.snapshot(c.clock().Sub(c.began)), true
}

func (m *member) standing() ranking.Standing {
	return ranking.Standing{
		Peer: m.name, Group: ranking.Group(m.group), Connected: true, Expected: m.claim() * 11 / 10, Claim: m.claim(), Measured: 0.8,
		Calibration: 1.1, Penalty: 1, BaseRTT: m.base, HighRTT: m.base * 5 / 4, Rate: burst.SecondsPerByte(1 / m.rate), Coverage: size,
		Completions: m.completions, Picked: m.completions, Bytes: int64(m.completions) * size,
		Newcomer: m.completions == 0, Demoted: m.verdict.Kind.Punitive(), Verdict: m.verdict,
	}
}

func (m *member) snapshot(now time.Duration) mux.Snapshot {
	s := mux.Snapshot{At: now, Burst: m.burst}
	s.RTT.Base, s.RTT.P50, s.RTT.P95 = m.base, m.base*11/10, m.base*5/4
	s.Estimate = burst.Estimation{Rate: burst.SecondsPerByte(1 / m.rate), StandardError: burst.SecondsPerByte(0.05 / m.rate), Coverage: size, Bursts: 9}
	return s
}
