//go:build unix

package main

import (
	"encoding/binary"
	"fmt"

	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// The bars.
const (
	// cpuBar is what the wrapped and ranked client may cost more than a bare one
	// for each byte.
	cpuBar = 1.25
	// memoryBar is what a wrapped connection that has been used may hold more, as
	// package mux publishes, and its place in the ranker, in KiB.
	memoryBar = 11 + 32
	// allocBar is how many allocations a frame may cost more than bare.
	allocBar = 0.01
	// scrapeBar is how long a scrape may take, by the median, in milliseconds.
	scrapeBar = 50
	// choiceBar is how long a choice may take, in microseconds, by the median: a
	// list of the best 20 of 10,000 may take so long.
	choiceBar = 200
)

// holders is how many peers have a datum: the ranker chooses among so many, and
// all connections are in use.
const holders = 20

// sizes are drawn from, in bytes.
var sizes = []int64{16 << 10, 64 << 10, 256 << 10, 1 << 20}

// cost is what fetching came to.
type cost struct {
	bytes  int64
	cpu    time.Duration
	memory float64 // of each connection, in bytes
}

// perGB is processor seconds for a gigabyte.
func (c cost) perGB() float64 { return c.cpu.Seconds() / float64(c.bytes) * 1e9 }

func traffic(o options) ([]bar, error) {
	addr, stop, err := startServing()
	if err != nil {
		return nil, err
	}
	defer stop()
	// Half of the bare time before and half after, for a machine's speed drifts.
	half := o
	half.length /= 2
	b, err := measureBare(half, addr)
	if err != nil {
		return nil, fmt.Errorf("bare: %w", err)
	}
	w, err := measureWrapped(o, addr)
	if err != nil {
		return nil, fmt.Errorf("wrapped: %w", err)
	}
	again, err := measureBare(half, addr)
	if err != nil {
		return nil, fmt.Errorf("bare again: %w", err)
	}
	fmt.Printf("bare before and after: %.3f and %.3f CPU s/GB\n", b.perGB(), again.perGB())
	b.bytes, b.cpu = b.bytes+again.bytes, b.cpu+again.cpu
	fmt.Printf("%d connections, %d fetches at a time, for %v each:\n", o.conns, o.workers, o.length)
	fmt.Printf("bare              %6.2f GB  %6.2f CPU s/GB  %7.1f KiB a connection\n", float64(b.bytes)/1e9, b.perGB(), b.memory/1024)
	fmt.Printf("wrapped, ranked   %6.2f GB  %6.2f CPU s/GB  %7.1f KiB a connection\n", float64(w.bytes)/1e9, w.perGB(), w.memory/1024)
	bars := []bar{
		{"processor time per byte, wrapped and ranked over bare", w.perGB() / b.perGB(), cpuBar, "x"},
		{"memory of a connection beyond bare, with its rank", (w.memory - b.memory) / 1024, memoryBar, "KiB"},
		{"a scrape of the metrics meanwhile, by the median", w.scrape.Seconds() * 1e3, scrapeBar, "ms"},
		{"a choice among its holders meanwhile, by the median", w.choice.Seconds() * 1e6, choiceBar, "us"},
	}
	extra, err := allocations(addr)
	return append(bars, bar{"allocations for a frame of 16 KiB beyond bare", extra, allocBar, ""}), err
}

// load runs s with o's workers for o's length, and tells bytes and processor
// time.
func load(o options, fetch func(*rand.Rand) (int64, error)) (cost, error) {
	var bytes atomic.Int64
	var failed atomic.Pointer[error]
	before := cpu()
	end := time.Now().Add(o.length)
	var wg sync.WaitGroup
	for i := range o.workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for time.Now().Before(end) && failed.Load() == nil {
				n, err := fetch(r)
				if err != nil {
					failed.CompareAndSwap(nil, &err)
				}
				bytes.Add(n)
			}
		})
	}
	wg.Wait()
	c := cost{bytes: bytes.Load(), cpu: cpu() - before}
	if err := failed.Load(); err != nil {
		return c, *err
	}
	return c, nil
}

// cpu is the processor time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap is what is in use once garbage is gone.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// get makes one request on a stream and reads the reply.
func get(st *yamux.Stream, bytes int64) error {
	request := binary.BigEndian.AppendUint64(nil, uint64(bytes))
	if _, err := st.Write(binary.BigEndian.AppendUint64(request, 0)); err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for left := bytes; left > 0; {
		n, err := st.Read(buf[:min(left, int64(len(buf)))])
		if left -= int64(n); err != nil && left > 0 {
			return err
		}
	}
	return nil
}

