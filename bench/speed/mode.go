package speed

import (
	"errors"
	"io"
	"net"

	"github.com/assay-mux/assay/bench/peers"
	"github.com/assay-mux/assay/mux"
)

// A Mode is a way to carry streams over a connection. It is a value.
type Mode struct {
	Name  string
	About string // one line for people
	// Streams is the most it carries at a time, 0 for any number.
	Streams int

	start          peers.Starter
	client, server bool // which ends are wrapped
	forwards       bool // in a conn that does nothing, instead of ours
	options        []mux.Option
	tls            bool
}

// OverTLS is the mode over TLS, for which there are no bars.
func (m Mode) OverTLS() Mode {
	m.tls = true
	return m
}

const (
	// Bare is the mode that all are compared with.
	Bare = "bare"
	// Forward is the control of the modes with one end wrapped. It does nothing, so
	// that its distance from 1 is what the machine's noise leaves in their ratios.
	Forward = "forward"
)

// Modes returns all modes, the bare one first. The client is the end that
// downloads, the server the one that sends.
func Modes() []Mode {
	return []Mode{
		{Name: Bare, About: "hashicorp/yamux as it is", start: peers.Hashicorp},
		{Name: "client", About: "only the downloading end wrapped", start: peers.Hashicorp, client: true},
		{Name: "server", About: "only the sending end wrapped", start: peers.Hashicorp, server: true},
		{Name: "both", About: "both ends wrapped", start: peers.Hashicorp, client: true, server: true},
		{
			Name: Forward, About: "the control of client: the downloading end in a conn that does nothing", start: peers.Hashicorp,
			client: true, forwards: true,
		},
		{
			Name: "async", About: "both ends wrapped, asynchronous writes (opt-in)", start: peers.Hashicorp,
			client: true, server: true, options: []mux.Option{mux.WithAsyncWrites()},
		},
		{
			Name: "unsplit", About: "both ends wrapped, large frames left whole", start: peers.Hashicorp,
			client: true, server: true, options: []mux.Option{mux.WithSDU(0)},
		},
		{Name: "go-yamux", About: "libp2p/go-yamux as it is", start: peers.Libp2p},
		{Name: "smux", About: "xtaci/smux as it is", start: peers.Smux},
		{Name: "raw", About: "one TCP connection without a multiplexer", start: peers.Raw, Streams: 1},
	}
}

// Dial returns the two ends of a new connection in this mode.
func (m Mode) Dial() (client, server peers.Session, err error) {
	c, s, err := m.connect()
	if err != nil {
		return nil, nil, err
	}
	client, err = m.start(m.wrap(c, m.client), peers.Client, io.Discard)
	if err != nil {
		return nil, nil, errors.Join(err, c.Close(), s.Close())
	}
	server, err = m.start(m.wrap(s, m.server), peers.Server, io.Discard)
	if err != nil {
		return nil, nil, errors.Join(err, client.Close(), s.Close())
	}
	return client, server, nil
}

func (m Mode) connect() (client, server net.Conn, err error) {
	if m.tls {
		return peers.TLS()
	}
	return peers.TCP()
}

func (m Mode) wrap(conn net.Conn, wanted bool) net.Conn {
	switch {
	case !wanted:
		return conn
	case m.forwards:
		return struct{ net.Conn }{conn}
	}
	return mux.Wrap(conn, m.options...)
}
