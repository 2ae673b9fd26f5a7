package kernelpath

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
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
	carrier *carrier
	hosts   []*Host // the hub first
	end     sync.Once
	last    report // of the carrier, when it ended
}

// Start starts the emulation, with a process that carries the packets: see
// [Carry]. The error is that of Config.Validate, ErrUnavailable or ErrCarry.
func Start(cfg Config) (_ *Net, err error) {
	if os.Getenv(carrierEnv) != "" {
		return nil, ErrCarry
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := &Net{}
	defer func() {
		if err != nil {
			n.forget()
		}
	}()
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close() // they are the carrier's
		}
	}()
	for i := range len(cfg.Paths) + 1 {
		host, file, err := newHost(i)
		if err != nil {
			return nil, err
		}
		n.hosts, files = append(n.hosts, host), append(files, file)
	}
	if n.carrier, err = startCarrier(cfg, files); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCarry, err)
	}
	return n, nil
}

// newHost makes one host, 0 is the hub, with its device.
func newHost(i int) (*Host, *os.File, error) {
	ns, err := newNamespace()
	if err != nil {
		return nil, nil, err
	}
	h := &Host{ns, netip.AddrFrom4([4]byte{10, 77, byte(i), 1})}
	fd, err := ns.openDevice(h.addr)
	if err != nil {
		ns.file.Close()
		return nil, nil, err
	}
	return h, os.NewFile(uintptr(fd), device), nil
}

func (n *Net) forget() {
	for _, h := range n.hosts {
		h.ns.file.Close()
	}
}

// Close ends the emulation. Sockets of its hosts are their owners' to close.
func (n *Net) Close() error {
	n.end.Do(func() {
		n.last, _ = n.carrier.tell(order{})
		n.carrier.stop()
		n.forget()
	})
	return nil
}

// Hub is the host in the middle.
func (n *Net) Hub() *Host { return n.hosts[0] }

// Peer is one of the others, numbered from 0 in the order of Config.Paths.
func (n *Net) Peer(i int) *Host { return n.hosts[i+1] }

// Set changes a peer's path for packets that set out from now on. The error is
// ErrPath, ErrPeers or ErrCarry.
func (n *Net) Set(i int, p Path) error {
	if i < 0 || i >= len(n.hosts)-1 {
		return ErrPeers
	}
	if err := p.Validate(); err != nil {
		return err
	}
	if _, err := n.carrier.tell(order{Peer: i, Path: &p}); err != nil {
		return fmt.Errorf("%w: %w", ErrCarry, err)
	}
	return nil
}

// report is what happened so far, or until Close.
func (n *Net) report() report {
	if r, err := n.carrier.tell(order{}); err == nil {
		return r
	}
	return n.last
}

// Stats are what a peer's own lines did.
func (n *Net) Stats(i int) (up, down Stats) {
	r := n.report()
	if i < 0 || i >= len(r.Peers) {
		return
	}
	return r.Peers[i][0], r.Peers[i][1]
}

// Lateness is how exact it was since it was last asked for; the first time, since
// the start.
func (n *Net) Lateness() Lateness {
	if r, err := n.carrier.tell(order{Anew: true}); err == nil {
		return r.Late
	}
	return n.last.Late
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
