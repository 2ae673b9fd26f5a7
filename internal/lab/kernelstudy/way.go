package kernelstudy

import (
	"fmt"
	"math"
	"time"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
)

// Way is a path under study, with the congestion control of both ends.
type Way struct {
	RTT     time.Duration
	Rate    lab.BitRate
	Loss    float64       // of each packet towards us
	Queue   time.Duration // 0 holds what a sender sends too much
	Control string        // empty is the kernel's default
}

// longestWire is how long the bytes of a fetch may take on the wire to be in the
// grid. Longer measures patience: what differs between the models is in the
// first seconds.
const longestWire = 8 * time.Second

// informative is the rate from which on a cell is for information: the emulator
// and the node share the machine's processors and need much of them.
const informative = 500 * lab.Mbit

// Sizes are those of the data in bytes: a header, a small and a large block, and
// a long range.
func Sizes() []int64 { return []int64{16_000, 64_000, 512_000, 4_000_000, 12_000_000} }

// Grid is every way without loss.
func Grid(control string) (ways []Way) {
	for _, rtt := range rtts() {
		for _, rate := range []lab.BitRate{1, 10, 100, 200, 500} {
			ways = append(ways, Way{RTT: rtt, Rate: rate * lab.Mbit, Control: control})
		}
	}
	return ways
}

func rtts() (all []time.Duration) {
	for _, ms := range []int{5, 20, 69, 150, 268} {
		all = append(all, time.Duration(ms)*time.Millisecond)
	}
	return all
}

// Shallow is the grid's fast ways with the queue of a home router, 100 ms: BBR's
// start sends nearly three times what the path carries, and loses of it what
// does not fit, up to a third (and CUBIC's less), which is loss without a lossy
// path.
func Shallow(control string) (ways []Way) {
	for _, rtt := range rtts()[2:] {
		for _, rate := range []lab.BitRate{10, 100, 200} {
			ways = append(ways, Way{RTT: rtt, Rate: rate * lab.Mbit, Queue: kernelpath.DefaultQueue, Control: control})
		}
	}
	return ways
}

// queue is that of the bottleneck. Nothing is lost where it holds three round
// trips: at its start a sender has up to three windows under way.
func (w Way) queue() time.Duration {
	if w.Queue > 0 {
		return w.Queue
	}
	return max(kernelpath.DefaultQueue, 3*w.RTT, w.Rate.Time(64*1500))
}

// Clear says that nothing is lost by design: what the bars are for.
func (w Way) Clear() bool { return w.Loss == 0 && w.Queue == 0 }

// Lossy is three ways, with two rates of loss each.
func Lossy(control string) (ways []Way) {
	for _, loss := range []float64{0.001, 0.01} {
		for _, w := range []Way{
			{RTT: 20 * time.Millisecond, Rate: 100 * lab.Mbit},
			{RTT: 69 * time.Millisecond, Rate: 10 * lab.Mbit},
			{RTT: 150 * time.Millisecond, Rate: 100 * lab.Mbit},
		} {
			w.Loss, w.Control = loss, control
			ways = append(ways, w)
		}
	}
	return ways
}

// fits are the sizes that are short enough on the way's wire.
func (w Way) fits() (sizes []int64) {
	for _, n := range Sizes() {
		if w.carries().Time(int(n)) <= longestWire {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

// warmUp is the size of the fetch that the estimates come from, in bytes: three
// seconds of the wire, within 300 kB and 9 MB, and none of the sizes measured.
func (w Way) warmUp() int64 {
	return int64(min(max(w.carries().Bytes(3*time.Second), 300_000), 9_000_000))
}

// carries is the rate that a sender reaches: under loss, unless it is BBR, that
// of Mathis, Semke, Mahdavi and Ott, "The Macroscopic Behavior of the TCP
// Congestion Avoidance Algorithm", 1997, about.
func (w Way) carries() lab.BitRate {
	if w.Loss == 0 || w.Control == "bbr" {
		return w.Rate
	}
	return min(w.Rate, lab.BitRate(8*1448*1.22/(w.RTT.Seconds()*math.Sqrt(w.Loss))))
}

// slow says that other ways may be measured beside it.
func (w Way) slow() bool { return w.Rate <= 10*lab.Mbit }

func (w Way) path() kernelpath.Path {
	p := kernelpath.Symmetric(w.RTT, w.Rate).WithLoss(kernelpath.Loss{Random: w.Loss})
	p.Up.Queue, p.Down.Queue = w.queue(), w.queue()
	return p
}

func (w Way) String() string {
	s := fmt.Sprintf("%d ms, %g Mbit/s", w.RTT.Milliseconds(), float64(w.Rate/lab.Mbit))
	if w.Loss > 0 {
		s += fmt.Sprintf(", %g %% lost", 100*w.Loss)
	}
	if w.Queue > 0 {
		s += fmt.Sprintf(", queue %d ms", w.Queue.Milliseconds())
	}
	return s
}
