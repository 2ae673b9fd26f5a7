package kernelpath

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/assay-mux/assay/internal/lab"
)

// DefaultQueue is the longest wait in a bottleneck's queue where Direction.Queue
// is zero: what home routers commonly hold, but leastQueue packets in any case,
// as they do too, or a slow line would lose of the first window of a connection.
// Longer delays, shorter loses more.
const DefaultQueue = 100 * time.Millisecond

const leastQueue = 64

// mtu is the largest packet in bytes, Ethernet's.
const mtu = 1500

// The errors of this package.
var (
	// ErrUnavailable says that this machine cannot emulate paths; the text after it says why.
	ErrUnavailable = errors.New("kernelpath: cannot emulate paths here, run as root on Linux with /dev/net/tun")
	// ErrPath is a path out of range.
	ErrPath = errors.New("kernelpath: rates, delays and queues must be finite and not negative, probabilities within 0 and 1")
	// ErrCarry says that the process that carries packets did not do so.
	ErrCarry = errors.New("kernelpath: no process carries the packets, call Carry first thing in main")
	// ErrPeers is a number of peers there cannot be, or a peer that is not there.
	ErrPeers = errors.New("kernelpath: peers are numbered from 0, there may be 1 to 250")
)

// Loss is how packets get lost. The zero value loses none. Probabilities are of a
// packet.
type Loss struct {
	// Random is the loss of each packet by itself.
	Random float64
	// Enter and Leave are the probabilities that a bad spell begins with a packet
	// and that it ends with one; InBad is the loss within. A spell lasts 1/Leave
	// packets on average.
	Enter, Leave, InBad float64
}

// Mean is the share of packets lost in the long run.
func (l Loss) Mean() float64 {
	bad := 0.0
	if l.Enter > 0 {
		bad = l.Enter / (l.Enter + l.Leave)
	}
	return 1 - (1-l.Random)*(1-bad*l.InBad)
}

func (l Loss) valid() bool {
	for _, p := range []float64{l.Random, l.Enter, l.Leave, l.InBad} {
		if !(p >= 0 && p <= 1) {
			return false
		}
	}
	return true
}

// Direction is one way of a path. The zero value carries all at once.
type Direction struct {
	// Rate is that of the bottleneck, counted over whole IP packets; 0 is no limit.
	// Of 1500 bytes TCP's payload is 1448.
	Rate lab.BitRate
	// Delay is the propagation delay, after the bottleneck.
	Delay time.Duration
	// Queue is how long a packet may have to wait for the bottleneck; one that
	// would have to wait longer is dropped. 0 is DefaultQueue, or 64 full packets.
	Queue time.Duration
	Loss  Loss
}

// Validate returns an error that is ErrPath if something is out of range.
func (d Direction) Validate() error {
	if !(d.Rate >= 0) || math.IsInf(float64(d.Rate), 0) || d.Delay < 0 || d.Queue < 0 || !d.Loss.valid() {
		return fmt.Errorf("%w: %+v", ErrPath, d)
	}
	return nil
}

func (d Direction) queue() time.Duration {
	if d.Queue == 0 {
		return max(DefaultQueue, d.Rate.Time(leastQueue*mtu))
	}
	return d.Queue
}

// Path joins a peer to the hub.
type Path struct {
	Up   Direction // from the hub to the peer
	Down Direction // from the peer to the hub
}

// Symmetric is the same both ways.
func Symmetric(rtt time.Duration, rate lab.BitRate) Path {
	d := Direction{Rate: rate, Delay: rtt / 2}
	return Path{d, d}
}

// WithLoss is the path with that loss from the peer to the hub, the way that
// data come.
func (p Path) WithLoss(l Loss) Path {
	p.Down.Loss = l
	return p
}

// RTT is the path's own round trip.
func (p Path) RTT() time.Duration { return p.Up.Delay + p.Down.Delay }

// Validate returns an error that is ErrPath if something is out of range.
func (p Path) Validate() error { return errors.Join(p.Up.Validate(), p.Down.Validate()) }

// Shared is a bottleneck that several peers share, on their way to the hub,
// behind their own.
type Shared struct {
	Direction
	Peers []int
}

// Config is what a Net is made from.
type Config struct {
	// Seed seeds the losses.
	Seed   uint64
	Paths  []Path // of each peer
	Shared []Shared
}

// Validate returns an error that is ErrPath or ErrPeers.
func (c Config) Validate() error {
	if len(c.Paths) < 1 || len(c.Paths) > maxPeers {
		return ErrPeers
	}
	for _, p := range c.Paths {
		if err := p.Validate(); err != nil {
			return err
		}
	}
	taken := make(map[int]bool)
	for _, s := range c.Shared {
		if err := s.Validate(); err != nil {
			return err
		}
		for _, i := range s.Peers {
			if i < 0 || i >= len(c.Paths) || taken[i] {
				return fmt.Errorf("%w: %d, which may share one bottleneck", ErrPeers, i)
			}
			taken[i] = true
		}
	}
	return nil
}

// maxPeers is how many peers the addresses are for.
const maxPeers = 250

// Stats is what one direction did.
type Stats struct {
	Packets, Bytes uint64 // carried to the end
	Lost           uint64 // by Loss
	Dropped        uint64 // by a full queue
}

// Lateness is how exact the emulation was: how long after its time a packet was
// delivered. On an idle machine it is some tens of microseconds.
type Lateness struct {
	Packets uint64
	Late    uint64 // by more than a millisecond
	Worst   time.Duration
	Mean    time.Duration
}
