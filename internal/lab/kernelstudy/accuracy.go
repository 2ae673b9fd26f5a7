package kernelstudy

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/mux"
)

// State is what the connection did before a fetch.
type State uint8

// The states.
const (
	Cold State = iota // it is new
	Warm              // it has carried the warm-up, and what was measured before
	states
)

func (s State) String() string { return [states]string{"cold", "warm"}[s%states] }

// Fetch is one fetch, and what was predicted of it.
type Fetch struct {
	Way       Way
	State     State
	Bytes     int64
	Actual    time.Duration
	Predicted time.Duration // raw, as the audit holds it against the peer
	Bar       time.Duration // the prediction's own error bar
	First     time.Duration // to the first byte
}

// Error is how far the prediction was off, as a part of the actual time:
// positive where it was too slow.
func (f Fetch) Error() float64 { return (f.Predicted - f.Actual).Seconds() / f.Actual.Seconds() }

// RTTs is what a node believes of the round trip.
type RTTs struct {
	Idle      time.Duration // base, after the warm-up
	Least     time.Duration // and the bounds of it during a saturating download
	Most      time.Duration
	P95       time.Duration // of echoes that no load delayed
	LoadedP95 time.Duration // and of the others
	Samples   [2]uint64     // how many of each
	Kernel    time.Duration // the kernel's least; 0 where it was not fresh
}

// Run is all fetches over one way.
type Run struct {
	Way      Way
	Reading  burst.Reading // after the warm-up, on which all predictions rest
	RTTs     RTTs
	Fetches  []Fetch
	Lateness kernelpath.Lateness
	Dropped  uint64 // by the bottleneck's queue
	Attempts int
}

// attempts is how often a way is measured at most while the emulator is late, for
// which the machine is to blame, and whatever came of it says nothing of the
// nodes.
const attempts = 2

// punctual is how late the emulator may have been at the worst. Later than a few
// milliseconds is a longer round trip to TCP, and looks like a queue to it. On a
// slow way a packet alone takes as long.
const (
	punctual     = 8 * time.Millisecond
	punctualSlow = 20 * time.Millisecond
)

// Measure makes the fetches of a way against a server. Where the emulator was
// late it does so again, and the attempt counts in which it was least so.
func Measure(w Way, start Server, window uint32) (best Run, err error) {
	for n := range attempts {
		r, err := measure(w, start, window)
		if err != nil {
			return r, err
		}
		if n == 0 || r.Lateness.Worst < best.Lateness.Worst {
			best = r
		}
		best.Attempts = n + 1
		if best.punctual() {
			break
		}
	}
	return best, nil
}

func (r Run) punctual() bool {
	if r.Way.slow() {
		return r.Lateness.Worst <= punctualSlow
	}
	return r.Lateness.Worst <= punctual
}

// measure makes the fetches of a way: one to learn from, then each size on the
// same connection, then each on one of its own.
func measure(w Way, start Server, window uint32) (Run, error) {
	net, err := kernelpath.Start(kernelpath.Config{Seed: uint64(w.RTT) ^ uint64(w.Rate), Paths: []kernelpath.Path{w.path()}})
	if err != nil {
		return Run{}, err
	}
	defer net.Close()
	addr, stop, err := serve(net.Peer(0), w.Control, start)
	if err != nil {
		return Run{}, err
	}
	defer stop()
	m := &measuring{run: Run{Way: w}, net: net, addr: addr, window: window}
	if err := m.all(); err != nil {
		return m.run, fmt.Errorf("%v, %s: %w", w, w.Control, err)
	}
	m.run.Lateness = net.Lateness()
	_, down := net.Stats(0)
	m.run.Dropped = down.Dropped
	return m.run, nil
}

type measuring struct {
	run    Run
	net    *kernelpath.Net
	addr   string
	window uint32
}

