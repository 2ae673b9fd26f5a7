package metrics

import (
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/ranking"
)

// Ranking is what a ranker and its audit know at one instant.
type Ranking struct {
	Stats ranking.Stats
	// Best are the standings to show by rank slot, the best first.
	Best      []ranking.Standing
	Strata    []audit.Stratum
	FreeRates []audit.FreeRate
}

// OfRanker returns what a ranker knows at an instant of its base; Best are the
// first most peers for a datum of size bytes. r must not be nil. It takes the
// ranker's lock for some tens of microseconds and is safe for concurrent use.
func OfRanker(r *ranking.Ranker, now time.Duration, size int64, most int) Ranking {
	return Ranking{Stats: r.Stats(now), Best: r.Rank(now, size, most), Strata: r.Strata(), FreeRates: r.FreeRates()}
}

// RankingSource tells what a ranker knows.
type RankingSource interface {
	// Ranking is called once for each scrape and from one goroutine at a time. It
	// should not block, and must not call the collector. A ranker's counters may
	// fall only where the ranker is a new one.
	Ranking() Ranking
}

// RankingFunc is a function as a [RankingSource].
type RankingFunc func() Ranking

// Ranking calls f.
func (f RankingFunc) Ranking() Ranking { return f() }

// WithRanker adds the figures of a ranker and its audit: standings by rank slot,
// as many as WithTop says, verdicts, budgets, the residuals by stratum. No peer
// is a label. They cost about 70 series, 4 for each slot and 25 for each stratum
// that had a fetch. A nil src adds none.
func WithRanker(src RankingSource) Option { return func(o *options) { o.ranker = src } }
