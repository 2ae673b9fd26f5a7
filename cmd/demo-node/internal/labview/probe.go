package labview

import (
	"math"
	"sync"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/ranking"
)

// Probe lends the ranker of a run to a view. Its zero value is ready, and has
// nothing to lend before New; it is safe for concurrent use.
type Probe struct {
	mu     sync.Mutex
	ranker ranker
	base   time.Time
}

// ranker is what a view asks of the run's chooser.
type ranker interface {
	Rank(now time.Duration, size int64, most int) []ranking.Standing
}

// New makes Assay's own chooser, and keeps hold of it; it is for
// engine.PlayOptions.
func (p *Probe) New(s engine.Setting) (engine.Chooser, error) {
	c, err := engine.NewAssay(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ranker, _ = c.(ranker)
	p.base = time.Now() // a run's instants begin as its chooser is made
	return c, err
}

// Rank is how the connected peers rank now for a datum of a size.
func (p *Probe) Rank(size int64) (now time.Duration, rank []ranking.Standing) {
	p.mu.Lock()
	r, base := p.ranker, p.base
	p.mu.Unlock()
	if r == nil {
		return 0, nil
	}
	now = time.Since(base)
	return now, r.Rank(now, size, math.MaxInt32)
}
