package peers

import (
	"io"
	"net"
	"time"

	"github.com/xtaci/smux"
)

// Smux starts a session of smux with its defaults. It logs nothing.
func Smux(conn net.Conn, side Side, _ io.Writer) (Session, error) {
	start := smux.Server
	if side == Client {
		start = smux.Client
	}
	s, err := start(conn, nil)
	if err != nil {
		return nil, err
	}
	return smuxed{s}, nil
}

type smuxed struct{ s *smux.Session }

func (s smuxed) Open() (Stream, error)        { return stream(s.s.OpenStream()) }
func (s smuxed) Accept() (Stream, error)      { return stream(s.s.AcceptStream()) }
func (s smuxed) Ping() (time.Duration, error) { return 0, ErrNoPing }
func (s smuxed) Close() error                 { return s.s.Close() }
