package mux

import (
	"fmt"
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"
)

// Session is a yamux session on a measured connection. It is the embedded
// session in every respect; Meter and Reset are added.
type Session struct {
	*yamux.Session
	conn *Conn
}

// Client starts the client's side of a session on conn, as yamux.Client does.
// There must be at most one client side. Closing the session closes conn.
func Client(conn io.ReadWriteCloser, config *Config, opts ...Option) (*Session, error) {
	return open(conn, config, opts, yamux.Client)
}

// Server starts the server's side of a session on conn, as yamux.Server does.
// There must be at most one server side. Closing the session closes conn.
func Server(conn io.ReadWriteCloser, config *Config, opts ...Option) (*Session, error) {
	return open(conn, config, opts, yamux.Server)
}

// starter is yamux.Client or yamux.Server.
type starter func(io.ReadWriteCloser, *yamux.Config) (*yamux.Session, error)

func open(conn io.ReadWriteCloser, config *Config, opts []Option, start starter) (*Session, error) {
	if config == nil {
		config = DefaultConfig()
	}
	// Checked before the shim starts anything that an error would leave behind.
	if err := VerifyConfig(config); err != nil {
		return nil, err
	}
	inner, named := conn.(net.Conn)
	if !named {
		inner = plain{conn}
	}
	c := Wrap(inner, opts...)
	host := net.Conn(c)
	if tap := newOptions(opts).tap; tap != nil {
		host = tap(c)
	}
	under := io.ReadWriteCloser(host)
	if !named {
		under = nameless{host}
	}
	s, err := start(under, config)
	if err != nil {
		c.release()
		return nil, err
	}
	return &Session{Session: s, conn: c}, nil
}

// Meter returns what measures this session's connection.
func (s *Session) Meter() *Meter { return s.conn.meter }

// Conn returns the measured connection under the session.
func (s *Session) Conn() *Conn { return s.conn }

// resetPatience is how long a reset may wait for the end of the frame that the local
// yamux is reading: a large one on a slow path takes longer, and nothing is lost then
// but the error's name.
const resetPatience = 100 * time.Millisecond

// Reset cancels one stream at both ends, which yamux itself cannot: the peer
// is sent a reset, so that it stops serving; the stream's Read and Write here
// return ErrConnectionReset; what the peer still had under way is dropped.
// Bytes read from the stream after Reset was called mean nothing. Where the peer
// has stopped within a frame of another stream that is not cut (see WithSDU), the
// local yamux cannot be told: then the stream's deadlines pass instead, and Read
// returns ErrTimeout. Resetting a stream again does nothing. The error is
// ErrSessionShutdown on a closed session, or that of the connection.
func (s *Session) Reset(stream *Stream) error {
	if s.IsClosed() {
		return ErrSessionShutdown
	}
	time.AfterFunc(resetPatience, func() { _ = stream.SetDeadline(longAgo) })
	if err := s.conn.reset(stream.StreamID()); err != nil {
		return fmt.Errorf("mux: reset stream %d: %w", stream.StreamID(), err)
	}
	return nil
}
