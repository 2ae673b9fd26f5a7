package kernelpath

import "math/rand/v2"

// dice say which packets get lost.
type dice struct {
	rand *rand.Rand
	bad  bool // in a bad spell
}

func newDice(seed, stream uint64) *dice {
	return &dice{rand: rand.New(rand.NewPCG(seed, stream))}
}

// lost says whether the next packet is.
func (d *dice) lost(l Loss) bool {
	if l == (Loss{}) {
		d.bad = false
		return false
	}
	if d.bad {
		d.bad = d.rand.Float64() >= l.Leave
	} else {
		d.bad = d.rand.Float64() < l.Enter
	}
	return d.rand.Float64() < l.Random || d.bad && d.rand.Float64() < l.InBad
}
