package status

import (
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/ranking"
)

// Ranking shows the ranker of now, a metrics.RankingSource. The zero value has
// none. Safe for concurrent use.
type Ranking struct {
	now atomic.Pointer[ranked]
}

type ranked struct {
	ranker *ranking.Ranker
	clock  func() time.Duration
	size   int64
}

// most is how many peers are told of; as many as the collector has slots at most
// are shown.
const most = 16

// Set shows a ranker, whose base clock tells the time on, by what it thinks of
// its peers for a datum of size bytes.
func (r *Ranking) Set(ranker *ranking.Ranker, clock func() time.Duration, size int64) {
	r.now.Store(&ranked{ranker, clock, size})
}

// Ranking reads it.
func (r *Ranking) Ranking() metrics.Ranking {
	x := r.now.Load()
	if x == nil {
		return metrics.Ranking{}
	}
	return metrics.OfRanker(x.ranker, x.clock(), x.size, most)
}
