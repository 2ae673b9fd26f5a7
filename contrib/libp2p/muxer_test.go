package assay_test

import (
	"errors"
	"net"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"

	assay "github.com/assay-mux/assay/contrib/libp2p"
	"github.com/assay-mux/assay/mux"
)

// inner is a multiplexer that notes what it was given.
type inner struct {
	conn     net.Conn
	isServer bool
	scope    network.PeerScope
	err      error
}

func (i *inner) NewConn(c net.Conn, isServer bool, scope network.PeerScope) (network.MuxedConn, error) {
	i.conn, i.isServer, i.scope = c, isServer, scope
	if i.err != nil {
		return nil, i.err
	}
	return yamux.DefaultTransport.NewConn(c, isServer, scope)
}

func TestInnerGetsTheMeasuredConnection(t *testing.T) {
	for _, isServer := range []bool{true, false} {
		near, far := net.Pipe()
		defer far.Close()
		i := &inner{}
		scope := &network.NullScope{}
		c, err := (&assay.Muxer{Inner: i}).NewConn(near, isServer, scope)
		if err != nil {
			t.Fatal(err)
		}
		measured, ok := i.conn.(*mux.Conn)
		if !ok || measured.NetConn() != near {
			t.Errorf("the inner multiplexer was given a %T, not what measures the connection", i.conn)
		}
		if i.isServer != isServer || i.scope != scope {
			t.Error("side or scope was not handed on")
		}
		if m, ok := assay.MeterOf(c); !ok || m != measured.Meter() {
			t.Error("the meter is another's")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if !c.IsClosed() {
			t.Error("it is not closed")
		}
	}
}

var errInner = errors.New("no session today")

func TestConnectionIsClosedWithoutASession(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	c, err := (&assay.Muxer{Inner: &inner{err: errInner}}).NewConn(near, false, nil)
	if !errors.Is(err, errInner) || c != nil {
		t.Errorf("got %v, %v", c, err)
	}
	if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open still")
	}
}

func TestOptionsReachTheConnection(t *testing.T) {
	near, far := net.Pipe()
	i := &inner{}
	c, err := (&assay.Muxer{Inner: i, Options: []mux.Option{mux.WithoutCookies()}}).NewConn(near, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := yamux.DefaultTransport.NewConn(far, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if s, err := peer.AcceptStream(); err == nil {
			_ = s.Close()
		}
	}()
	s, err := c.OpenStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(make([]byte, 40<<10)); err != nil {
		t.Fatal(err)
	}
	m, _ := assay.MeterOf(c)
	if n := m.Snapshot().Cookies.Issued; n != 0 {
		t.Errorf("%d cookies were sent, none were wanted", n)
	}
	_ = c.Close()
	_ = peer.Close()
}
