package ranking

import "time"

const (
	// tenure is how long a peer is kept among equals before there is a draw again. Longer gains nothing that
	// a window or a record loses; shorter draws more often one that only looks like an equal. 10 minutes:
	// nobody has more than six of them in an hour for having been lucky once.
	tenure = 10 * time.Minute
	// keptWithin is the part of the band within which of the best one it is kept, as its inverse: who is kept
	// could serve worse by that and not lose the post. 2 % of the usual band is what equals differ by.
	keptWithin = 5
)

// post is a peer's place as the one that was chosen of several and served. Of equals the one we are with
// is kept: its congestion window is open, where drawing anew each time lets all of them close; and of
// those that look equal some only had luck with their last fetches, which each draw would find out at the
// cost of a fetch. The zero value is none.
type post struct {
	since, last time.Duration
	held        bool
}

func (p *post) holds(now time.Duration) bool { return p.held && now-p.since < tenure }

// served takes in that it was chosen, and delivered.
func (p *post) served(now time.Duration, kept bool) {
	if !kept || !p.held {
		p.since = now
	}
	p.last, p.held = now, true
}

// kept is the one of a band that holds a post, the one that served last of several.
func (r *Ranker) kept(now time.Duration, band []candidate) (candidate, bool) {
	var out candidate
	for _, c := range band {
		near := c.time <= band[0].time*(1+r.cfg.Band/keptWithin)
		if near && c.measured >= provenAt && c.p.post.holds(now) && (out.p == nil || c.p.post.last > out.p.post.last) {
			out = c
		}
	}
	return out, out.p != nil
}
