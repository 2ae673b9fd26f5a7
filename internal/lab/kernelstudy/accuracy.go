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
	"github.com/assay-mux/assay/ranking"
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
	Lateness kernelpath.Lateness // in the attempts that count
	Dropped  uint64              // by the bottleneck's queue
	Attempts int                 // at all fetches
	Kept     int                 // of them, one a fetch
	Exits    Exits
}

// attempts is how often a fetch is made at most while the emulator is late, for
// which the machine is to blame.
const attempts = 3

// Measure makes the fetches of a way against a server: one to learn from, then
// each size on the same connection, then each on one of its own. A fetch
// during which the emulator was late is made again, and of its attempts that
// counts in which it was least so: what a late emulator does to TCP says nothing
// of the nodes.
func Measure(w Way, start Server, window uint32) (Run, error) {
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
	_, down := net.Stats(0)
	m.run.Dropped = down.Dropped
	m.run.Exits = exits(net.Peer(0))
	return m.run, nil
}

// punctual is how late the emulator may be: no later than what CUBIC takes for a
// queue that builds up (HyStart in Linux: an eighth of the round trip, within 4 and
// 16 ms), or two packets on the wire of a slow way.
func (w Way) punctual() time.Duration {
	hystart := min(max(w.RTT/8, 4*time.Millisecond), 16*time.Millisecond)
	return max(hystart, w.Rate.Time(2*1500))
}

type measuring struct {
	run    Run
	net    *kernelpath.Net
	addr   string
	window uint32
}

func (m *measuring) all() error {
	first, err := m.warm()
	if err != nil {
		return err
	}
	defer first.close()
	sizes := m.run.Way.fits()
	for _, n := range sizes {
		if err := m.fetch(Warm, n, func() (*client, error) { return first, nil }); err != nil {
			return err
		}
	}
	for _, n := range sizes {
		var last *client
		err := m.fetch(Cold, n, func() (*client, error) {
			if last != nil {
				last.close()
			}
			var err error
			last, err = m.dial()
			return last, err
		})
		if last != nil {
			last.close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// punctually makes attempts until the emulator is punctual in one, or there have
// been enough. What an attempt returns is called if it is the most punctual so far.
func (m *measuring) punctually(attempt func() (keep func(), err error)) error {
	var least kernelpath.Lateness
	for n := range attempts {
		m.net.Lateness()
		keep, err := attempt()
		if err != nil {
			return err
		}
		m.run.Attempts++
		late := m.net.Lateness()
		if n == 0 || late.Worst < least.Worst {
			least = late
			keep()
		}
		if late.Worst <= m.run.Way.punctual() {
			break
		}
	}
	m.run.Kept++
	m.run.late(least)
	return nil
}

// late adds the lateness of a fetch that counts.
func (r *Run) late(l kernelpath.Lateness) {
	all := &r.Lateness
	if packets := all.Packets + l.Packets; packets > 0 {
		all.Mean = time.Duration((float64(all.Mean)*float64(all.Packets) + float64(l.Mean)*float64(l.Packets)) / float64(packets))
	}
	all.Packets += l.Packets
	all.Late += l.Late
	all.Worst = max(all.Worst, l.Worst)
}

func (m *measuring) dial() (*client, error) {
	c, err := dial(m.net, m.addr, m.run.Way.Control, m.window)
	if err == nil {
		c.learnt = m.run.Way.warmUp()
	}
	return c, err
}

// warm makes the fetch to learn from, on a connection that it returns, and looks
// at the round trip meanwhile.
func (m *measuring) warm() (kept *client, err error) {
	var all []*client
	err = m.punctually(func() (func(), error) {
		c, err := m.dial()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		end := make(chan struct{})
		var seen RTTs
		var wg sync.WaitGroup
		wg.Go(func() { seen.watch(c.session.Meter(), end) })
		_, _, err = c.fetch(m.run.Way.warmUp(), burst.Reading{BaseRTT: m.run.Way.RTT})
		close(end)
		wg.Wait()
		if err != nil {
			return nil, err
		}
		return func() {
			kept = c
			m.run.RTTs, m.run.Reading = seen, c.session.Meter().Reading()
			m.run.RTTs.Idle = m.run.Reading.BaseRTT
			c.last = c.path(m.run.Reading).WindowAfter(m.run.Way.warmUp())
		}, nil
	})
	for _, c := range all {
		if c != kept || err != nil {
			c.close()
		}
	}
	return kept, err
}

// watch follows the base round trip until the end, from the first payload on: before
// that it rests on the handshake's one packet alone, which is as late as the emulator.
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
			if b := m.Reading().BaseRTT; b > 0 && m.Snapshot().Counts.PayloadIn > 0 {
				r.Most = max(r.Most, b)
				if r.Least == 0 || b < r.Least {
					r.Least = b
				}
			}
		}
	}
}

// fetch makes one fetch of a state, each attempt over a client of its own or not.
func (m *measuring) fetch(s State, bytes int64, over func() (*client, error)) error {
	var kept Fetch
	err := m.punctually(func() (func(), error) {
		c, err := over()
		if err != nil {
			return nil, err
		}
		p, t, err := c.fetch(bytes, m.run.Reading)
		if err != nil {
			return nil, err
		}
		return func() {
			kept = Fetch{
				Way: m.run.Way, State: s, Bytes: bytes, Actual: t.whole, First: t.first, Predicted: p.total, Bar: p.bar,
			}
		}, nil
	})
	if err == nil {
		m.run.Fetches = append(m.run.Fetches, kept)
	}
	return err
}

// errorBar is that within which the audit holds nothing against a peer: the prediction's own, as far as
// it believes in that, and in any case its slack, for what no rate tells of.
func errorBar(p ranking.Path, claim time.Duration, bytes int64) time.Duration {
	c := audit.DefaultConfig()
	slack := c.Slack + time.Duration(c.SlackRTTs*float64(p.BaseRTT))
	most := time.Duration(c.ErrorBarMax * float64(claim))
	return max(slack, min(p.ErrorBar(bytes), most))
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
