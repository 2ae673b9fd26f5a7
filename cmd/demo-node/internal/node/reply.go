package node

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	yamux "github.com/assay-mux/assay/mux"
)

// Reply is the data that answers a request, as a stream. Not safe for concurrent
// use, but for the end of its context.
type Reply struct {
	// Size is how many bytes follow, on the peer's word.
	Size int64

	peer   *Peer
	ctx    context.Context
	stream *yamux.Stream
	unhook func() bool
	left   int64
}

// Get asks for a file from an offset on, and waits until the peer answers. It
// measures nothing: that is left to whoever wraps the reply. The end of ctx
// resets the stream, so that the peer stops sending. Close must be called. The
// errors are those of Fetch.
func (p *Peer) Get(ctx context.Context, hash wire.Hash, offset int64) (*Reply, error) {
	st, err := p.session.OpenStream()
	if err != nil {
		return nil, p.explain(ctx, err)
	}
	r := &Reply{peer: p, ctx: ctx, stream: st}
	r.unhook = context.AfterFunc(ctx, func() { _ = p.session.Reset(st) })
	if _, err = p.patient(st).Write(wire.AppendGet(nil, wire.Get{Hash: hash, Offset: offset})); err == nil {
		r.Size, err = wire.ReadData(p.patient(st))
	}
	if err != nil {
		r.left = 1 // not at its end
		r.Close()
		return nil, p.explain(ctx, err)
	}
	r.left = r.Size
	return r, nil
}

// Read reads data. The last byte comes together with io.EOF; an end before it is
// ErrVanished.
func (r *Reply) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.peer.patient(r.stream).Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	r.peer.node.good.count(n, 0, false)
	switch {
	case r.left == 0:
		return n, io.EOF
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		err = ErrVanished
	}
	return n, r.peer.explain(r.ctx, err)
}

// Close ends the stream. One that has not been read to its end is reset.
func (r *Reply) Close() {
	r.unhook()
	if r.left > 0 {
		_ = r.peer.session.Reset(r.stream)
	}
	r.stream.Close()
}

// Gone is closed when the session has ended.
func (p *Peer) Gone() <-chan struct{} { return p.session.CloseChan() }

// Disconnect ends the session without waiting for what is being served; Close
// does wait, and must be called all the same.
func (p *Peer) Disconnect() { p.session.Close() }

// Addr is the peer's network address, the zero value if it has none.
func (p *Peer) Addr() netip.Addr {
	tcp, ok := p.session.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr()
}
