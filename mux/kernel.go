package mux

import (
	"net"
	"syscall"
	"time"
)

// Kernel is what the kernel says of a TCP connection, zero where it says
// nothing. Its round trip is that to where the TCP connection ends, which a
// relay makes another than the peer. It is stale unless something of ours was
// acknowledged lately: it may acquit a peer or attribute a delay, it never
// convicts alone.
type Kernel struct {
	At             time.Duration // when it was read, since the connection was wrapped; 0 never
	RTT, MinRTT    time.Duration // smoothed, and least
	AckAge         time.Duration // since the peer last acknowledged anything
	OutOfOrder     uint64        // packets that came out of order: a hint of loss on the peer's way to us
	ReorderingSeen uint64        // reordering events seen
}

// kernelEvery is how often the kernel is asked, at most: a microsecond each.
const kernelEvery = 250 * time.Millisecond

// poll reads the kernel's figures if it is time to. It belongs to the reading
// goroutine.
func (p *probe) poll(m *Meter, now time.Duration) {
	if p == nil || now < p.next {
		return
	}
	p.next = now + kernelEvery
	p.note(m, now)
}

// note reads the figures and gives them to the meter.
func (p *probe) note(m *Meter, now time.Duration) {
	if p == nil {
		return
	}
	k, ok := p.read()
	if !ok {
		return
	}
	k.At = max(now, 1)
	m.mu.Lock()
	m.kernel = k
	m.refreshBase()
	m.mu.Unlock()
}

// tcp finds the TCP socket in conn, wrapped by NetConn or by embedding; nil if
// there is none.
func tcp(conn net.Conn) syscall.Conn {
	for range 8 { // a chain longer than this is a loop
		if socket, ok := conn.(syscall.Conn); ok {
			if _, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
				return socket
			}
		}
		inner, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		conn = inner.NetConn()
	}
	return nil
}
