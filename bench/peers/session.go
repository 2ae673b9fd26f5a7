package peers

import (
	"errors"
	"io"
	"net"
	"time"
)

// ErrNoPing says that the multiplexer has no ping to ask for.
var ErrNoPing = errors.New("peers: this multiplexer has no ping; measure a round trip on a stream instead")

// A Stream is one stream of a session.
type Stream interface {
	io.ReadWriteCloser
	SetDeadline(t time.Time) error
}

// A Session is one end of a multiplexed connection. All methods are safe for
// concurrent use.
type Session interface {
	Open() (Stream, error)
	Accept() (Stream, error)
	// Ping asks the peer's multiplexer for an answer and times it.
	Ping() (time.Duration, error)
	Close() error
}

// A Side says who opened the connection.
type Side bool

// The two sides.
const (
	Client Side = true
	Server Side = false
)

// String names the side in lower case.
func (s Side) String() string {
	if s == Client {
		return "client"
	}
	return "server"
}

// A Starter starts one side of a session on a conn, which it then owns. The
// multiplexer logs to log.
type Starter func(conn net.Conn, side Side, log io.Writer) (Session, error)
