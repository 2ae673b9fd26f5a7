package engine

import (
	"net"
	"sync"
	"time"
)

// gate sits under our shim. While our process is frozen nothing passes it: what
// arrives waits, as in a socket. It also sees what arrives when, for those who
// rank by the naive rate.
type gate struct {
	net.Conn
	w      *world
	socket int // its number
	naive
}

func (g *gate) Read(p []byte) (int, error) {
	g.w.unfrozen(g.socket)
	n, err := g.Conn.Read(p)
	g.w.unfrozen(g.socket)
	if n > 0 {
		g.arrived(g.w.now(), n)
	}
	return n, err
}

func (g *gate) Write(p []byte) (int, error) {
	g.w.unfrozen(g.socket)
	return g.Conn.Write(p)
}

// naiveHorizon is the silence that ends a burst, as the first design has it
// (rttBurstMaxAge).
const naiveHorizon = time.Second

// naiveWeight is that of the newest burst in the average.
const naiveWeight = 0.25

// naive is the ungated burst rate: bytes over time within bursts, silences
// longer than the horizon left out.
type naive struct {
	mu    sync.Mutex
	last  time.Duration // the newest arrival
	bytes float64       // of the burst after its first arrival
	span  time.Duration
	slope float64 // s/B, averaged over bursts; 0 unknown
}

func (v *naive) arrived(now time.Duration, n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if gap := now - v.last; gap <= naiveHorizon && v.last > 0 {
		v.bytes += float64(n)
		v.span += gap
	} else {
		v.slope = v.with()
		v.bytes, v.span = 0, 0
	}
	v.last = now
}

// with is the average with the burst that is open. Needs mu.
func (v *naive) with() float64 {
	if v.bytes < 4096 || v.span <= 0 {
		return v.slope
	}
	s := v.span.Seconds() / v.bytes
	if v.slope == 0 {
		return s
	}
	return v.slope + naiveWeight*(s-v.slope)
}

// rate is the ungated burst rate in bytes per second, 0 unknown.
func (v *naive) rate() float64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.with(); s > 0 {
		return 1 / s
	}
	return 0
}
