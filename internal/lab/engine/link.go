package engine

import (
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/ranking"
)

// pair makes the two ends of a peer's link: ours, and the peer's.
func (w *world) pair(a *actor) (ours, theirs *lab.Conn) {
	l := a.link
	one := lab.Link{OneWay: time.Duration(l.RTT) / 2, SlowStart: !l.Full, IdleRestart: !l.Full, Buffer: int(l.Buffer)}
	up, down := one, one
	up.Rate, down.Rate = lab.BitRate(l.Up), lab.BitRate(l.Rate)
	return lab.PairOf(up, down)
}

// truePath is a link as a prediction with perfect knowledge has it.
func truePath(l scenario.Link, window int64) ranking.Path {
	p := ranking.Path{BaseRTT: time.Duration(l.RTT), StreamWindow: window}
	if l.Rate > 0 {
		p.Rate = burst.SecondsPerByte(8 / float64(l.Rate))
	}
	if l.Full {
		p.LastWindow = 1 << 40
	}
	return p
}
