package node

import (
	"context"
	"net"
	"time"

	yamux "github.com/assay-mux/assay/mux"
)

// acceptRetry is how long a failed accept waits before the next, for it is
// mostly a lack of file descriptors that passes.
const acceptRetry = 50 * time.Millisecond

// Serve accepts peers until ctx ends, closes their sessions and returns when
// all is over. It closes the listener.
func (n *Node) Serve(ctx context.Context, l net.Listener) {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer l.Close()
	defer n.wg.Wait()
	for ctx.Err() == nil {
		conn, err := l.Accept()
		if err == nil {
			n.wg.Go(func() { n.accepted(ctx, conn) })
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(acceptRetry):
		}
	}
}

// accepted serves one connection to its end.
func (n *Node) accepted(ctx context.Context, conn net.Conn) {
	n.prepare(conn)
	name := conn.RemoteAddr().String()
	if n.cfg.TLS != nil {
		secure, err := n.cfg.TLS.server(ctx, conn)
		if err != nil {
			conn.Close()
			n.cfg.Log.Warn("peer refused", "peer", name, "err", err)
			return
		}
		conn = secure
	}
	conn = n.cfg.Behave.Conn(conn)
	session, err := yamux.Server(conn, n.session(), n.options(0)...)
	if err != nil {
		conn.Close()
		n.cfg.Log.Warn("peer refused", "peer", name, "err", err)
		return
	}
	p := n.join(ctx, session, name)
	p.serve()
	p.Close()
}
