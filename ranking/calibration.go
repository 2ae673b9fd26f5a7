package ranking

import "time"

const (
	// calibrationSamples is how many fetches a calibration rests on. More is steadier and slower.
	calibrationSamples = 12
	// calibrationMost bounds the factor, so that one disaster is outlived.
	calibrationMost = 20
	// calibrationPrior is the weight of believing a peer unseen, in fetches. Below one half, so that
	// the first fetch decides.
	calibrationPrior = 0.25
	// calibrationKept is the part of the half-life, as its inverse, for which the median is kept.
	calibrationKept = 256
)

// ratio is how a fetch compares with its claim.
type ratio struct {
	at    time.Duration
	value float32
}

// calibration is how many times longer than claimed a peer takes: the median over its last fetches.
// The zero value believes the peer.
type calibration struct {
	ring [calibrationSamples]ratio
	n    int // used
	next int

	median float64 // as of medAt
	medAt  time.Duration
	medOK  bool
}

// add takes in a fetch that took so many times its claim.
func (c *calibration) add(now time.Duration, value float64) {
	value = min(max(value, 1), calibrationMost)
	if value != value {
		return
	}
	c.ring[c.next] = ratio{now, float32(value)}
	c.next = (c.next + 1) % calibrationSamples
	c.n = min(c.n+1, calibrationSamples)
	c.medOK = false
}

// fail takes in a failure, which never makes a peer look better than before.
func (c *calibration) fail(now time.Duration, value float64, half time.Duration) {
	c.add(now, max(value, c.factor(now, half)))
}

// factor is the median, from 1 to calibrationMost. It is kept for a short part of the half-life, for
// it is asked for far more often than it changes.
func (c *calibration) factor(now time.Duration, half time.Duration) float64 {
	if c.n == 0 {
		return 1
	}
	if !c.medOK || now-c.medAt > half/calibrationKept {
		c.median, c.medAt, c.medOK = c.fresh(now, half), now, true
	}
	return c.median
}

// fresh makes the median anew. Its samples weigh by age, against the prior that claims are true.
func (c *calibration) fresh(now time.Duration, half time.Duration) float64 {
	var value, weight [calibrationSamples + 1]float64
	value[0], weight[0] = 1, calibrationPrior
	all, n := weight[0], 1
	for _, r := range c.ring[:c.n] {
		w, v := decay(now-r.at, half), float64(r.value)
		i := n
		for ; i > 0 && value[i-1] > v; i-- {
			value[i], weight[i] = value[i-1], weight[i-1]
		}
		value[i], weight[i] = v, w
		all, n = all+w, n+1
	}
	sum := 0.0
	for i := range n {
		if sum += weight[i]; 2*sum > all {
			return value[i]
		}
	}
	return value[n-1]
}