// measureBare fetches over bare sessions, each from one drawn at random.
func measureBare(o options, addr string) (cost, error) {
	before := heap()
	var all []*yamux.Session
	defer func() {
		for _, s := range all {
			s.Close()
		}
	}()
	for range o.conns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return cost{}, err
		}
		s, err := yamux.Client(c, kernelstudy.Config(window))
		if err != nil {
			return cost{}, err
		}
		all = append(all, s)
	}
	c, err := load(o, func(r *rand.Rand) (int64, error) {
		n := sizes[r.IntN(len(sizes))]
		st, err := all[r.IntN(len(all))].OpenStream()
		if err != nil {
			return 0, err
		}
		defer st.Close()
		return n, get(st, n)
	})
	c.memory = (heap() - before) / float64(o.conns)
	return c, err
}

// wrappedCost is that of the wrapped side, with what was timed meanwhile.
type wrappedCost struct {
	cost
	scrape, choice time.Duration
}

// measureWrapped fetches over wrapped sessions, each datum from whom of its
// holders the ranker chooses.
func measureWrapped(o options, addr string) (w wrappedCost, err error) {
	before := heap()
	h, err := kernelstudy.NewHost(ranking.DefaultConfig())
	if err != nil {
		return w, err
	}
	defer h.Close()
	all, err := joinAll(o, addr, h)
	defer func() {
		for _, s := range all {
			s.Close()
		}
	}()
	if err != nil {
		return w, err
	}
	watch := startWatch(h, all)
	w.cost, err = load(o, ranked(h, o))
	w.scrape, w.choice = watch.stop()
	w.memory = (heap() - before) / float64(o.conns)
	return w, err
}

// ranked fetches a datum drawn at random from whom the ranker chooses.
func ranked(h *kernelstudy.Host, o options) func(*rand.Rand) (int64, error) {
	return func(r *rand.Rand) (int64, error) {
		datum := r.IntN(o.conns)
		n := sizes[datum%len(sizes)]
		_, err := h.Fetch(ranking.Query{Datum: fmt.Sprint(datum), Size: n})
		return n, err
	}
}

// joinAll connects, and lets each datum be offered by some peers in a row.
func joinAll(o options, addr string, h *kernelstudy.Host) (all []*mux.Session, err error) {
	for i := range o.conns {
		began := time.Now()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return all, err
		}
		s, err := mux.Client(c, kernelstudy.Config(window), mux.WithHandshakeRTT(time.Since(began)))
		if err != nil {
			return all, err
		}
		all = append(all, s)
		id := netip.AddrFrom4([4]byte{100, byte(i >> 8), byte(i), 1})
		if _, err := h.Join(name(i), id, s, window); err != nil {
			return all, err
		}
		for k := range min(holders, o.conns) {
			datum := (i + k) % o.conns
			size := ranking.Size{Bytes: sizes[datum%len(sizes)]}
			if err := h.Ranker.Offer(h.Now(), name(i), fmt.Sprint(datum), size); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

func name(i int) string { return fmt.Sprint("peer ", i) }

// allocations is how many more a frame costs wrapped than bare, over one long
// fetch on a warm connection.
func allocations(addr string) (float64, error) {
	const bytes, frames = 64 << 20, 64 << 20 / (32 << 10)
	bare, err := allocationsOf(addr, bytes, func(c net.Conn) (*yamux.Session, error) { return yamux.Client(c, kernelstudy.Config(window)) })
	if err != nil {
		return 0, err
	}
	wrapped, err := allocationsOf(addr, bytes, func(c net.Conn) (*yamux.Session, error) {
		s, err := mux.Client(c, kernelstudy.Config(window))
		if err != nil {
			return nil, err
		}
		return s.Session, nil
	})
	return (float64(wrapped) - float64(bare)) / frames, err
}

func allocationsOf(addr string, bytes int64, open func(net.Conn) (*yamux.Session, error)) (uint64, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	s, err := open(c)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var before, after runtime.MemStats
	for i := range 2 { // the first warms up
		st, err := s.OpenStream()
		if err != nil {
			return 0, err
		}
		if i == 1 {
			runtime.ReadMemStats(&before)
		}
		if err := get(st, bytes); err != nil {
			return 0, err
		}
		runtime.ReadMemStats(&after)
		st.Close()
	}
	return after.Mallocs - before.Mallocs, nil
}
