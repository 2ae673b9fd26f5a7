package ranking

import (
	"time"

	"github.com/assay-mux/assay/burst"
)

// measuredPrior is the weight of the prediction beside measured completions, in completions. Larger
// holds on to predictions that completions contradict; with 0 one old completion of another size
// would decide.
const measuredPrior = 0.1

// expectation is what is expected of a peer for so many bytes. Times are in seconds.
type expectation struct {
	time     float64 // what ranks: measured and predicted, with penalties
	measured float64 // the part of it that completions decide, 0 to 1
	plain    float64 // the same without penalties
	waited   float64 // what completions alone say; 0 without any
}

// path is the way to a peer over a connection, or over no particular one, with its raw rate.
func (r *Ranker) path(p *peer, c *conn, now time.Duration) Path {
	path := Path{
		BaseRTT: p.base, HighRTT: p.high, StreamWindow: r.cfg.StreamWindow,
		Rate: p.estimation.Rate, RateError: p.estimation.StandardError,
	}
	if path.BaseRTT <= 0 {
		path.BaseRTT = r.cfg.DefaultRTT
		path.HighRTT = r.cfg.DefaultRTT
	}
	if c != nil {
		path.LastWindow, path.Idle = c.lastWindow, c.idle(now)
		path.StreamWindow, path.WindowRounds = c.window, c.windowRounds
		path.Lossy = c.losses.seen()
	}
	return path
}

// claimFor is the peer's own claim for n bytes, the reading that is audited: raw, neither shrunk nor
// calibrated. False if it has none.
func claimFor(n int64, path Path) (Prediction, bool) {
	if path.Rate <= 0 {
		return Prediction{}, false
	}
	return Predict(n, path), true
}

// shrunk is the rate for choosing: the peer's own as far as its coverage carries n bytes, then its
// long-run one as far as that does, and the prior for the rest.
func (r *Ranker) shrunk(p *peer, n int64, now time.Duration) float64 {
	s := r.priorOf(p)
	if c := p.long.covered(now, day); c > 0 {
		s += (float64(p.long.rate) - s) * trust(c, n)
	}
	own := p.estimation.Rate
	if own <= 0 {
		own = p.estimation.UpperBound
		if float64(own) >= s {
			return s
		}
	}
	if own > 0 {
		s += (float64(own) - s) * trust(float64(p.estimation.Coverage), n)
	}
	return s
}

// priorOf is the rate that a peer is taken for as far as nothing is known of it, in s/B: the
// population's, and where nothing at all is known that of its own group, if it is worse. Identities
// are cheap: what those of one place did is to be expected of the next one from there.
func (r *Ranker) priorOf(p *peer) float64 {
	if p.voteOf > 0 {
		return r.population.prior
	}
	return max(r.population.prior, p.group.median)
}

// trust is how far coverage carries n bytes, as [burst.Estimation.Trust] has it.
func trust(coverage float64, n int64) float64 {
	if coverage <= 0 {
		return 0
	}
	return coverage / (coverage + float64(max(n, 0)))
}

// expect is what is expected of a peer for n bytes more. All that we await from it already comes
// first.
func (r *Ranker) expect(p *peer, n int64, now time.Duration) expectation {
	all := n + p.outstanding
	path := r.path(p, p.conn(), now)
	measured, weight := p.waits.of(now, all, path, r.cfg.HalfWait)
	m := weight / (weight + measuredPrior)
	path.Rate = burst.SecondsPerByte(max(r.shrunk(p, all, now), p.tested.floor(now)))
	if p.voteOf == 0 { // to be near is not to serve: nobody tops the list by a round trip alone
		path.BaseRTT = max(path.BaseRTT, r.population.distance)
		path.HighRTT = max(path.HighRTT, path.BaseRTT)
	}
	predicted := Predict(all, path).Total.Seconds()
	if g := p.group.penalty(now, &r.cfg); g > 0 { // as far as it is a newcomer
		predicted *= 1 + g*measuredPrior/(measuredPrior+p.waits.count(now, r.cfg.HalfWait))
	}
	calibration, penalty := p.calibration.factor(now, r.cfg.HalfCalibration), p.penalty.factor(now, r.tally.Completions, &r.cfg)
	return expectation{
		time:     m*measured*penalty + (1-m)*predicted*max(calibration, penalty), // a failure is in both, and counts once
		measured: m,
		plain:    m*measured + (1-m)*predicted*calibration,
		waited:   measured,
	}
}

// duration is a time from seconds, at most a year: no wait that is longer differs from it.
func duration(s float64) time.Duration {
	const most = 365 * day
	if !(s < most.Seconds()) {
		return most
	}
	return time.Duration(s * 1e9)
}
