package engine

import (
	"time"

	"github.com/assay-mux/assay/ranking"
)

// assay is our own chooser: the ranker as any host has it.
type assay struct {
	*ranking.Ranker
	most ranking.Kept
}

// NewAssay returns the ranker as a chooser.
func NewAssay(s Setting) (Chooser, error) {
	cfg := ranking.DefaultConfig()
	cfg.Seed = s.Seed
	cfg.StreamWindow = s.Window
	cfg.DownloadLimit = s.DownloadLimit
	cfg.Dry = s.Dry
	if s.Copies > 0 {
		cfg.Copies = s.Copies
	}
	r, err := ranking.New(cfg)
	if err != nil {
		return nil, err
	}
	return assay{r, cfg.MostKept()}, nil
}

func (a assay) Name() string { return "assay" }

func (a assay) Join(now time.Duration, p Joining) (ranking.Conn, error) {
	c, err := a.Ranker.Join(now, p.Peer)
	if err == nil && p.Tested > 0 {
		err = a.Tested(now, p.ID, p.Tested)
	}
	return c, err
}

// Leave tells that a connection ended; one that it does not know has ended.
func (a assay) Leave(now time.Duration, c ranking.Conn) { _ = a.Ranker.Leave(now, c) }

// Offer passes an offer on; the ranker says which it does not take.
func (a assay) Offer(now time.Duration, peer, datum string, s ranking.Size) {
	_ = a.Ranker.Offer(now, peer, datum, s)
}

func (a assay) Begin(now time.Duration, p ranking.Plan) (Transfer, error) {
	f, err := a.Ranker.Begin(now, p)
	if err != nil {
		return nil, err
	}
	return fetch{f}, nil
}

func (a assay) MostKept() ranking.Kept { return a.most }

func (a assay) Tick(now time.Duration) { a.Poll(now) }

// fetch is a ranking.Fetch as a Transfer.
type fetch struct{ *ranking.Fetch }

func (f fetch) Add(now time.Duration, p ranking.Pick) (Transfer, error) {
	more, err := f.Fetch.Add(now, p)
	if err != nil {
		return nil, err
	}
	return fetch{more}, nil
}
