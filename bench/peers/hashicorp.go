package peers

import (
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"
)

// Hashicorp starts a session of hashicorp/yamux with its defaults.
func Hashicorp(conn net.Conn, side Side, log io.Writer) (Session, error) {
	config := yamux.DefaultConfig()
	config.LogOutput = log
	start := yamux.Server
	if side == Client {
		start = yamux.Client
	}
	s, err := start(conn, config)
	if err != nil {
		return nil, err
	}
	return FromHashicorp(s), nil
}

// FromHashicorp lends our interface to a session that is already running, such
// as the one inside a mux.Session.
func FromHashicorp(s *yamux.Session) Session { return hashicorp{s} }

type hashicorp struct{ s *yamux.Session }

func (h hashicorp) Open() (Stream, error)        { return stream(h.s.OpenStream()) }
func (h hashicorp) Accept() (Stream, error)      { return stream(h.s.AcceptStream()) }
func (h hashicorp) Ping() (time.Duration, error) { return h.s.Ping() }
func (h hashicorp) Close() error                 { return h.s.Close() }

// stream keeps a nil pointer from becoming a stream that is not nil.
func stream[T Stream](s T, err error) (Stream, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
