package lab

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// relayChunk is the most that a relay moves at once, in bytes.
const relayChunk = 64 << 10

// side is one end of a relayed connection: a TCP conn and the end of the link
// it talks over. Bytes that were read from a socket before it failed still go
// over the link, and the reset follows behind them, as it would on a path.
type side struct {
	sock net.Conn
	link *Conn
	peer *side

	broken  atomic.Bool   // the socket failed, it did not end
	drained chan struct{} // closed when nothing more goes to the socket
}

// newSides joins two sockets by a link.
func newSides(client, server net.Conn, l Link) (near, far *side) {
	a, b := Pair(l)
	near, far = newSide(client, a), newSide(server, b)
	near.peer, far.peer = far, near
	return near, far
}

func newSide(sock net.Conn, link *Conn) *side {
	if tcp, ok := sock.(*net.TCPConn); ok {
		tcp.SetReadBuffer(relaySocketBuffer)
		tcp.SetWriteBuffer(relaySocketBuffer)
	}
	return &side{sock: sock, link: link, drained: make(chan struct{})}
}

// carry moves bytes until both directions have ended.
func carry(near, far *side) {
	var wg sync.WaitGroup
	for _, s := range []*side{near, far} {
		wg.Go(s.in)
		wg.Go(s.out)
	}
	wg.Wait()
}

// in moves bytes from the socket to the link. Where the link refuses them the
// other socket is gone: what it sent before is delivered, then this one is reset.
func (s *side) in() {
	buf := make([]byte, relayChunk)
	for {
		n, err := s.sock.Read(buf)
		if _, refused := s.link.Write(buf[:n]); refused != nil {
			<-s.drained
			reset(s.sock)
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.broken.Store(true)
			}
			s.link.CloseWrite()
			return
		}
	}
}

// out moves bytes from the link to the socket, and the end after them.
func (s *side) out() {
	defer close(s.drained)
	buf := make([]byte, relayChunk)
	for {
		n, err := s.link.Read(buf)
		if _, failed := s.sock.Write(buf[:n]); failed != nil {
			s.broken.Store(true)
			s.link.r.closeRead()
			return
		}
		if err != nil {
			s.finish()
			return
		}
	}
}

// finish ends the socket as the other one ended.
func (s *side) finish() {
	tcp, ok := s.sock.(*net.TCPConn)
	if s.peer.broken.Load() || !ok {
		reset(s.sock)
		return
	}
	tcp.CloseWrite()
}

// close ends both conns, which ends in and out. It may be called twice.
func (s *side) close() {
	s.sock.Close()
	s.link.Close()
}

// reset closes a TCP conn with a reset instead of an orderly end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
