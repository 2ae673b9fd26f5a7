package rivals

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/ranking"
)

const (
	// peakTau is the time constant of the decay, Finagle's default.
	peakTau = 10 * time.Second
	// peakPenalty is the load of a peer that is busy and has no history, Finagle's.
	peakPenalty = 1 << 47
	// peakFailure is the least that a failure is taken for, Linkerd's.
	peakFailure = 5 * time.Second
)

// peakEWMA balances as Finagle does (loadbalancer/PeakEwma.scala at 4feb34c) and
// Linkerd after it: the cost of a peer is an average of completion times that jumps to
// a worse one at once and decays to a better one,
//
//	cost = took                                 if took > cost
//	cost = w cost + (1-w) took, w = exp(-dt/tau) otherwise
//	load = cost (pending + 1)
//
// in nanoseconds. Reading a cost lets it decay towards nothing, so that a bad peer is
// tried again; one without a history comes first, and is penalised while it is
// tried. A failure costs at least 5 s (linkerd2-proxy at 29637b6; before that, peers that
// failed fast were sent more).
//
// Both take two peers by chance and the lesser load of these. Here all are compared,
// of which two are a cheap approximation: where peers differ, two by chance meet the
// slow ones oftener.
type peakEWMA struct {
	dice  *rand.Rand
	peers map[ranking.Conn]*peak
}

type peak struct {
	cost  float64 // ns
	stamp time.Duration
}

// NewPeakEWMA returns Finagle's and Linkerd's balancing by peak completion time.
func NewPeakEWMA(s engine.Setting) (engine.Chooser, error) {
	return engine.NewSimple(newPeakEWMA(s.Seed)), nil
}

func newPeakEWMA(seed uint64) *peakEWMA {
	return &peakEWMA{dice: newDice(seed), peers: map[ranking.Conn]*peak{}}
}

func (*peakEWMA) Name() string { return "peak_ewma" }

func (e *peakEWMA) Pick(now time.Duration, _ engine.Want, c []engine.Candidate) int {
	return least(e.dice, c, func(p engine.Candidate) float64 { return e.load(now, p) })
}

func (e *peakEWMA) load(now time.Duration, c engine.Candidate) float64 {
	p := e.peer(now, c.Conn)
	p.observe(now, 0)
	if p.cost == 0 && c.Transfers > 0 {
		return peakPenalty + float64(c.Transfers)
	}
	return p.cost * float64(c.Transfers+1)
}

func (e *peakEWMA) peer(now time.Duration, c ranking.Conn) *peak {
	p := e.peers[c]
	if p == nil {
		p = &peak{stamp: now}
		e.peers[c] = p
	}
	return p
}

func (p *peak) observe(now, took time.Duration) {
	w := math.Exp(-float64(max(now-p.stamp, 0)) / float64(peakTau))
	p.stamp = now
	if t := float64(took); t > p.cost {
		p.cost = t
	} else {
		p.cost = p.cost*w + t*(1-w)
	}
}

func (e *peakEWMA) Learn(now time.Duration, o engine.Outcome) {
	switch {
	case o.Aborted:
	case o.Failed:
		e.peer(now, o.Conn).observe(now, max(o.Took, peakFailure))
	default:
		e.peer(now, o.Conn).observe(now, o.Took)
	}
}
