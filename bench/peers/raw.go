package peers

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Raw is no multiplexer: its one stream is the conn. Every further Open or
// Accept fails.
func Raw(conn net.Conn, _ Side, _ io.Writer) (Session, error) { return &raw{conn: conn}, nil }

type raw struct {
	conn net.Conn
	used atomic.Bool
}

func (r *raw) Open() (Stream, error) {
	if r.used.Swap(true) {
		return nil, net.ErrClosed
	}
	return r.conn, nil
}

func (r *raw) Accept() (Stream, error)      { return r.Open() }
func (r *raw) Ping() (time.Duration, error) { return 0, ErrNoPing }
func (r *raw) Close() error                 { return r.conn.Close() }
