package assay

import (
	"errors"
	"net"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"

	"github.com/assay-mux/assay/mux"
)

// ID is the protocol under which libp2p negotiates yamux, for libp2p.Muxer.
// Being measured changes nothing that a peer need know.
const ID = yamux.ID

// A Muxer makes measured yamux connections for go-libp2p. The zero value is
// ready to use. It is safe for concurrent use while its fields stay as they are.
type Muxer struct {
	// Inner makes the session on the measured connection; nil takes go-libp2p's
	// own go-yamux as it configures it, with stream windows that grow to 16 MiB.
	// Whatever it is must speak yamux's framing: under another one nothing is
	// measured.
	Inner network.Multiplexer

	// Options say how each connection is measured; see package mux. Their values
	// are used for every connection, so that a sink hears of all.
	Options []mux.Option
}

var _ network.Multiplexer = (*Muxer)(nil)

// NewConn starts a session on conn, which libp2p has secured. If that fails,
// conn is closed.
func (m *Muxer) NewConn(conn net.Conn, isServer bool, scope network.PeerScope) (network.MuxedConn, error) {
	measured := mux.Wrap(conn, m.Options...)
	session, err := m.inner().NewConn(measured, isServer, scope)
	if err != nil {
		return nil, errors.Join(err, measured.Close())
	}
	return &muxedConn{session, measured}, nil
}

func (m *Muxer) inner() network.Multiplexer {
	if m.Inner == nil {
		return yamux.DefaultTransport
	}
	return m.Inner
}

// muxedConn is the inner multiplexer's connection. It also tells what measures
// it.
type muxedConn struct {
	network.MuxedConn
	measured *mux.Conn
}

// As finds the meter, the measured connection, or what the inner multiplexer
// has to offer: a session of go-yamux.
func (c *muxedConn) As(target any) bool {
	switch t := target.(type) {
	case **mux.Meter:
		*t = c.measured.Meter()
	case **mux.Conn:
		*t = c.measured
	default:
		return c.MuxedConn.As(target)
	}
	return true
}

// A Conn is what a meter may be asked of: a network.Conn of a host, as
// stream.Conn() returns it, or a network.MuxedConn.
type Conn interface{ As(target any) bool }

// MeterOf returns what measures a connection. It is false where nothing does:
// the connection is QUIC's, WebTransport's or WebRTC's, or has another
// multiplexer.
func MeterOf(c Conn) (*mux.Meter, bool) {
	var m *mux.Meter
	ok := c.As(&m)
	return m, ok
}
