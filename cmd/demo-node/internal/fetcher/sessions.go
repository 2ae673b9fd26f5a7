package fetcher

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// session is a connection to a peer.
type session struct {
	id     string
	peer   *node.Peer
	users  int  // transfers under way
	doomed bool // to be ended once there are none
}

// Join takes a connected peer in under an identity and an address, and asks it
// what it offers. The peer leaves when its session ends.
func (f *Fetcher) Join(ctx context.Context, id string, addr netip.Addr, p *node.Peer) ([]wire.Offer, error) {
	conn, err := f.cfg.Ranker.Join(f.Now(), ranking.Peer{ID: id, Addr: addr, Meter: p.Meter(), StreamWindow: int64(f.cfg.Window)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	f.mu.Lock()
	f.conns[conn] = &session{id: id, peer: p}
	f.mu.Unlock()
	f.wg.Go(func() { f.await(conn, p) })
	offers, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range offers {
		size := ranking.Size{Bytes: o.Size, Provenance: ranking.Advertised}
		if err := f.cfg.Ranker.Offer(f.Now(), id, o.Hash.String(), size); err != nil {
			f.cfg.Log.Warn("offer ignored", "peer", id, "hash", o.Hash.Short(), "err", err)
		}
	}
	return offers, nil
}

// await takes a peer out once its session has ended.
func (f *Fetcher) await(conn ranking.Conn, p *node.Peer) {
	select {
	case <-f.ctx.Done():
	case <-p.Gone():
		f.cfg.Log.Debug("peer left", "peer", p.Name())
	}
	f.mu.Lock()
	delete(f.conns, conn)
	f.mu.Unlock()
	_ = f.cfg.Ranker.Leave(f.Now(), conn)
}

// enter is the peer at the other end of a connection, for a transfer: call leave
// when that has ended.
func (f *Fetcher) enter(conn ranking.Conn) (p *node.Peer, leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.conns[conn]
	if s == nil {
		return nil, nil, ErrUnwatched
	}
	s.users++
	return s.peer, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		s.users--
		f.endDoomed(s)
	}, nil
}

// drop ends the sessions of a peer once nothing comes over them any more: if
// nobody else has what it sends, late is better than never.
func (f *Fetcher) drop(id string) {
	f.cfg.Log.Warn("peer to be dropped, it did not deliver in time", "peer", id)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.conns {
		if s.id == id {
			s.doomed = true
			f.endDoomed(s)
		}
	}
}

// endDoomed ends a session that is to be dropped and is idle. Needs mu.
func (f *Fetcher) endDoomed(s *session) {
	if s.doomed && s.users == 0 {
		f.wg.Go(s.peer.Disconnect)
	}
}
