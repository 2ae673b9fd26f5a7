package mux

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probe reads TCP_INFO (tcp(7)) of one connection. Its calls into the kernel
// are made once, so that asking allocates nothing but the kernel's answer.
type probe struct {
	raw  syscall.RawConn
	next time.Duration

	ask    func(fd uintptr) // for the figures; the reading goroutine's
	figure Kernel
	failed error

	count func(fd uintptr) // for unsent bytes; the writing goroutine's
	held  int
}

// newProbe returns nil if there is no TCP connection in conn. A nil probe
// reads nothing.
func newProbe(conn net.Conn) *probe {
	t := tcp(conn)
	if t == nil {
		return nil
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return nil
	}
	p := &probe{raw: raw}
	p.ask = func(fd uintptr) { p.figure, p.failed = figures(int(fd)) }
	p.count = func(fd uintptr) { p.held, _ = unix.IoctlGetInt(int(fd), siocOutQNSD) }
	return p
}

func (p *probe) read() (Kernel, bool) {
	err := p.raw.Control(p.ask)
	return p.figure, err == nil && p.failed == nil
}

func figures(fd int) (Kernel, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return Kernel{}, err
	}
	k := Kernel{
		RTT:            time.Duration(info.Rtt) * time.Microsecond,
		MinRTT:         time.Duration(info.Min_rtt) * time.Microsecond,
		AckAge:         time.Duration(info.Last_ack_recv) * time.Millisecond,
		OutOfOrder:     uint64(info.Rcv_ooopack),
		ReorderingSeen: uint64(info.Reord_seen),
	}
	if info.Min_rtt == ^uint32(0) { // no sample yet
		k.MinRTT = 0
	}
	return k, nil
}

// siocOutQNSD asks for the bytes not yet sent (linux/sockios.h), which x/sys
// does not name.
const siocOutQNSD = 0x894B

// unsent is how many bytes of ours the socket still holds back.
func (p *probe) unsent() int {
	if p == nil || p.raw.Control(p.count) != nil {
		return 0
	}
	return p.held
}
