package ranking

import (
	"math"
	"time"
)

const (
	// keptWithin is the part of the band, as its inverse, within which of the best one a peer is kept: so much
	// worse it could serve and not lose its post. A quarter: half of what a draw from the band costs on the
	// average; with less the noise of honest peers ends most posts at once.
	keptWithin = 4
	// tenure is the time in which that halves. Longer lets one that slackens as far as it may gain by it for
	// longer; shorter draws anew more often, among peers of which less has been heard of late. 10 minutes:
	// what an accident costs a peer lasts as long (see [Config.HalfPeak]).
	tenure = 10 * time.Minute
	// keptAlways is the part of the band, as its inverse, that it does not fall below: half a percent of the usual
	// one, which nobody notices, so that chance alone ends no post.
	keptAlways = 20
)

// post is a peer's place as the one that was chosen of several and served. Of equals the one we are with
// is kept: its congestion window is open, where drawing anew each time lets all of them close; and of
// those that look equal some only had luck with their last fetches, which each draw would find out at the
// cost of a fetch. The zero value is none.
type post struct {
	since, last time.Duration
	held        bool
}

// within is the share by which the best may be better than who holds it.
func (p *post) within(now time.Duration, band float64) float64 {
	return band * max(math.Exp2(-float64(max(now-p.since, 0))/float64(tenure))/keptWithin, 1.0/keptAlways)
}

// served takes in that it was chosen, and delivered.
func (p *post) served(now time.Duration, kept bool) {
	if !kept || !p.held {
		p.since = now
	}
	p.last, p.held = now, true
}

// incumbent is the one of a band that holds a post, the one that served last of several.
func (r *Ranker) incumbent(now time.Duration, band []candidate) (candidate, bool) {
	var out candidate
	for _, c := range band {
		p := &c.p.post
		if !p.held || c.measured < provenAt || out.p != nil && p.last <= out.p.post.last {
			continue
		}
		if c.time <= band[0].time*(1+p.within(now, r.cfg.Band)) {
			out = c
		}
	}
	return out, out.p != nil
}
