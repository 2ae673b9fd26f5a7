package kernelstudy

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/mux"
)

// Split is what one write of a size costs: until its first byte is read and
// until its last.
type Split struct {
	Way    Way
	Bytes  int64
	SDU    int // of both ends' shims in bytes; 0 is without
	Window uint32
	First  time.Duration
	Whole  time.Duration
	Credit time.Duration // silence that the meter found to be for want of our window
}

// The SDUs compared. A kernel's first window is ten segments, 14,480 bytes: an
// SDU of 16 KiB is complete a round trip later than one that fits.
const (
	bare       = 0
	defaultSDU = 16 << 10
	smallerSDU = 12 << 10
)

// variants are the SDUs in the order of the columns.
var variants = []int{bare, defaultSDU, smallerSDU}

// repeats is how often each is measured; the median counts.
const repeats = 3

// SplitWay is a path on which a large frame takes long.
func SplitWay() Way { return Way{RTT: 100 * time.Millisecond, Rate: 10 * lab.Mbit} }

// FarWay is one that yamux's own window does not fill.
func FarWay() Way { return Way{RTT: 150 * time.Millisecond, Rate: 100 * lab.Mbit} }

// Splits measures writes of sizes, bare and wrapped, each on a new connection.
func Splits(w Way, sizes []int64, windows []uint32) (out []Split, err error) {
	for _, window := range windows {
		for _, size := range sizes {
			for _, sdu := range variants {
				s := Split{Way: w, Bytes: size, SDU: sdu, Window: window}
				if err := s.measure(); err != nil {
					return out, fmt.Errorf("%v, %d bytes, SDU %d: %w", w, size, sdu, err)
				}
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// measure takes medians.
func (s *Split) measure() error {
	var first, whole, credit []time.Duration
	for range repeats {
		t, c, err := s.once()
		if err != nil {
			return err
		}
		first, whole, credit = append(first, t.first), append(whole, t.whole), append(credit, c)
	}
	s.First, s.Whole, s.Credit = median(first), median(whole), median(credit)
	return nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func (s *Split) once() (timing, time.Duration, error) {
	net, err := kernelpath.Start(kernelpath.Config{Paths: []kernelpath.Path{s.Way.path()}})
	if err != nil {
		return timing{}, 0, err
	}
	defer net.Close()
	start := Bare(s.Window)
	if s.SDU > 0 {
		start = Wrapped(s.Window, mux.WithSDU(s.SDU))
	}
	addr, stop, err := serve(net.Peer(0), s.Way.Control, start)
	if err != nil {
		return timing{}, 0, err
	}
	defer stop()
	return one(net, addr, s.Way.Control, s.Bytes, s.SDU > 0, s.Window)
}

// one makes one fetch on a new connection, whose server answers with one write.
func one(net *kernelpath.Net, addr, control string, size int64, wrapped bool, window uint32) (timing, time.Duration, error) {
	if wrapped {
		c, err := dial(net, addr, control, window)
		if err != nil {
			return timing{}, 0, err
		}
		defer c.close()
		t, err := c.get(size, int(size))
		return t, c.session.Meter().Snapshot().Gaps.Credit, err
	}
	conn, err := net.Hub().Dial(context.Background(), addr, control)
	if err != nil {
		return timing{}, 0, err
	}
	session, err := yamux.Client(conn, Config(window))
	if err != nil {
		conn.Close()
		return timing{}, 0, err
	}
	defer session.Close()
	st, err := session.OpenStream()
	if err != nil {
		return timing{}, 0, err
	}
	defer st.Close()
	t, err := ask(st, size, int(size))
	return t, 0, err
}

// WriteSplits prints them, the variants side by side.
func WriteSplits(w io.Writer, splits []Split) {
	fmt.Fprintf(w, "Milliseconds for one write, bare | wrapped, SDUs of 16 KiB | of 12 KiB\n")
	fmt.Fprintf(w, "%20s %6s %10s %28s %32s %10s\n", "way", "write", "window", "first byte", "all", "ours")
	for i := 0; i+len(variants) <= len(splits); i += len(variants) {
		a, b, c := splits[i], splits[i+1], splits[i+2]
		fmt.Fprintf(w, "%20v %6s %6d KiB %28s %32s %10s\n", a.Way, amount(a.Bytes), a.Window>>10,
			ms(a.First)+" | "+ms(b.First)+" | "+ms(c.First), ms(a.Whole)+" | "+ms(b.Whole)+" | "+ms(c.Whole), ms(b.Credit))
	}
}

// SplitMisses says where the shim as it comes costs time: a first byte or a last
// that is later than bare, by more than a twentieth; or where it does not see
// that half the wait for our own window, or more, is ours.
func SplitMisses(splits []Split) (misses []string) {
	for i := 0; i+len(variants) <= len(splits); i += len(variants) {
		a, b := splits[i], splits[i+1]
		what := fmt.Sprintf("%v, %s, window %d KiB", a.Way, amount(a.Bytes), a.Window>>10)
		if b.First > a.First {
			misses = append(misses, fmt.Sprintf("%s: first byte after %v, bare %v", what, b.First, a.First))
		}
		if b.Whole > a.Whole*21/20 {
			misses = append(misses, fmt.Sprintf("%s: all after %v, bare %v", what, b.Whole, a.Whole))
		}
		if short := b.starved(); b.Credit < short/2 {
			misses = append(misses, fmt.Sprintf("%s: %v found to be ours, of at least %v", what, b.Credit, short))
		}
	}
	return misses
}

// starved is how long a fetch must have waited for our window at the least: a
// window passes no sooner than in a round trip, where the wire takes less.
func (s Split) starved() time.Duration {
	windows := float64(s.Bytes)/float64(s.Window) - 1
	wait := s.Way.RTT - s.Way.Rate.Time(int(s.Window))
	if windows <= 0 || wait <= 0 {
		return 0
	}
	return time.Duration(windows * float64(wait))
}
