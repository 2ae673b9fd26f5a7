package assay

import (
	"context"
	"net"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
)

// Constructor is how go-libp2p wants a security transport made.
type Constructor[T sec.SecureTransport] func(protocol.ID, crypto.PrivKey, []upgrader.StreamMuxer) (T, error)

// Security lets the kernel's figures through a security transport that hides
// the TCP connection, as noise does:
//
//	libp2p.Security(noise.ID, assay.Security(noise.New))
//
// Without them a connection is measured all the same, but its base RTT rests on
// the peer's echoes alone, so that a peer which holds them looks farther away;
// and the meter cannot tell an echo that waited in our own send queue from one
// that was slow. go-libp2p's TLS needs no such help, and is left as it is.
func Security[T sec.SecureTransport](construct Constructor[T]) Constructor[*SecureTransport] {
	return func(id protocol.ID, key crypto.PrivKey, muxers []upgrader.StreamMuxer) (*SecureTransport, error) {
		t, err := construct(id, key, muxers)
		if err != nil {
			return nil, err
		}
		return &SecureTransport{t}, nil
	}
}

// SecureTransport is a security transport whose connections show, by NetConn,
// what they were made on. See [Security].
type SecureTransport struct{ sec.SecureTransport }

var _ sec.SecureTransport = (*SecureTransport)(nil)

// SecureInbound secures a connection that the peer opened.
func (t *SecureTransport) SecureInbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	return shown(insecure)(t.SecureTransport.SecureInbound(ctx, insecure, p))
}

// SecureOutbound secures a connection that we opened.
func (t *SecureTransport) SecureOutbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	return shown(insecure)(t.SecureTransport.SecureOutbound(ctx, insecure, p))
}

// shown gives the secured connection a NetConn, unless it has one.
func shown(insecure net.Conn) func(sec.SecureConn, error) (sec.SecureConn, error) {
	return func(c sec.SecureConn, err error) (sec.SecureConn, error) {
		if err != nil {
			return nil, err
		}
		if _, ok := c.(interface{ NetConn() net.Conn }); ok {
			return c, nil
		}
		return &secureConn{c, insecure}, nil
	}
}

// secureConn is a secured connection and what it was made on. To read or write
// the latter would break it; the meter only asks its socket for figures.
type secureConn struct {
	sec.SecureConn
	insecure net.Conn
}

func (c *secureConn) NetConn() net.Conn { return c.insecure }
