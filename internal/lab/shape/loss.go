package shape

import (
	"math/rand/v2"
	"time"
)

// Loss says how segments are lost: at random, in bursts, or both (Gilbert 1960
// and Elliott 1963: a chain of two states that takes a step with each segment).
// What a reader sees of it is what TCP makes of it, that is delay and a smaller
// window: see the package. The zero value loses nothing.
type Loss struct {
	// Rate is the share lost outside bursts, 0 to less than 1.
	Rate float64

	// Bursts is the chance, with each segment outside a burst, that one begins,
	// 0 to less than 1.
	Bursts float64

	// Length is the mean length of a burst in segments, 1 or more (3 if zero).
	Length float64

	// Within is the share lost in a burst, 0 to 1 (all if zero).
	Within float64
}

const (
	// burstLength is the default of Length: as many as one full queue drops of a
	// window of moderate size. Larger means more recoveries that fail.
	burstLength = 3

	// maxResent is after how many timeouts in a row a retransmission gets through
	// whatever the draw: 200 ms doubled seven times is 26 s, near where kernels
	// give a connection up. Larger means longer stalls, with less chance each.
	maxResent = 8
)

// Mean is the share of segments lost in the long run.
func (l Loss) Mean() float64 {
	l = l.normal()
	inside := l.inside()
	return (1-inside)*l.Rate + inside*l.Within
}

// inside is the share of segments that are in bursts.
func (l Loss) inside() float64 {
	if l.Bursts == 0 {
		return 0
	}
	return l.Bursts / (l.Bursts + 1/l.Length)
}

// Valid tells whether every field is in its range.
func (l Loss) Valid() bool {
	return l.Rate >= 0 && l.Rate < 1 && l.Bursts >= 0 && l.Bursts < 1 &&
		l.Within >= 0 && l.Within <= 1 && (l.Length == 0 || l.Length >= 1) && l.Length < 1e9
}

// normal fills the defaults in.
func (l Loss) normal() Loss {
	if l.Length == 0 {
		l.Length = burstLength
	}
	if l.Within == 0 {
		l.Within = 1
	}
	return l
}

// luck is all that is random about a direction of a link. Its draws follow from
// the seed and the order of the segments. Not safe for concurrent use.
type luck struct {
	dice   *rand.Rand // nil where nothing is random
	loss   Loss
	losing bool // whether anything is ever lost
	burst  bool // the chain's state
	spread time.Duration
}

func newLuck(l Config) luck {
	u := luck{loss: l.Loss.normal(), spread: l.Jitter}
	u.losing = l.Loss.Rate > 0 || l.Loss.Bursts > 0
	if u.losing || u.spread > 0 {
		u.dice = rand.New(rand.NewPCG(l.Seed, l.Way))
	}
	return u
}

// jitter draws the extra delay of a segment.
func (u *luck) jitter() time.Duration {
	if u.spread == 0 {
		return 0
	}
	return u.late()
}

func (u *luck) late() time.Duration {
	return time.Duration(u.dice.Float64() * float64(u.spread))
}

// lost draws whether the next segment is lost.
func (u *luck) lost() bool { return u.losing && u.draw() }

func (u *luck) draw() bool {
	switch {
	case u.burst:
		u.burst = u.dice.Float64() >= 1/u.loss.Length
	case u.loss.Bursts > 0:
		u.burst = u.dice.Float64() < u.loss.Bursts
	}
	share := u.loss.Rate
	if u.burst {
		share = u.loss.Within
	}
	return u.dice.Float64() < share
}

// lostLater draws whether a segment is lost that comes after a timeout. The
// chain has forgotten its state by then, for a burst passes in milliseconds.
func (u *luck) lostLater() bool {
	if u.loss.Bursts > 0 {
		u.burst = u.dice.Float64() < u.loss.inside()
	}
	return u.lost()
}

// resent is when a retransmission gets through whose first try is at an
// instant: one that is lost is followed by the next after a timeout, which
// doubles each time (RFC 6298, 5.5).
func (u *luck) resent(at, timeout time.Duration) time.Duration {
	for range maxResent - 1 {
		if !u.lostLater() {
			break
		}
		at += timeout
		timeout *= 2
	}
	return at
}
