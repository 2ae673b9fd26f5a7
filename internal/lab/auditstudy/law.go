package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/assay-mux/assay/audit"
)

// kind is what is true of a peer.
type kind int

const (
	normal kind = iota
	lossy
	slowDisk
	hostile

	kinds
	honestKinds = hostile
)

func (k kind) String() string {
	return [...]string{"normal", "lossy", "slow disk", "hostile"}[k]
}

// peer is one of the population.
type peer struct {
	name, group string
	kind        kind
	mu          float64 // logarithm of its own factor and its group's
	rtt         time.Duration
	rate        float64 // bytes per second, as its bursts say
	activity    float64
}

// The workload: how far and how fast peers are, and what is fetched from them. It gives the strata
// their claims; the residuals don't depend on it.
const (
	nearest, farthest = 4.0, 250.0    // ms, log-uniform over groups
	slowest, fastest  = 0.6e6, 25.0e6 // bytes per second, log-uniform over peers (5 to 200 Mbit/s)
)

var sizes = [...]int64{64 << 10, 512 << 10, 2 << 20, 12 << 20}

func logUniform(rng *rand.Rand, from, to float64) float64 {
	return from * math.Pow(to/from, rng.Float64())
}

func (p *Population) logNormal(rng *rand.Rand, median, sd float64) float64 {
	return median * math.Exp(sd*rng.NormFloat64())
}

// groupLaw is what the peers of a group share.
type groupLaw struct {
	name string
	mu   float64
	rtt  time.Duration
}

func (p *Population) newGroup(rng *rand.Rand, name string) groupLaw {
	return groupLaw{
		name: name,
		mu:   p.GroupSD * rng.NormFloat64(),
		rtt:  time.Duration(logUniform(rng, nearest, farthest) * float64(time.Millisecond)),
	}
}

func (p *Population) newPeer(rng *rand.Rand, name string, g groupLaw) peer {
	q := peer{
		name: name, group: g.name,
		mu:       g.mu + p.PeerSD*rng.NormFloat64(),
		rtt:      g.rtt,
		rate:     logUniform(rng, slowest, fastest),
		activity: math.Exp(p.ActivitySD * rng.NormFloat64()),
	}
	switch u := rng.Float64(); {
	case u < p.Lossy:
		q.kind = lossy
	case u < p.Lossy+p.SlowDisk:
		q.kind = slowDisk
	}
	return q
}

// population draws all honest peers.
func (p *Population) population(rng *rand.Rand) []peer {
	peers := make([]peer, 0, p.Groups*p.Peers)
	for g := range p.Groups {
		law := p.newGroup(rng, fmt.Sprintf("group %d", g))
		for i := range p.Peers {
			peers = append(peers, p.newPeer(rng, fmt.Sprintf("peer %d.%d", g, i), law))
		}
	}
	return peers
}

// residual is one draw, split by where the time went.
type residual struct {
	served  float64 // while the peer served
	late    float64 // before the first byte
	stalled float64 // silence in which the echoes stopped too, part of served
	seen    bool    // the kernel saw loss
}

// draw draws an honest fetch of a peer.
func (p *Population) draw(rng *rand.Rand, q *peer) residual {
	var r residual
	switch q.kind {
	case lossy:
		r.served = p.logNormal(rng, p.LossyMedian, p.LossySD) * math.Exp(q.mu)
		if rng.Float64() < p.EchoStops {
			r.stalled = p.StallShare * r.served
		}
		r.seen = rng.Float64() < p.KernelSees
	case slowDisk:
		r.served = p.logNormal(rng, p.Median, p.FetchSD) * math.Exp(q.mu)
		r.served += p.logNormal(rng, p.DiskMedian, p.DiskSD) * math.Exp(q.mu/2)
	default:
		r.served = p.logNormal(rng, p.Median, p.FetchSD) * math.Exp(q.mu)
	}
	p.accidents(rng, q, &r)
	return r
}

// accidents adds what happens now and then to anybody.
func (p *Population) accidents(rng *rand.Rand, q *peer, r *residual) {
	if rng.Float64() < p.SpikeRate {
		spike := p.logNormal(rng, p.SpikeMedian, p.SpikeSD)
		if rng.Float64() < p.SpikeLate {
			r.late += spike
		} else {
			r.served += spike
		}
	}
	if rng.Float64() < p.TailRate {
		r.served += p.TailScale * math.Pow(1-rng.Float64(), -1/p.TailExponent)
	}
	if q.kind != lossy && rng.Float64() < p.BlipRate {
		blip := p.logNormal(rng, p.BlipMedian, p.LossySD)
		r.served += blip
		if rng.Float64() < p.EchoStops {
			r.stalled += blip
		}
	}
}

// record makes a fetch of a residual.
func (p *Population) record(rng *rand.Rand, q *peer, r residual) audit.Record {
	size := sizes[rng.IntN(len(sizes))]
	claim := q.rtt + time.Duration(float64(size)/q.rate*1e9)
	share := func(x float64) time.Duration { return time.Duration(x * float64(claim)) }
	rec := audit.Record{
		Peer: q.name, Group: q.group,
		Size: size, Coverage: size,
		BaseRTT: q.rtt, Claim: claim, ClaimError: claim / 20,
		Actual:   max(claim+share(r.served+r.late), 0),
		TTFB:     q.rtt + share(r.late),
		Echoes:   audit.EchoesFlowed,
		Loss:     audit.LossClear,
		Critical: rng.Float64() < p.Critical,
	}
	if r.stalled > 0 {
		rec.Echoes, rec.Stalled = audit.EchoesStopped, share(r.stalled)
	}
	if r.seen {
		rec.Loss = audit.LossSeen
	}
	return rec
}
