package kernelpath

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/assay-mux/assay/internal/lab"
)

func TestMain(m *testing.M) {
	Carry()
	goleak.VerifyTestMain(m)
}

// start emulates, or skips where that cannot be.
func start(t *testing.T, cfg Config) *Net {
	t.Helper()
	n, err := Start(cfg)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// source serves as many bytes as it is asked for, on a peer.
func source(t *testing.T, h *Host, control string) string {
	t.Helper()
	l, err := h.Listen(t.Context(), control)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { defer c.Close(); serve(c) })
		}
	})
	return l.Addr().String()
}

func serve(c net.Conn) {
	var ask [4]byte
	for {
		if _, err := io.ReadFull(c, ask[:]); err != nil {
			return
		}
		if _, err := c.Write(make([]byte, binary.BigEndian.Uint32(ask[:]))); err != nil {
			return
		}
	}
}

// client connects from the hub.
func client(t *testing.T, n *Net, addr, control string) net.Conn {
	t.Helper()
	c, err := n.Hub().Dial(t.Context(), addr, control)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// fetch asks for bytes and returns how long they took.
func fetch(t *testing.T, c net.Conn, bytes int) time.Duration {
	t.Helper()
	began := time.Now()
	c.Write(binary.BigEndian.AppendUint32(nil, uint32(bytes)))
	if _, err := io.CopyN(io.Discard, c, int64(bytes)); err != nil {
		t.Error(err)
	}
	return time.Since(began)
}

// roundTrip is the least of some.
func roundTrip(t *testing.T, c net.Conn) time.Duration {
	least := time.Hour
	for range 5 {
		least = min(least, fetch(t, c, 1))
	}
	return least
}

// within holds a time to bounds: never less than it can be, and once in some
// attempts, for the machine may be busy, no more than it should be.
func within(t *testing.T, what string, least, most time.Duration, measure func() time.Duration) {
	t.Helper()
	best := time.Hour
	for range 5 {
		got := measure()
		if got < least {
			t.Errorf("%s: %v, cannot be below %v", what, got, least)
			return
		}
		if best = min(best, got); best <= most {
			return
		}
	}
	t.Errorf("%s: %v at best, want at most %v", what, best, most)
}

// wire is how long a rate takes for so many bytes of TCP's payload, headers and
// all.
func wire(r lab.BitRate, bytes int) time.Duration { return r.Time(bytes * 1500 / 1448) }

// TestDelay: a round trip takes what both directions say, up to 2 ms more; never
// less. It holds on a busy machine, for it takes the least of some.
func TestDelay(t *testing.T) {
	paths := []Path{
		{}, Symmetric(5*ms, 0), Symmetric(60*ms, 100*lab.Mbit),
		{Up: Direction{Delay: 5 * ms}, Down: Direction{Delay: 35 * ms}},
	}
	n := start(t, Config{Paths: paths})
	for i, p := range paths {
		c := client(t, n, source(t, n.Peer(i), ""), "")
		within(t, fmt.Sprintf("path %d", i), p.RTT(), p.RTT()+2*ms, func() time.Duration { return roundTrip(t, c) })
	}
	if l := n.Lateness(); l.Packets == 0 || l.Mean > l.Worst {
		t.Errorf("lateness %+v", l)
	}
	if l := n.Lateness(); l.Packets != 0 || l.Worst != 0 {
		t.Errorf("asked again at once, lateness %+v", l)
	}
}

// TestRate: each direction has its own rate. The least time of the bytes at the
// rate is exact; how much longer it takes depends on the sender, 20 % is much.
func TestRate(t *testing.T) {
	n := start(t, Config{Paths: []Path{{
		Up: Direction{Rate: 1 * lab.Mbit, Delay: 5 * ms}, Down: Direction{Rate: 20 * lab.Mbit, Delay: 5 * ms},
	}}})
	c := client(t, n, source(t, n.Peer(0), ""), "")
	fetch(t, c, 1_000_000)
	const bytes = 1_500_000
	least := wire(20*lab.Mbit, bytes)
	within(t, "down", least, least*6/5, func() time.Duration { return fetch(t, c, bytes) })
	up, down := n.Stats(0)
	if up.Bytes*5 > down.Bytes || down.Bytes < bytes {
		t.Errorf("up %+v, down %+v", up, down)
	}
}

// TestControls: a bulk transfer comes near the rate under each congestion
// control that the kernel has and that this is for, and they are what is in use.
func TestControls(t *testing.T) {
	n := start(t, Config{Paths: []Path{Symmetric(20*ms, 50*lab.Mbit)}})
	for _, control := range []string{"bbr", "cubic"} {
		t.Run(control, func(t *testing.T) {
			if !slices.Contains(CongestionControls(), control) {
				t.Skipf("this kernel has no %s", control)
			}
			c := client(t, n, source(t, n.Peer(0), control), control)
			if got := controlOf(t, c); got != control {
				t.Errorf("it uses %s", got)
			}
			const bytes = 3_000_000
			least := wire(50*lab.Mbit, bytes)
			within(t, "a bulk transfer", least, least*3/2, func() time.Duration { return fetch(t, c, bytes) })
		})
	}
	if _, err := n.Hub().Dial(t.Context(), "10.77.1.1:1", "no-such"); err == nil {
		t.Error("connected with an unknown congestion control")
	}
}

func controlOf(t *testing.T, c net.Conn) (name string) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) { name, err = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION) })
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestKernelLoss: packets get lost at the rate that the path has, one way only.
func TestKernelLoss(t *testing.T) {
	p := Symmetric(4*ms, 0)
	n := start(t, Config{Seed: 1, Paths: []Path{p.WithLoss(Loss{Random: 0.02})}})
	fetch(t, client(t, n, source(t, n.Peer(0), ""), ""), 6_000_000)
	up, down := n.Stats(0)
	share := float64(down.Lost) / float64(down.Lost+down.Packets)
	if up.Lost != 0 || share < 0.012 || share > 0.028 { // 4,200 packets: within 3.7 standard deviations
		t.Errorf("lost %.4f of %+v, and up %+v", share, down, up)
	}
}

