package audit

import "time"

// The charts of a peer.
const (
	chartSlowToStart = iota
	chartPath
	chartOverclaims
	chartCritical
	chartWithholding
	chartHolding

	chartCount
)

// kindOf says which verdict a chart gives; that of held echoes is no kind but an attribution.
var kindOf = [chartCount]Kind{SlowToStart, Path, Overclaims, NeverAlone, Withholding, Clear}

// group is a network location.
type group struct {
	name  string
	id    uint64
	since time.Duration // first seen
	peers int
}

// peer is all the audit knows of one.
type peer struct {
	name   string
	id     uint64
	group  *group
	place  string // the group's name, at hand
	slot   int    // its place in the auditor's list
	since  time.Duration
	charts [chartCount]ChartState
	lie    LieKind
	detail string
	forged int
	places [maxCells]uint16 // of each cell its stratum's index: one cache line to search
	cells  []cell
}

// maxCells bounds the strata that a peer has a voice in, and so its memory: 20 cells of two
// histograms, with a group of its own, are 12 KiB. A path is in one round-trip class, so that all
// eight sizes make 8+4+1; what is over is for a path on the border of two.
const maxCells = 20

// kinds returns what stands against the peer.
func (p *peer) kinds() Kinds {
	var s Kinds
	for i := range chartHolding {
		if p.charts[i].Stands {
			s = s.with(kindOf[i])
		}
	}
	if p.lie != NoLie {
		s = s.with(ProvenLie)
	}
	return s
}

// speaks says whether the peer is part of the baseline: one convicted of a fault is not.
func (p *peer) speaks() bool {
	return p.lie == NoLie && !p.charts[chartWithholding].Stands
}

// find returns the peer's cell in a stratum, or nil.
func (p *peer) find(s *stratum) *cell {
	place := uint16(s.key.index())
	for i, at := range p.places[:len(p.cells)] {
		if at == place {
			return &p.cells[i]
		}
	}
	return nil
}

// panel returns the panel of the peer's group in a stratum, or nil. p may be nil.
func (p *peer) panel(s *stratum) *panel {
	if p == nil {
		return nil
	}
	if c := p.find(s); c != nil {
		return c.panel
	}
	return s.panels[p.group]
}

// median returns the peer's own median residual over all its fetches of a kind of path.
func (p *peer) median(s *stratum) float64 {
	if s == nil {
		return 0
	}
	if c := p.find(s); c != nil {
		return c.older.quantile(0.5)
	}
	return 0
}

// cell returns the peer's cell in a stratum, giving up its stalest one for it if need be.
func (p *peer) cell(now time.Duration, s *stratum, cfg *Config) *cell {
	if c := p.find(s); c != nil {
		return c
	}
	if len(p.cells) >= maxCells {
		oldest := 0
		for i := range p.cells {
			if p.cells[i].last < p.cells[oldest].last {
				oldest = i
			}
		}
		p.giveUp(now, oldest, cfg)
	}
	panel := s.panelOf(p.group)
	panel.cells++
	if n := len(p.cells); n == cap(p.cells) {
		// Not as append grows it: most peers have few, and keep them.
		p.cells = append(make([]cell, 0, min(n+levels, maxCells)), p.cells...)
	}
	p.places[len(p.cells)] = uint16(s.key.index())
	p.cells = append(p.cells, cell{stratum: s, panel: panel})
	return &p.cells[len(p.cells)-1]
}

// giveUp takes one cell out.
func (p *peer) giveUp(now time.Duration, i int, cfg *Config) {
	p.cells[i].leave(now, p.id, cfg)
	last := len(p.cells) - 1
	p.cells[i], p.places[i] = p.cells[last], p.places[last]
	p.cells[last] = cell{}
	p.cells = p.cells[:last]
}

// giveUpStale takes out the cells that are too old to speak.
func (p *peer) giveUpStale(now time.Duration, cfg *Config) {
	for i := len(p.cells) - 1; i >= 0; i-- {
		if p.cells[i].stale(now, cfg.Span) {
			p.giveUp(now, i, cfg)
		}
	}
}

// move takes the peer and its voices to another group.
func (p *peer) move(now time.Duration, to *group, cfg *Config) {
	p.group.peers--
	to.peers++
	p.group = to
	for i := range p.cells {
		c := &p.cells[i]
		c.leave(now, p.id, cfg)
		c.panel = c.stratum.panelOf(to)
		c.panel.cells++
	}
	p.speakUp(now, cfg)
}

// speakUp brings all the peer's voices up to date.
func (p *peer) speakUp(now time.Duration, cfg *Config) {
	for i := range p.cells {
		p.cells[i].speak(now, p.id, p.speaks(), cfg)
	}
}
