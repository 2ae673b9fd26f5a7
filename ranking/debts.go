package ranking

import (
	"slices"
	"time"
)

const (
	// mostDebts bounds the failures that wait for their datum to come from elsewhere.
	mostDebts = 1024
	// debtMost is how long one waits.
	debtMost = 10 * time.Minute
)

// debt is a failure of which it is not known yet how long the datum took in the end.
type debt struct {
	datum    string
	peer     string
	began    time.Duration
	expected float64 // seconds
	times    float64 // of that, charged so far
	at       time.Duration
}

// debts are the failures that wait, the oldest first.
type debts []debt

func (d *debts) add(datum string, x debt) {
	if datum == "" {
		return
	}
	if len(*d) >= mostDebts {
		*d = append((*d)[:0], (*d)[mostDebts/4:]...)
	}
	x.datum = datum
	*d = append(*d, x)
}

// pay takes out those of a datum.
func (d *debts) pay(datum string) []debt {
	var out []debt
	kept := (*d)[:0]
	for _, x := range *d {
		if x.datum == datum {
			out = append(out, x)
		} else {
			kept = append(kept, x)
		}
	}
	*d = kept
	return out
}

// forgive takes out those of a peer.
func (d *debts) forgive(peer string) {
	*d = slices.DeleteFunc(*d, func(x debt) bool { return x.peer == peer })
}

func (d *debts) expire(now time.Duration) {
	n := 0
	for n < len(*d) && now-(*d)[n].at >= debtMost {
		n++
	}
	if n > 0 {
		*d = append((*d)[:0], (*d)[n:]...)
	}
}