// TestSet: a path changes under a connection, and back.
func TestSet(t *testing.T) {
	n := start(t, Config{Paths: []Path{Symmetric(10*ms, 0)}})
	c := client(t, n, source(t, n.Peer(0), ""), "")
	for _, rtt := range []time.Duration{10 * ms, 80 * ms, 20 * ms} {
		if err := n.Set(0, Symmetric(rtt, 50*lab.Mbit)); err != nil {
			t.Fatal(err)
		}
		within(t, rtt.String(), rtt, rtt+2*ms, func() time.Duration { return roundTrip(t, c) })
	}
	if n.Set(1, Path{}) == nil || n.Set(0, Path{Up: Direction{Delay: -1}}) == nil {
		t.Error("a peer or a path that cannot be was set")
	}
}

// TestShared: two peers with 40 Mbit/s each share 20: together they get no more,
// and each alone gets all of it.
func TestShared(t *testing.T) {
	p := Symmetric(10*ms, 40*lab.Mbit)
	n := start(t, Config{Paths: []Path{p, p, p}, Shared: []Shared{{Direction{Rate: 20 * lab.Mbit}, []int{0, 1}}}})
	var conns []net.Conn
	for i := range 3 {
		conns = append(conns, client(t, n, source(t, n.Peer(i), ""), ""))
		fetch(t, conns[i], 300_000)
	}
	const bytes = 1_000_000
	least := wire(20*lab.Mbit, 2*bytes)
	within(t, "both", least, least*3/2, func() time.Duration {
		began := time.Now()
		var wg sync.WaitGroup
		for _, c := range conns[:2] {
			wg.Go(func() { fetch(t, c, bytes) })
		}
		wg.Wait()
		return time.Since(began)
	})
	alone := wire(40*lab.Mbit, bytes)
	within(t, "the one that shares nothing", alone, alone*3/2, func() time.Duration { return fetch(t, conns[2], bytes) })
}

// TestNets: two at once do not know of each other, and none outlives its end.
func TestNets(t *testing.T) {
	a, b := start(t, Config{Paths: []Path{{}}}), start(t, Config{Paths: []Path{Symmetric(30*ms, 0)}})
	if a.Peer(0).Addr() != b.Peer(0).Addr() {
		t.Error("the addresses differ, so this shows nothing")
	}
	at := source(t, b.Peer(0), "")
	if got := roundTrip(t, client(t, b, at, "")); got < 30*ms {
		t.Errorf("round trip %v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*ms)
	defer cancel()
	if c, err := a.Hub().Dial(ctx, at, ""); err == nil {
		c.Close()
		t.Error("a host of one net was reached from the other")
	}
	a.Close()
	if a.Close() != nil {
		t.Error("closed twice")
	}
	if err := b.Hub().Do(func() error { return errors.New("said in there") }); err == nil {
		t.Error("what went wrong inside is not told")
	}
}
