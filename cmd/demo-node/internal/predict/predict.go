// Package predict says how long a fetch will take, before it begins.
//
// It is for a node without a ranker, which asks one peer alone, and differs from
// package ranking's in what our own window adds: that is taken from real machines,
// see Path.credit. The formula is that of Cardwell, Savage and Anderson, "Modeling
// TCP Latency", INFOCOM 2000, in closed form. Pure: no clock, no goroutine.
package predict

import (
	"math"
	"time"
)

// InitialWindow is the first window of a slow start in bytes: ten segments, RFC
// 6928.
const InitialWindow = 14600

// Path is what is known of the way to a peer when a fetch begins.
type Path struct {
	BaseRTT        time.Duration // the path's own round trip
	Waiting        time.Duration // what its high quantile shows above the base
	SecondsPerByte float64       // the peer's serialisation slope
	Window         int64         // bytes the sender may have in flight; below InitialWindow means cold
	StreamWindow   int64         // yamux's receive window of a stream in bytes; 0 no bound
	Outstanding    int64         // bytes still to come from this peer for other fetches
}

// Fetch predicts the time from the request for n bytes to the last of them. It
// returns false while the rate or the round trip is unknown.
//
//	K = max(1, ceil(log2(n/W + 1)))  windows that cover the datum
//	Q = ceil(log2(R/(S W)))          rounds until the window covers the path
//	P = min(Q, K-1)                  rounds that stall
//	R + P R - S W (2^P - 1) + S n + waiting, and what our own window adds
//
// with R the base round trip, S the slope and W the sender's first window.
func Fetch(p Path, n int64) (time.Duration, bool) {
	if p.BaseRTT <= 0 || !(p.SecondsPerByte > 0) || n < 0 {
		return 0, false
	}
	n += max(p.Outstanding, 0)
	r := p.BaseRTT.Seconds()
	t := r + p.ramp(r, n) + p.SecondsPerByte*float64(n) + p.credit(r, n) + max(p.Waiting, 0).Seconds()
	return time.Duration(t * float64(time.Second)), true
}

// ramp is how long the stalls of a slow start take, in seconds.
func (p Path) ramp(r float64, n int64) float64 {
	w := float64(max(p.Window, InitialWindow))
	q := math.Ceil(math.Log2(r / (p.SecondsPerByte * w)))
	k := max(1, math.Ceil(math.Log2(float64(n)/w+1)))
	rounds := min(q, k-1)
	if rounds <= 0 {
		return 0
	}
	return max(0, rounds*r-p.SecondsPerByte*w*(math.Exp2(rounds)-1))
}

// credit is how long the sender waits for our stream window, in seconds. Yamux
// grants anew when half of it has been read. At best two grants are under way
// and a window passes each R + S W/2. But a reader that is late for a moment
// grants more than half at once, the rest is too little to be granted alone, and
// from then on half a window passes each round trip. On a real machine that
// state is reached within a second and stays (measured: 84 ms a window at 40 ms,
// where undisturbed virtual time shows 62).
func (p Path) credit(r float64, n int64) float64 {
	if p.StreamWindow <= 0 || n <= p.StreamWindow {
		return 0
	}
	w := float64(p.StreamWindow)
	return max(0, 2*r/w-p.SecondsPerByte) * (float64(n) - w)
}
