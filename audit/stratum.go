package audit

import (
	"math"
	"math/bits"
	"time"
)

// Residuals are compared among fetches of like size over paths of like length: sizes by powers of 4
// from 16 kB, base round trips by powers of 2 from 4 ms, eight classes each. Where too few groups
// vote, neighbouring classes are merged two by two on both axes, and where that won't do, all. A
// level between would cost each fetch another histogram, for a threshold that the clamp leaves a few
// per cent to move in.
const (
	classes  = 8
	smallest = 16 << 10
	shortest = 4 * time.Millisecond
	levels   = 3
	perLevel = classes * classes
	keyCount = 2 * levels * perLevel
	coarsest = levels - 1
)

// mergeShift is by how many bits each level shortens a class.
func mergeShift(level uint8) uint8 { return level + level/coarsest }

// key names a stratum: its level of merging, its classes at that level, and whether the kernel saw
// loss. Lossy fetches are never merged with others: that would judge them by clear paths.
type key struct {
	level, size, rtt uint8
	lossy            bool
}

// keyOf returns the key of the finest stratum of a fetch.
func keyOf(size int64, rtt time.Duration, loss Loss) key {
	return key{size: sizeClass(size), rtt: rttClass(rtt), lossy: loss == LossSeen}
}

// at returns the stratum that holds k at a level of merging.
func (k key) at(level uint8) key {
	shift := mergeShift(level)
	return key{level: level, size: k.size >> shift, rtt: k.rtt >> shift, lossy: k.lossy}
}

// index returns a key's place in the auditor's table: less than a map costs, several times a fetch.
func (k key) index() int {
	i := (int(k.level)*classes+int(k.size))*classes + int(k.rtt)
	if k.lossy {
		i += levels * perLevel
	}
	return i
}

func sizeClass(n int64) uint8 {
	if n < smallest {
		return 0
	}
	return uint8(min((bits.Len64(uint64(n/smallest))+1)/2, classes-1))
}

func rttClass(d time.Duration) uint8 {
	if d < shortest {
		return 0
	}
	return uint8(min(bits.Len64(uint64(d/shortest)), classes-1))
}

// sizeFloor and rttFloor return where a class begins.
func sizeFloor(class int) int64 {
	if class <= 0 {
		return 0
	}
	return smallest << (2 * (class - 1))
}

func rttFloor(class int) time.Duration {
	if class <= 0 {
		return 0
	}
	return shortest << (class - 1)
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
	if may = may && c.older.n >= uint32(cfg.PairSamples); !may {
		c.hush(now, id, cfg)
		return
	}
	value := grain(cfg.VoteFactor * c.older.quantile(cfg.VoteQuantile))
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

// grain cuts a voice to steps of 1/64 to 1/128 of itself, well below what a quantile of some dozens
// of samples can tell, so that most fetches move no list.
func grain(v float64) float64 {
	const dropped = 52 - 6 // of the mantissa's bits
	return math.Float64frombits(math.Float64bits(v) &^ (1<<dropped - 1))
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

// voters returns how many groups other than that of panel p vote. p may be nil.
func (s *stratum) voters(p *panel) int {
	if p != nil && p.votes {
		return len(s.votes) - 1
	}
	return len(s.votes)
}

// median returns the median of the votes but that of panel p, which may be nil.
func (s *stratum) median(p *panel) float64 {
	if p != nil && p.votes {
		return s.votes.medianWithout(entry{p.vote, p.group.id})
	}
	return s.votes.median()
}
