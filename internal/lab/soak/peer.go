package main

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
	"github.com/assay-mux/assay/mux"
)

// manner is how a peer serves.
type manner uint8

// The manners. Half of all peers are honest.
const (
	honest   manner = iota
	drips           // a few bytes at a time
	stalls          // falls silent in the middle
	vanishes        // closes the connection in the middle
	ends            // closes the stream in the middle
	manners
)

func (m manner) String() string {
	return [manners + 1]string{"honest", "drips", "stalls", "vanishes", "ends", "unknown"}[min(m, manners)]
}

// drawManner draws one.
func drawManner(r *rand.Rand) manner {
	if r.IntN(2) == 0 {
		return honest
	}
	return manner(r.IntN(int(manners)))
}

// window is the receive window of a stream in bytes.
const window = 1 << 20

// askSize is the length of a request, as package kernelstudy's host makes it.
const askSize = 16

// server is the serving end of a peer.
type server struct {
	how manner
	l   net.Listener
	wg  sync.WaitGroup

	mu       sync.Mutex
	sessions []io.Closer // nil when closed; guarded by mu
	closed   bool
	end      chan struct{}
}

func startServer(l net.Listener, how manner, wrapped bool) *server {
	s := &server{how: how, l: l, end: make(chan struct{})}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			session, closer, err := open(c, wrapped)
			if err != nil || !s.add(closer) {
				c.Close()
				continue
			}
			s.wg.Go(func() { s.serve(session, closer) })
		}
	})
	return s
}

// open starts the server's side, wrapped or bare.
func open(c net.Conn, wrapped bool) (*yamux.Session, io.Closer, error) {
	if !wrapped {
		s, err := yamux.Server(c, kernelstudy.Config(window))
		return s, s, err
	}
	s, err := mux.Server(c, kernelstudy.Config(window))
	if err != nil {
		return nil, nil, err
	}
	return s.Session, s, nil
}

func (s *server) add(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.sessions = append(s.sessions, c)
	}
	return !s.closed
}

func (s *server) serve(session *yamux.Session, closer io.Closer) {
	defer closer.Close()
	for {
		st, err := session.AcceptStream()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			defer st.Close()
			s.answer(st, closer)
		})
	}
}

var zeros = make([]byte, 32<<10)

// answer serves one stream, in its manner from the middle on.
func (s *server) answer(st *yamux.Stream, session io.Closer) {
	var ask [askSize]byte
	if _, err := io.ReadFull(st, ask[:]); err != nil {
		return
	}
	whole := binary.BigEndian.Uint64(ask[:])
	for left := whole; left > 0; {
		n := min(left, uint64(len(zeros)))
		if s.how != honest && left <= whole/2 {
			if !s.misbehave(session) {
				return
			}
			n = min(left, 500)
		}
		if _, err := st.Write(zeros[:n]); err != nil {
			return
		}
		left -= n
	}
}

// misbehave does what the manner is, and says whether to go on.
func (s *server) misbehave(session io.Closer) bool {
	switch s.how {
	case drips:
		return s.rest(50 * time.Millisecond)
	case stalls:
		s.rest(time.Hour)
	case vanishes:
		session.Close()
	case honest, ends, manners:
	}
	return false
}

// rest waits, and says whether all of it.
func (s *server) rest(d time.Duration) bool {
	select {
	case <-s.end:
		return false
	case <-time.After(d):
		return true
	}
}

func (s *server) close() {
	s.l.Close()
	s.mu.Lock()
	all := s.sessions
	s.closed = true
	s.mu.Unlock()
	close(s.end)
	for _, c := range all {
		c.Close()
	}
	s.wg.Wait()
}
