package peers

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/libp2p/go-yamux/v5"
)

// Libp2p starts a session of libp2p/go-yamux with its defaults.
func Libp2p(conn net.Conn, side Side, log io.Writer) (Session, error) {
	config := yamux.DefaultConfig()
	config.LogOutput = log
	start := yamux.Server
	if side == Client {
		start = yamux.Client
	}
	s, err := start(conn, config, nil)
	if err != nil {
		return nil, err
	}
	return libp2p{s}, nil
}

type libp2p struct{ s *yamux.Session }

func (l libp2p) Open() (Stream, error)        { return stream(l.s.OpenStream(context.Background())) }
func (l libp2p) Accept() (Stream, error)      { return stream(l.s.AcceptStream()) }
func (l libp2p) Ping() (time.Duration, error) { return l.s.Ping() }
func (l libp2p) Close() error                 { return l.s.Close() }