func (m *measuring) all() error {
	first, err := m.dial()
	if err != nil {
		return err
	}
	defer first.close()
	if err := m.warm(first); err != nil {
		return err
	}
	sizes := m.run.Way.fits()
	for _, n := range sizes {
		if err := m.fetch(first, Warm, n); err != nil {
			return err
		}
	}
	for _, n := range sizes {
		c, err := m.dial()
		if err != nil {
			return err
		}
		err = m.fetch(c, Cold, n)
		c.close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *measuring) dial() (*client, error) {
	return dial(m.net, m.addr, m.run.Way.Control, m.window)
}

// warm makes the fetch to learn from, and looks at the round trip meanwhile.
func (m *measuring) warm(c *client) error {
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { m.run.RTTs.watch(c.session.Meter(), end) })
	_, _, err := c.fetch(m.run.Way.warmUp(), burst.Reading{BaseRTT: m.run.Way.RTT})
	close(end)
	wg.Wait()
	m.run.Reading = c.session.Meter().Reading()
	m.run.RTTs.Idle = m.run.Reading.BaseRTT
	c.last = c.path(m.run.Reading).WindowAfter(m.run.Way.warmUp())
	return err
}

// watch follows the base round trip until the end.
func (r *RTTs) watch(m *mux.Meter, end chan struct{}) {
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-end:
			s := m.Snapshot()
			r.P95, r.LoadedP95 = s.RTT.P95, s.RTT.LoadedP95
			r.Samples = [2]uint64{s.RTT.Samples, s.RTT.LoadedSamples}
			if s.Kernel.At > 0 && s.Kernel.AckAge < time.Second {
				r.Kernel = s.Kernel.MinRTT
			}
			return
		case <-t.C:
			if b := m.Reading().BaseRTT; b > 0 {
				r.Most = max(r.Most, b)
				if r.Least == 0 || b < r.Least {
					r.Least = b
				}
			}
		}
	}
}

func (m *measuring) fetch(c *client, s State, bytes int64) error {
	p, t, err := c.fetch(bytes, m.run.Reading)
	if err != nil {
		return err
	}
	m.run.Fetches = append(m.run.Fetches, Fetch{
		Way: m.run.Way, State: s, Bytes: bytes, Actual: t.whole, First: t.first, Predicted: p.Total,
		Bar: errorBar(m.run.Reading, p.Total, bytes),
	})
	return nil
}

// errorBar is that within which the audit holds nothing against a peer: two
// standard errors of the rate times the bytes, as far as it believes in these,
// and in any case its slack, for what no rate tells of.
func errorBar(r burst.Reading, claim time.Duration, bytes int64) time.Duration {
	c := audit.DefaultConfig()
	rate := 2 * float64(r.Estimation.StandardError) * float64(bytes)
	slack := c.Slack + time.Duration(c.SlackRTTs*float64(r.BaseRTT))
	return max(slack, time.Duration(min(rate, c.ErrorBarMax*claim.Seconds())*float64(time.Second)))
}

// near says whether a round trip is the path's: within 2 ms or 5 %.
func (w Way) near(d time.Duration) bool {
	return math.Abs((d - w.RTT).Seconds()) <= max(0.002, 0.05*w.RTT.Seconds())
}

// All measures ways: slow ones a few at once, for they leave the machine idle,
// the others one after the other. Told of each as it ends. The first error ends
// it.
func All(ways []Way, start Server, window uint32, told func(Run)) ([]Run, error) {
	runs, errs := make([]Run, len(ways)), make([]error, len(ways))
	var mu sync.Mutex
	one := func(i int) {
		runs[i], errs[i] = Measure(ways[i], start, window)
		mu.Lock()
		defer mu.Unlock()
		told(runs[i])
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, w := range ways {
		if w.slow() {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				one(i)
			})
		}
	}
	wg.Wait()
	for i, w := range ways {
		if !w.slow() {
			one(i)
		}
	}
	for _, err := range errs {
		if err != nil {
			return runs, err
		}
	}
	return runs, nil
}

// atOnce is how many slow ways are measured at the same time: 40 Mbit/s
// together at most, a fifth of what a fast one carries. More disturb each other.
const atOnce = 4
