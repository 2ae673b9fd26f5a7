package audit

import (
	"math/bits"
	"time"
)

// Residuals are compared among fetches of like size over paths of like length: sizes by powers of 4
// from 16 kB, base round trips by powers of 2 from 4 ms, eight classes each. Where too few groups
// vote, neighbouring classes are merged two by two on both axes, and again, until one holds all.
const (
	classes = 8
	levels  = 4 // 1, 2, 4, 8 classes to one

	smallestSize = 16 << 10
	shortestRTT  = 4 * time.Millisecond
)

// key names a stratum: its level of merging, its classes at that level, and whether the kernel saw
// loss. Lossy fetches are never merged with others: that would judge them by clear paths.
type key struct {
	level, size, rtt uint8
	lossy            bool
}

// strataOf returns the key of the finest stratum of a fetch.
func keyOf(size int64, rtt time.Duration, loss Loss) key {
	return key{size: sizeClass(size), rtt: rttClass(rtt), lossy: loss == LossSeen}
}

// at returns the stratum that holds k at a level of merging.
func (k key) at(level uint8) key {
	return key{level: level, size: k.size >> level, rtt: k.rtt >> level, lossy: k.lossy}
}

func sizeClass(n int64) uint8 {
	if n < smallestSize {
		return 0
	}
	return uint8(min((bits.Len64(uint64(n/smallestSize))+1)/2, classes-1))
}

func rttClass(d time.Duration) uint8 {
	if d < shortestRTT {
		return 0
	}
	return uint8(min(bits.Len64(uint64(d/shortestRTT)), classes-1))
}

// sizeFloor and rttFloor return where a class begins.
func sizeFloor(class int) int64 {
	if class <= 0 {
		return 0
	}
	return smallestSize << (2 * (class - 1))
}

func rttFloor(class int) time.Duration {
	if class <= 0 {
		return 0
	}
	return shortestRTT << (class - 1)
}

// stratum is a set of like fetches: the votes on its threshold, and what metrics want to know.
type stratum struct {
	key    key
	panels map[*group]*panel
	votes  ranked // by group id
	tally  Tally
}

// panel is what one group says in one stratum.
type panel struct {
	group  *group
	cells  int    // how many peers have been here; the panel goes with the last
	voices ranked // by peer id: those with enough samples
	solos  int    // how many of them would do alone
	votes  bool
	vote   float64
}

// panelOf returns the panel of a group in the stratum.
func (s *stratum) panelOf(g *group) *panel {
	p := s.panels[g]
	if p == nil {
		p = &panel{group: g}
		s.panels[g] = p
	}
	return p
}

// speak brings a cell's voice up to date, and with it its group's vote. may is whether the peer has
// a voice at all.
func (c *cell) speak(now time.Duration, id uint64, may bool, cfg *Config) {
	if may = may && c.older != nil && c.older.n >= uint32(cfg.PairSamples); !may {
		c.hush(now, id, cfg)
		return
	}
	value := cfg.VoteFactor * c.older.quantile(cfg.VoteQuantile)
	switch {
	case !c.voter:
		c.panel.voices.add(entry{value, id})
	case value != c.voice:
		c.panel.voices.replace(entry{c.voice, id}, value)
	}
	c.voter, c.voice = true, value
	c.setSolo(c.older.n >= uint32(cfg.SoloSamples))
	c.stratum.count(now, c.panel, cfg)
}

// hush takes a cell's voice away.
func (c *cell) hush(now time.Duration, id uint64, cfg *Config) {
	if c.voter {
		c.panel.voices.drop(entry{c.voice, id})
		c.voter = false
		c.setSolo(false)
	}
	c.stratum.count(now, c.panel, cfg)
}

func (c *cell) setSolo(solo bool) {
	switch {
	case solo && !c.solo:
		c.panel.solos++
	case !solo && c.solo:
		c.panel.solos--
	}
	c.solo = solo
}

// leave takes a cell out of its stratum for good.
func (c *cell) leave(now time.Duration, id uint64, cfg *Config) {
	c.hush(now, id, cfg)
	if c.panel.cells--; c.panel.cells == 0 {
		delete(c.stratum.panels, c.panel.group)
	}
}

// count brings a group's vote up to date: the median of its peers' voices.
func (s *stratum) count(now time.Duration, p *panel, cfg *Config) {
	votes := (len(p.voices) >= 2 || p.solos >= 1) && now-p.group.since >= cfg.GroupAge
	vote := p.voices.median()
	switch {
	case votes && !p.votes:
		s.votes.add(entry{vote, p.group.id})
	case votes && vote != p.vote:
		s.votes.replace(entry{p.vote, p.group.id}, vote)
	case !votes && p.votes:
		s.votes.drop(entry{p.vote, p.group.id})
	}
	p.votes, p.vote = votes, vote
}

// others returns how many groups other than g vote, and the median of their votes.
func (s *stratum) others(g *group) (voters int, median float64) {
	if p := s.panels[g]; p != nil && p.votes {
		return len(s.votes) - 1, s.votes.medianWithout(entry{p.vote, g.id})
	}
	return len(s.votes), s.votes.median()
}
