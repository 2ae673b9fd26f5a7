package mux

import (
	"crypto/rand"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cookie"
)

// pairing is the burst window of one connection and the queue of the cookies
// whose echoes vouch for it. A rate and its echoes must live at the same
// granularity (the seed's rule): were a window fed by one stream and vouched
// for by another's echoes, a peer could answer here and stall there. A window
// is made only here, over a queue made with it, and neither leaves.
type pairing struct {
	cookies *cookie.Queue
	window  *burst.Window
}

func newPairing(c cookie.Config, b burst.Config, rtt *cookie.RTT) pairing {
	var key [16]byte
	rand.Read(key[:]) // never fails (crypto/rand)
	q := cookie.NewQueue(c, key, rtt)
	return pairing{cookies: q, window: burst.NewWindow(b, q)}
}
