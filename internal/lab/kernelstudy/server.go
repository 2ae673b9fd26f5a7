package kernelstudy

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/mux"
)

// Window is the receive window of a stream in bytes: more than the largest
// fetch, so that it is the path that is measured and not our credit.
const Window = 16 << 20

// askSize is the length of a request in bytes: how many are wanted, and in
// writes of how many.
const askSize = 16

// defaultWrite is the size of a serving node's writes in bytes.
const defaultWrite = 64 << 10

// Streams is the serving end of a session, of whatever multiplexer.
type Streams interface {
	Accept() (io.ReadWriteCloser, error)
	Close() error
}

// Server starts the serving end of a session.
type Server func(net.Conn) (Streams, error)

// Wrapped is a node with our shim.
func Wrapped(window uint32, opts ...mux.Option) Server {
	return func(c net.Conn) (Streams, error) {
		s, err := mux.Server(c, Config(window), opts...)
		if err != nil {
			return nil, err
		}
		return yamuxStreams{s.Session}, nil
	}
}

// Bare is a node with hashicorp's yamux as it is.
func Bare(window uint32) Server {
	return func(c net.Conn) (Streams, error) {
		s, err := yamux.Server(c, Config(window))
		if err != nil {
			return nil, err
		}
		return yamuxStreams{s}, nil
	}
}

type yamuxStreams struct{ s *yamux.Session }

func (y yamuxStreams) Close() error { return y.s.Close() }

func (y yamuxStreams) Accept() (io.ReadWriteCloser, error) {
	st, err := y.s.AcceptStream()
	if err != nil {
		return nil, err
	}
	return st, nil
}

// Config is a quiet yamux with that receive window.
func Config(window uint32) *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.MaxStreamWindowSize = window
	c.ConnectionWriteTimeout = time.Minute // one frame of 12 MB may take ten seconds
	return c
}

// serve runs a serving node on a host until stop.
func serve(h *kernelpath.Host, control string, start Server) (addr string, stop func(), err error) {
	l, err := h.Listen(context.Background(), control)
	if err != nil {
		return "", nil, err
	}
	n := &serving{start: start, sessions: make(map[Streams]bool)}
	n.wg.Go(func() { n.accept(l) })
	return l.Addr().String(), func() { l.Close(); n.close() }, nil
}

type serving struct {
	start Server
	wg    sync.WaitGroup

	mu       sync.Mutex
	sessions map[Streams]bool // nil when closed; guarded by mu
}

func (n *serving) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s, err := n.start(c)
		if err != nil || !n.add(s) {
			c.Close()
			continue
		}
		n.wg.Go(func() {
			defer n.remove(s)
			for {
				st, err := s.Accept()
				if err != nil {
					return
				}
				n.wg.Go(func() { answer(st) })
			}
		})
	}
}

func (n *serving) add(s Streams) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sessions != nil {
		n.sessions[s] = true
	}
	return n.sessions != nil
}

func (n *serving) remove(s Streams) {
	n.mu.Lock()
	delete(n.sessions, s)
	n.mu.Unlock()
	s.Close()
}

func (n *serving) close() {
	n.mu.Lock()
	all := n.sessions
	n.sessions = nil
	n.mu.Unlock()
	for s := range all {
		s.Close()
	}
	n.wg.Wait()
}

// zeros are what is served.
var zeros = make([]byte, 12_000_000)

// answer sends as much as a stream asks for.
func answer(st io.ReadWriteCloser) {
	defer st.Close()
	var ask [askSize]byte
	if _, err := io.ReadFull(st, ask[:]); err != nil {
		return
	}
	left, write := binary.BigEndian.Uint64(ask[:]), binary.BigEndian.Uint64(ask[8:])
	for left > 0 {
		n := min(left, max(write, 1), uint64(len(zeros)))
		if _, err := st.Write(zeros[:n]); err != nil {
			return
		}
		left -= n
	}
}
