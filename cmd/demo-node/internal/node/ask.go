package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	yamux "github.com/assay-mux/assay/mux"
)

// Errors of asking a peer, besides those of package wire.
var (
	ErrVanished = errors.New("the peer went away before it had answered in full; nothing incomplete was kept, try again or ask another (if it runs with --tls, so must we)")
	ErrStalled  = errors.New("the peer is connected but has fallen silent; nothing incomplete was kept, try again or ask another")
	ErrSize     = errors.New("the peer sends another size than it advertised, nothing was kept; ask another")
)

// ask opens a stream, sends a request and lets f read the answer. If ctx ends
// meanwhile, or f fails, the stream is reset, which stops the peer from sending
// the rest, and the session goes on.
func (p *Peer) ask(ctx context.Context, request []byte, f func(io.Reader) error) error {
	st, err := p.session.OpenStream()
	if err != nil {
		return p.explain(ctx, err)
	}
	defer st.Close()
	stop := context.AfterFunc(ctx, func() { _ = p.session.Reset(st) })
	defer stop()
	_, err = p.patient(st).Write(request)
	if err == nil {
		err = f(p.patient(st))
	}
	if err != nil {
		_ = p.session.Reset(st)
	}
	return p.explain(ctx, err)
}

// explain turns the ways a stream can end into what they mean.
func (p *Peer) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, yamux.ErrTimeout), errors.Is(err, yamux.ErrConnectionWriteTimeout):
		return fmt.Errorf("%s: %w", p.name, ErrStalled)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), ended(err):
		return fmt.Errorf("%s: %w", p.name, ErrVanished)
	}
	return fmt.Errorf("%s: %w", p.name, err)
}

// ended says whether the session is over, by its own word or by its
// connection's: who writes before the session's reader has met a reset gets the
// connection's error itself.
func ended(err error) bool {
	_, conn := errors.AsType[*net.OpError](err)
	return conn || errors.Is(err, net.ErrClosed) || errors.Is(err, yamux.ErrSessionShutdown) || errors.Is(err, yamux.ErrConnectionReset) ||
		errors.Is(err, yamux.ErrStreamClosed) || errors.Is(err, yamux.ErrRemoteGoAway)
}

// List asks what the peer offers. It counts as outstanding, like a fetch: else
// the first reply that is faster than any round trip before it would look like
// the rest of the one before, served slowly.
func (p *Peer) List(ctx context.Context) (offers []wire.Offer, err error) {
	end := p.Meter().Begin()
	defer end()
	err = p.ask(ctx, wire.AppendList(nil), func(r io.Reader) (err error) {
		offers, err = wire.ReadOffers(r)
		end()
		return err
	})
	return offers, err
}
