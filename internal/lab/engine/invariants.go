package engine

import (
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/mux"
)

// Bounds of what is checked in every run.
const (
	// mostCookies is how many may be outstanding on a connection: the shim's default.
	mostCookies = 8
	// streamSlack is how many streams a meter may follow that the multiplexer has closed: those
	// whose end the peer has not answered yet.
	streamSlack = 32
	// roundSlack is how far below the link's own round trip a base RTT may be: none but
	// rounding.
	roundSlack = time.Microsecond
	// rateSlack is how much better than the link's a rate may read. Estimates leave the
	// first read out, which of a few makes that much.
	rateSlack = 1.05
)

// close takes the last look at a connection and checks it.
func (r *recorder) close(c *connection) {
	s := c.client.Meter().Snapshot()
	r.check(c, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tally(c.a.id)
	t.last = s
	t.ours += s.Burst.Ours
	t.theirs += s.Burst.Peers
	t.forged += s.Cookies.Forged
}

// watchEvery is how often all connections are looked at.
const watchEvery = 10 * time.Second

// watch checks all connections now and then.
func (w *world) watch() {
	for at := watchEvery; w.sleepUntil(at); at += watchEvery {
		for _, a := range w.everyone() {
			if c := a.current(); c != nil {
				w.log.check(c, c.client.Meter().Snapshot())
			}
		}
		w.checkKept()
	}
}

// faultSlack and faultRTTs x RTT are the silence that may be charged to an honest peer
// around a fault of ours: what it is charged without one, about an RTT a fetch.
const (
	faultSlack = 250 * time.Millisecond
	faultRTTs  = 6
)

// checkFault checks that a fault of ours is charged to no peer that serves at once
// over a steady path.
func (w *world) checkFault(at, d time.Duration) {
	before := map[*connection]time.Duration{}
	for _, a := range w.everyone() {
		if c := a.current(); c != nil && a.plain() {
			before[c] = c.client.Meter().Snapshot().Burst.Peers
		}
	}
	if !w.sleepUntil(at + d + faultSlack) {
		return
	}
	for c, was := range before {
		w.log.charged(c, c.client.Meter().Snapshot().Burst.Peers-was, d)
	}
}

// charged checks how much of a pause of ours was charged to a peer.
func (r *recorder) charged(c *connection, got, pause time.Duration) {
	if got > faultSlack+faultRTTs*time.Duration(c.a.link.RTT) {
		r.violate(c.a.id, "%v of a pause of ours of %v were charged to it", got, pause)
	}
}

// plain says that a peer serves at once, over a path that is always the same.
func (a *actor) plain() bool {
	l := a.link
	return len(a.spec.Behaviour) == 0 && a.spec.Echoes == nil && l.Loss == nil && l.Jitter == 0 && len(l.Changes) == 0 &&
		l.Through == "" && a.w.s.Node.Ingress == 0
}

// check checks what must hold of a connection at any time.
func (r *recorder) check(c *connection, s mux.Snapshot) {
	if s.Outstanding > mostCookies {
		r.violate(c.a.id, "%d cookies are outstanding, at most %d may be", s.Outstanding, mostCookies)
	}
	if most := c.streams() + streamSlack; s.Streams > most {
		r.violate(c.a.id, "%d streams are followed, at most %d may be open", s.Streams, most)
	}
	if s.RTT.Samples+s.RTT.LoadedSamples > s.Cookies.Echoed {
		r.violate(c.a.id, "%d round trips were sampled of %d echoes that were due: an estimate moved on one that was not",
			s.RTT.Samples+s.RTT.LoadedSamples, s.Cookies.Echoed)
	}
	if got := uint64(c.got.Load()); s.Counts.PayloadIn < got {
		r.violate(c.a.id, "%d bytes were read of %d that came", got, s.Counts.PayloadIn)
	}
	if least := c.leastRTT(); s.RTT.Base > 0 && s.RTT.Base < least-roundSlack {
		r.violate(c.a.id, "a base RTT of %v on a link of %v", s.RTT.Base, least)
	}
	if most := c.mostRate(); most > 0 && s.Estimate.Rate > 0 && r.leastRate(s.Estimate) > most*rateSlack {
		r.violate(c.a.id, "a rate of %.0f B/s on a link of %.0f", s.Estimate.Rate.BytesPerSecond(), most)
	}
}

// leastRate is the least, in bytes per second, that an estimate vouches for. In real
// time a link that was late hands on what it kept at once, faster than its rate: an
// estimate is then held to its own error bar.
func (r *recorder) leastRate(e burst.Estimation) float64 {
	if r.w.o.RealTime {
		return (e.Rate + 2*e.StandardError).BytesPerSecond()
	}
	return e.Rate.BytesPerSecond()
}

// streams is how many are open, by the local multiplexer's own books.
func (c *connection) streams() int {
	if c.client == nil {
		return 0
	}
	return c.client.NumStreams()
}

// leastRTT is the least round trip that the link ever has.
func (c *connection) leastRTT() time.Duration {
	least := c.a.link.RTT
	for _, s := range c.a.link.Changes {
		if s.RTT > 0 {
			least = min(least, s.RTT)
		}
	}
	return time.Duration(least)
}

// mostRate is the highest rate that the link ever has, in bytes per second; 0 no
// limit.
func (c *connection) mostRate() float64 {
	l := c.a.link
	most := l.Rate
	for _, s := range l.Changes {
		most = max(most, s.Rate)
	}
	if l.Bucket != nil {
		if l.Bucket.Peak == 0 {
			return 0
		}
		most = max(most, l.Bucket.Peak)
	}
	return most.BytesPerSecond()
}
