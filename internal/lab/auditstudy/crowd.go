package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/assay-mux/assay/audit"
)

// A scenario is a population, and how many hostile groups live in it.
type scenario struct {
	name string
	pop  Population
	// hostile is the share of all groups, and residual what each of their fetches shows.
	hostile, residual float64
	// shown says that the scenario is there to be known, and has no bars.
	shown bool
}

// loudest is the largest residual that is never gross: a peer that shows it has the largest say
// without being convicted of withholding and so losing it.
const loudest = 3.0

// scenarios are those the study runs.
func scenarios() []scenario {
	return []scenario{
		{name: "no hostile groups", pop: Base},
		{name: "20 % inflate", pop: Base, hostile: 0.20, residual: loudest},
		{name: "33 % inflate", pop: Base, hostile: 0.33, residual: loudest},
		{name: "33 % deflate", pop: Base, hostile: 0.33, residual: 0.01},
		{name: "rougher", pop: Rougher},
		{name: "rougher, 33 % inflate", pop: Rougher, hostile: 0.33, residual: loudest},
		{name: "path never seen", pop: unseen(Base), shown: true},
	}
}

// unseen is a population on whose paths neither echoes nor kernel tell a loss from a peer's silence.
func unseen(p Population) Population {
	p.Name += ", path never seen"
	p.EchoStops, p.KernelSees = 0, 0
	return p
}

// crowd is everybody, and who is fetched from how often.
type crowd struct {
	pop     Population
	peers   []peer
	chances []int32
}

// chanceCount is how finely activities are kept.
const chanceCount = 1 << 18

func newCrowd(s scenario, rng *rand.Rand) *crowd {
	c := &crowd{pop: s.pop, peers: s.pop.population(rng)}
	// The hostile come from a source of their own, so that the honest are the same with and
	// without them.
	own := rand.New(rand.NewPCG(rng.Uint64(), 1))
	for g := range int(math.Round(s.hostile / (1 - s.hostile) * float64(s.pop.Groups))) {
		law := s.pop.newGroup(own, fmt.Sprintf("hostile group %d", g))
		for i := range s.pop.Peers {
			p := s.pop.newPeer(own, fmt.Sprintf("hostile %d.%d", g, i), law)
			p.kind = hostile
			c.peers = append(c.peers, p)
		}
	}
	c.deal()
	return c
}

// deal gives each peer chances in proportion to its activity.
func (c *crowd) deal() {
	var total, sum float64
	for i := range c.peers {
		total += c.peers[i].activity
	}
	c.chances = make([]int32, 0, chanceCount)
	for i := range c.peers {
		sum += c.peers[i].activity
		for float64(len(c.chances)) < sum/total*chanceCount {
			c.chances = append(c.chances, int32(i))
		}
	}
}

// pick returns the number of the peer that the next fetch goes to.
func (c *crowd) pick(rng *rand.Rand) int {
	return int(c.chances[rng.IntN(len(c.chances))])
}

// fetch returns a fetch from one of the crowd.
func (c *crowd) fetch(rng *rand.Rand, s scenario, i int) audit.Record {
	p := &c.peers[i]
	if p.kind == hostile {
		return c.pop.record(rng, p, residual{served: s.residual})
	}
	return c.pop.record(rng, p, c.pop.draw(rng, p))
}

// days is how long the fetches of a run take, so that histograms come of age in it.
const days = 10

func interval(fetches int) time.Duration {
	return days * 24 * time.Hour / time.Duration(max(fetches, 1))
}
