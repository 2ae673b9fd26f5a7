package livepage

import (
	"math"
	"strconv"
	"time"

	"github.com/assay-mux/assay/audit"
)

// historyLength is how many points are kept of each peer, one a second. More
// shows more of the past; at five minutes a thousand peers take 11 MB.
const historyLength = 300

// The columns of a history. Seconds, but for the rate (B/s) and the residual and
// threshold (shares of the claim).
const (
	colAt = iota
	colBase
	colP95
	colRate
	colExpected
	colClaim
	colActual
	colResidual
	colThreshold
	columns
)

var columnNames = [columns]string{"at", "base", "p95", "rate", "expected", "claim", "actual", "residual", "threshold"}

// point is one second of a peer. NaN is unknown, or nothing happened.
type point [columns]float32

// history is a peer's past, in a ring that grows to historyLength.
type history struct {
	points []point
	next   int  // where the oldest is, once the ring is full
	last   last // fetch that was seen, so that each shows once
	seen   bool // in the view that was added last
}

// add takes in one second. at is the time since the page began.
func (h *history) add(at time.Duration, p *Peer) {
	r := newRow(p)
	x := point{
		colAt: float32(at.Seconds()), colBase: known(r.Base), colP95: known(r.P95), colRate: known(r.Rate), colExpected: known(r.Expected),
		colClaim: none, colActual: none, colResidual: none, colThreshold: none,
	}
	if r.Last != nil && *r.Last != h.last {
		h.last = *r.Last
		h.last.into(&x)
	}
	if len(h.points) < historyLength {
		h.points = append(h.points, x)
		return
	}
	h.points[h.next] = x
	h.next = (h.next + 1) % historyLength
}

// into puts a fetch into a point, as far as it was audited.
func (l *last) into(x *point) {
	if l.Claim > 0 && l.Actual > 0 {
		x[colClaim], x[colActual] = float32(l.Claim), float32(l.Actual)
	}
	if l.Outcome == audit.Judged.String() || l.Outcome == audit.Censored.String() {
		x[colResidual], x[colThreshold] = float32(l.Residual), float32(l.Threshold)
	}
}

var none = float32(math.NaN())

// known is a figure, or none if it is 0.
func known(x float64) float32 {
	if x == 0 {
		return none
	}
	return float32(x)
}

// appendJSON writes the points from the oldest on, at most so many of the newest,
// as an object of columns.
func (h *history) appendJSON(b []byte, most int) []byte {
	skip := max(0, len(h.points)-most)
	b = append(b, '{')
	for c, name := range columnNames {
		if c > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, name), ':', '[')
		for i := skip; i < len(h.points); i++ {
			if i > skip {
				b = append(b, ',')
			}
			b = appendFigure(b, h.points[(h.next+i)%len(h.points)][c])
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendFigure(b []byte, x float32) []byte {
	if x != x || math.IsInf(float64(x), 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, float64(x), 'g', 6, 32)
}

// past is the history of all peers of the latest view. Not safe for concurrent
// use.
type past map[string]*history

// add takes in a view, and forgets the peers that are not in it.
func (p past) add(at time.Duration, v *View) {
	for i := range v.Peers[:min(len(v.Peers), mostPeers)] {
		peer := &v.Peers[i]
		h := p[peer.Name]
		if h == nil {
			h = new(history)
			p[peer.Name] = h
		}
		h.seen = true
		h.add(at, peer)
	}
	for name, h := range p {
		if !h.seen {
			delete(p, name)
		}
		h.seen = false
	}
}
