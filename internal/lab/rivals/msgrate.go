package rivals

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/ranking"
)

// The constants of msgrate, by their names there.
const (
	measurementImpact      = 0.1 // weight of the newest measurement
	capacityOverestimation = 1.01
	tuningImpact           = 0.25 // weight of the newest population round trip
	rttPushdownFactor      = 0.9
	rttMinEstimate         = 2 * time.Second
	rttMaxEstimate         = 20 * time.Second
)

// msgRate ranks as go-ethereum's downloader does (p2p/msgrate at 02b73d4,
// eth/downloader/fetchers_concurrent.go): a capacity in items per second for each
// peer,
//
//	capacity = 0.9 capacity + 0.1 items/elapsed, 0 after a request that brought nothing
//	request  = 1 + max(1, 1.01 capacity x target round trip)
//
// and the idle peer with the largest request comes first. Round trips of whole requests
// are averaged alike; the target is 0.9 of the population's, which follows by 0.25 the
// one at the square root of the sorted peers and is kept within 2 s and 20 s. A new
// peer begins with the mean capacity of the others.
//
// Items are bytes here, as in its snap sync. Where its loop would leave a request
// waiting until a peer is idle, the host asks now: a busy peer, the one with the fewest
// requests. Its own timeouts are the host's affair, and so its confidence, which
// nothing else is for, is left out.
type msgRate struct {
	dice      *rand.Rand
	peers     map[ranking.Conn]*tracker
	roundTrip time.Duration // of the population
	tuned     time.Duration // when
}

// tracker is what is known of one connection.
type tracker struct {
	capacity  float64 // B/s
	roundTrip time.Duration
}

// NewMsgRate returns go-ethereum's ranking by capacity.
func NewMsgRate(s engine.Setting) (engine.Chooser, error) {
	return engine.NewSimple(newMsgRate(s.Seed)), nil
}

func newMsgRate(seed uint64) *msgRate {
	return &msgRate{dice: newDice(seed), peers: map[ranking.Conn]*tracker{}, roundTrip: rttMaxEstimate}
}

func (*msgRate) Name() string { return "msgrate" }

func (m *msgRate) Pick(now time.Duration, _ engine.Want, c []engine.Candidate) int {
	for _, p := range c {
		m.track(p.Conn, c)
	}
	m.tune(now)
	fewest := c[0].Transfers
	for _, p := range c {
		fewest = min(fewest, p.Transfers)
	}
	return least(m.dice, c, func(p engine.Candidate) float64 {
		if p.Transfers > fewest {
			return 0
		}
		return -m.request(m.peers[p.Conn])
	})
}

// request is how many bytes would be asked of a peer.
func (m *msgRate) request(t *tracker) float64 {
	target := rttPushdownFactor * m.roundTrip.Seconds()
	return math.Round(1 + max(1, capacityOverestimation*t.capacity*target))
}

// track begins the record of a peer that has none, with the means of the others.
func (m *msgRate) track(conn ranking.Conn, c []engine.Candidate) {
	if m.peers[conn] != nil {
		return
	}
	sum, n := 0.0, 0
	for _, p := range c {
		if t := m.peers[p.Conn]; t != nil {
			sum += t.capacity
			n++
		}
	}
	m.peers[conn] = &tracker{capacity: sum / float64(max(n, 1)), roundTrip: m.roundTrip}
}

// tune moves the population's round trip, once in each.
func (m *msgRate) tune(now time.Duration) {
	if now-m.tuned < m.roundTrip {
		return
	}
	m.tuned = now
	var all []time.Duration
	for _, t := range m.peers {
		all = append(all, t.roundTrip)
	}
	slices.Sort(all)
	middle := all[min(int(math.Sqrt(float64(len(all)))), len(all)-1)]
	moved := (1-tuningImpact)*float64(m.roundTrip) + tuningImpact*float64(middle)
	m.roundTrip = min(max(time.Duration(moved), rttMinEstimate), rttMaxEstimate)
}

func (m *msgRate) Learn(_ time.Duration, o engine.Outcome) {
	t := m.peers[o.Conn]
	switch {
	case t == nil || o.Aborted:
	case o.Failed || o.Bytes == 0:
		t.capacity = 0 // and the round trip stays, as there
	default:
		took := max(o.Took, time.Nanosecond)
		t.capacity += measurementImpact * (float64(o.Bytes)/took.Seconds() - t.capacity)
		t.roundTrip += time.Duration(measurementImpact * float64(took-t.roundTrip))
	}
}
