package ranking

import (
	"time"

	"github.com/assay-mux/assay/burst"
)

const (
	// testedFor is how long the result of a speed test binds predictions. A peer is tested at most
	// twice a day, so one missed test does not lift it. Larger holds longer against a peer whose line
	// became faster.
	testedFor = day
	// testedApart is how far a result may be from what is expected of the peer before an ordinary
	// fetch has to settle it. The test's own error is far below; rates of honest peers vary by less.
	testedApart = 2
)

// tested is what the last speed test of a peer showed.
type tested struct {
	rate burst.SecondsPerByte // 0 for none
	at   time.Duration
	due  bool // an ordinary fetch has not settled it yet
}

// floor is the least time a byte takes by it, in s/B.
func (t tested) floor(now time.Duration) float64 {
	if t.rate <= 0 || now-t.at >= testedFor {
		return 0
	}
	return float64(t.rate)
}

// wants says that an ordinary fetch still has to settle it.
func (t tested) wants(now time.Duration) bool { return t.due && t.floor(now) > 0 }

// Tested takes in what a speed test of a peer showed: the rate at which it can send to us, in s/B.
// Give only a result that the peer itself limited, no lower bound. For a day no prediction for the
// peer is faster than that. It never makes one faster, for a peer may serve tests specially: where
// the result is half or twice what is expected, the peer is due for a trial, which is measured and
// audited as any fetch. The errors are [ErrUnknownPeer] and [ErrRate].
func (r *Ranker) Tested(now time.Duration, peer string, rate burst.SecondsPerByte) error {
	if !(rate > 0 && rate < 1) {
		return ErrRate
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[peer]
	if p == nil {
		return ErrUnknownPeer
	}
	believed := r.shrunk(p, r.explorer.limits.firstBytes, now)
	apart := max(float64(rate)/believed, believed/float64(rate))
	p.tested = tested{rate: rate, at: now, due: apart >= testedApart}
	r.consider(now, p)
	r.touch(p)
	return nil
}
