package kernelpath

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Available says why paths cannot be emulated here: nil, or an error that is
// ErrUnavailable.
func Available() error {
	n, err := Start(Config{Paths: []Path{{}}})
	if err != nil {
		return err
	}
	return n.Close()
}

// CongestionControls are those that the kernel has.
func CongestionControls() []string {
	b, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	return strings.Fields(string(b))
}

// Net is a hub with its peers. Safe for concurrent use.
type Net struct {
	loop   *loop
	hub    *Host
	peers  []*Host
	end    sync.Once
	undoes []func()
}

// Start starts the emulation. The thread that carries packets must find one of
// Go's processors free whatever else runs, so there is one more of these until
// Close. The error is that of Config.Validate or ErrUnavailable.
func Start(cfg Config) (_ *Net, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := &Net{}
	defer func() {
		if err != nil {
			n.undo()
		}
	}()
	if err := n.build(cfg); err != nil {
		return nil, err
	}
	procs.more()
	n.undoes = append(n.undoes, procs.less)
	go n.loop.run()
	return n, nil
}

// build makes namespaces, devices and lines.
func (n *Net) build(cfg Config) (err error) {
	l := &loop{base: time.Now(), done: make(chan struct{})}
	n.loop = l
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	n.undoes = append(n.undoes, func() { unix.Close(l.wake) })
	if n.hub, l.hub, err = n.host(0); err != nil {
		return err
	}
	for i, p := range cfg.Paths {
		host, fd, err := n.host(i + 1)
		if err != nil {
			return err
		}
		n.peers = append(n.peers, host)
		up, down := newLine(p.Up, newDice(cfg.Seed, uint64(2*i))), newLine(p.Down, newDice(cfg.Seed, uint64(2*i+1)))
		l.peers = append(l.peers, &peer{fd, up, down})
		l.lines = append(l.lines, up, down)
	}
	for i, s := range cfg.Shared {
		shared := newLine(s.Direction, newDice(cfg.Seed, uint64(1<<32+i)))
		l.lines = append(l.lines, shared)
		for _, p := range s.Peers {
			l.peers[p].down.next = shared
		}
	}
	return nil
}

// host makes one host, 0 is the hub.
func (n *Net) host(i int) (*Host, int, error) {
	ns, err := newNamespace()
	if err != nil {
		return nil, 0, err
	}
	n.undoes = append(n.undoes, func() { ns.file.Close() })
	h := &Host{ns, netip.AddrFrom4([4]byte{10, 77, byte(i), 1})}
	fd, err := ns.openDevice(h.addr)
	if err != nil {
		return nil, 0, err
	}
	n.undoes = append(n.undoes, func() { unix.Close(fd) })
	return h, fd, nil
}

func (n *Net) undo() {
	for _, f := range slices.Backward(n.undoes) {
		f()
	}
}

// Close ends the emulation. Sockets of its hosts are their owners' to close.
func (n *Net) Close() error {
	n.end.Do(func() {
		_, _ = unix.Write(n.loop.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		<-n.loop.done
		n.undo()
	})
	return nil
}

// Hub is the host in the middle.
func (n *Net) Hub() *Host { return n.hub }

// Peer is one of the others, numbered from 0 in the order of Config.Paths.
func (n *Net) Peer(i int) *Host { return n.peers[i] }

// Set changes a peer's path for packets that set out from now on. The error is
// ErrPath or ErrPeers.
func (n *Net) Set(i int, p Path) error {
	if i < 0 || i >= len(n.peers) {
		return ErrPeers
	}
	if err := p.Validate(); err != nil {
		return err
	}
	n.loop.peers[i].up.set.Store(&p.Up)
	n.loop.peers[i].down.set.Store(&p.Down)
	return nil
}

// Stats are what a peer's own lines did.
func (n *Net) Stats(i int) (up, down Stats) {
	return n.loop.peers[i].up.stats(), n.loop.peers[i].down.stats()
}

// Lateness is how exact it was since the start.
func (n *Net) Lateness() Lateness {
	l := &n.loop.late
	out := Lateness{Packets: uint64(l.packets.Load()), Late: uint64(l.late.Load()), Worst: time.Duration(l.worst.Load())}
	if out.Packets > 0 {
		out.Mean = time.Duration(l.sum.Load() / int64(out.Packets))
	}
	return out
}

// Host is a network namespace with one address. Safe for concurrent use.
type Host struct {
	ns   *namespace
	addr netip.Addr
}

// Addr is the host's address.
func (h *Host) Addr() netip.Addr { return h.addr }

// Do runs f on a thread that is in the namespace, for what is more than a
// socket: a command started there is in it.
func (h *Host) Do(f func() error) error { return h.ns.do(f) }

// Listen listens on a port of the kernel's choice. Connections it accepts use
// the congestion control named, the kernel's default if that is empty.
func (h *Host) Listen(ctx context.Context, control string) (l net.Listener, err error) {
	lc := net.ListenConfig{Control: useControl(control)}
	err = h.ns.do(func() (err error) {
		l, err = lc.Listen(ctx, "tcp4", netip.AddrPortFrom(h.addr, 0).String())
		return err
	})
	return l, err
}

// Dial connects from the host to an address.
func (h *Host) Dial(ctx context.Context, addr, control string) (net.Conn, error) {
	c, _, err := h.DialTimed(ctx, addr, control)
	return c, err
}

// DialTimed is Dial, and returns how long the connect took: less than the call,
// which has a thread to start in the namespace.
func (h *Host) DialTimed(ctx context.Context, addr, control string) (c net.Conn, took time.Duration, err error) {
	d := net.Dialer{Control: useControl(control)}
	err = h.ns.do(func() (err error) {
		began := time.Now()
		c, err = d.DialContext(ctx, "tcp4", addr)
		took = time.Since(began)
		return err
	})
	return c, took, err
}

// useControl sets the congestion control of a socket before it connects or
// listens.
func useControl(name string) func(network, address string, c syscall.RawConn) error {
	if name == "" {
		return nil
	}
	return func(_, _ string, c syscall.RawConn) (err error) {
		if e := c.Control(func(fd uintptr) {
			err = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
		}); e != nil {
			return e
		}
		if err != nil {
			return fmt.Errorf("kernelpath: congestion control %s: %w", name, err)
		}
		return nil
	}
}

// procs counts the nets that run, for each of which there is one more of Go's
// processors.
var procs processors

type processors struct{ mu sync.Mutex }

func (p *processors) more() { p.add(1) }
func (p *processors) less() { p.add(-1) }

func (p *processors) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}
