package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	yamux "github.com/assay-mux/assay/mux"
)

// dialLimit is how long a connect may take; longer bears with worse paths.
const dialLimit = 10 * time.Second

// ErrDial says that a peer could not be connected to.
var ErrDial = errors.New("cannot connect")

// Dial connects to a peer. Close ends the session; so does the end of ctx.
func (n *Node) Dial(ctx context.Context, addr string) (*Peer, error) {
	d := net.Dialer{Timeout: dialLimit}
	start := time.Now()
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w to %s: %w", ErrDial, addr, why(err))
	}
	rtt := time.Since(start)
	n.prepare(conn)
	if n.cfg.TLS != nil {
		secure, err := n.cfg.TLS.client(ctx, conn)
		if err != nil {
			conn.Close()
			return nil, fmt.Errorf("%s: %w", addr, err)
		}
		conn = secure
	}
	session, err := yamux.Client(conn, n.session(), n.options(rtt)...)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	p := n.join(ctx, session, addr)
	p.wg.Go(p.serve)
	return p, nil
}

// why replaces what the system says of a failed dial by what to do, where that
// is known.
func why(err error) error {
	var dns *net.DNSError
	var addr *net.AddrError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused; is `demo-node serve` running there, on that port?")
	case errors.As(err, &dns):
		return fmt.Errorf("no such host %q, check the spelling", dns.Name)
	case errors.As(err, &addr):
		return fmt.Errorf("%s; an address is HOST:PORT", addr.Err)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
