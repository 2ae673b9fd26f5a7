package mux

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probe reads TCP_INFO (tcp(7)) of one connection.
type probe struct {
	raw  syscall.RawConn
	next time.Duration
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
	return &probe{raw: raw}
}

func (p *probe) read() (k Kernel, ok bool) {
	err := p.raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		ok = true
		k = Kernel{
			RTT:            time.Duration(info.Rtt) * time.Microsecond,
			MinRTT:         time.Duration(info.Min_rtt) * time.Microsecond,
			AckAge:         time.Duration(info.Last_ack_recv) * time.Millisecond,
			OutOfOrder:     uint64(info.Rcv_ooopack),
			ReorderingSeen: uint64(info.Reord_seen),
		}
		if info.Min_rtt == ^uint32(0) { // no sample yet
			k.MinRTT = 0
		}
	})
	return k, ok && err == nil
}

// siocOutQNSD asks for the bytes not yet sent (linux/sockios.h), which x/sys
// does not name.
const siocOutQNSD = 0x894B

// unsent is how many bytes of ours the socket still holds back.
func (p *probe) unsent() (n int) {
	if p == nil {
		return 0
	}
	_ = p.raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), siocOutQNSD) })
	return n
}
