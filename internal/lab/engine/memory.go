package engine

import "github.com/assay-mux/assay/ranking"

// keeping is what a chooser like the ranker says of what it holds on to, and of the most that it may.
type keeping interface {
	Kept() ranking.Kept
	MostKept() ranking.Kept
}

// beginning is how many fetches may be about to begin or end while they are counted.
const beginning = 16

// checkKept checks that the chooser keeps no more than it promises, nor more than a run of this size
// can have given it.
func (w *world) checkKept() {
	c, ok := w.chooser.(keeping)
	if !ok {
		return
	}
	most := c.MostKept()
	everyone := len(w.everyone())
	most.Records = min(most.Records, everyone)
	most.Audited = min(most.Audited, everyone)
	most.Conns = everyone
	most.Fetches = w.log.running() + beginning
	w.bound(c.Kept(), most)
}

// checkLeft checks that nothing of what has ended is kept.
func (w *world) checkLeft() {
	c, ok := w.chooser.(keeping)
	if !ok {
		return
	}
	most := c.MostKept()
	most.Events = 0 // they were drained
	w.bound(c.Kept(), most)
}

// bound says where more is kept than may be.
func (w *world) bound(k, most ranking.Kept) {
	for _, b := range []struct {
		what    string
		n, most int
	}{
		{"records", k.Records, most.Records}, {"peers in the audit", k.Audited, most.Audited},
		{"connections", k.Conns, most.Conns}, {"fetches", k.Fetches, most.Fetches},
		{"sized data", k.Sized, most.Sized}, {"claims of a datum", k.Claims, most.Claims},
		{"held data", k.Held, most.Held}, {"holders of a datum", k.Holders, most.Holders},
		{"events", k.Events, most.Events}, {"debts", k.Debts, most.Debts}, {"pending trials", k.Pending, most.Pending},
	} {
		if b.n > b.most {
			w.log.violate("", "%d %s are kept, at most %d may be", b.n, b.what, b.most)
		}
	}
}

// running is how many transfers have not ended.
func (r *recorder) running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, t := range r.transfers {
		if t.End == "" {
			n++
		}
	}
	return n
}
