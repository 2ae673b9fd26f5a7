package node

import (
	"errors"
	"io"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	yamux "github.com/assay-mux/assay/mux"
)

const (
	// maxServing is how many requests of one peer are served at once. More
	// lets one peer hold more of our files open and of our memory.
	maxServing = 64

	// requestLimit is how long a peer may take to say what it wants of a stream
	// it opened. Longer bears with worse paths.
	requestLimit = 30 * time.Second

	// chunk is how much is read and written at a time. Larger saves calls;
	// beyond 64 KiB that is not noticed.
	chunk = 64 << 10
)

// serve answers the peer's requests until the session ends.
func (p *Peer) serve() {
	for {
		st, err := p.session.AcceptStream()
		if err != nil {
			break
		}
		p.wg.Go(func() { p.answer(st) })
	}
}

// answer serves one stream.
func (p *Peer) answer(st *yamux.Stream) {
	defer st.Close()
	// Who is silent holds a slot too, one of those for tests: there are more.
	release, ok := slot(p.open)
	if !ok {
		p.refuse(st, wire.CodeBusy, "")
		return
	}
	defer release()
	_ = st.SetReadDeadline(time.Now().Add(requestLimit))
	req, err := wire.ReadRequest(st)
	switch {
	case err != nil:
		if malformed(err) {
			p.refuse(st, wire.CodeBadRequest, err.Error())
		}
		p.node.cfg.Log.Debug("no request", "peer", p.name, "err", err)
	case req.Kind == wire.KindSpeedtest:
		p.speedtest(st)
	default:
		p.serveRequest(st, req)
	}
}

// serveRequest serves a request for what the store has.
func (p *Peer) serveRequest(st *yamux.Stream, req wire.Request) {
	release, ok := slot(p.busy)
	if !ok {
		p.refuse(st, wire.CodeBusy, "")
		return
	}
	defer release()
	if req.Kind == wire.KindList {
		p.send(st, wire.AppendOffers(nil, p.node.cfg.Behave.Offers(p.node.cfg.Store.Offers())))
		return
	}
	p.give(st, req.Get)
}

// slot takes one of the slots of a channel; false if all are in use.
func slot(of chan struct{}) (release func(), ok bool) {
	select {
	case of <- struct{}{}:
		return func() { <-of }, true
	default:
		return nil, false
	}
}

// malformed says whether the peer sent something that is no request, in
// contrast to nothing.
func malformed(err error) bool {
	return errors.Is(err, wire.ErrMalformed) || errors.Is(err, wire.ErrTooLong) || errors.Is(err, wire.ErrVersion)
}

// give sends a file.
func (p *Peer) give(st *yamux.Stream, g wire.Get) {
	log := p.node.cfg.Log.With("peer", p.name, "hash", g.Hash.Short())
	f, size, err := p.node.cfg.Store.Read(g.Hash, g.Offset)
	switch {
	case errors.Is(err, store.ErrNotFound):
		p.refuse(st, wire.CodeNotFound, "")
		return
	case err != nil:
		log.Warn("cannot serve a file", "err", err)
		p.refuse(st, wire.CodeFailed, "")
		return
	}
	defer f.Close()
	if !p.send(st, wire.AppendData(nil, size)) {
		return
	}
	to := struct{ io.Writer }{counted{p.node.cfg.Behave.Writer(p.patient(st), g.Offset+size, p.session.CloseChan()), p.node}}
	// A file that has grown since must not run past what was announced.
	n, err := io.CopyBuffer(to, struct{ io.Reader }{io.LimitReader(f, size)}, make([]byte, chunk))
	if errors.Is(err, behave.ErrVanished) {
		p.session.Close()
	}
	if n == size && err == nil {
		log.Debug("file served", "bytes", n)
		return
	}
	say := log.Warn
	if p.ended() != nil {
		say = log.Debug // it was we who hung up
	}
	say("file not served whole", "bytes", n, "of", size, "err", err)
}

func (p *Peer) refuse(st *yamux.Stream, c wire.Code, text string) {
	p.send(st, wire.AppendRefusal(nil, wire.Refusal{Code: c, Text: text}))
}

// send writes a message, and says whether it went.
func (p *Peer) send(st *yamux.Stream, message []byte) bool {
	_, err := p.patient(st).Write(message)
	return err == nil
}

// patient is a stream each of whose reads and writes may take so long.
type patient struct {
	*yamux.Stream
	limit time.Duration
}

func (p *Peer) patient(st *yamux.Stream) patient { return patient{st, p.node.cfg.Stall} }

func (s patient) Read(p []byte) (int, error) {
	if err := s.SetReadDeadline(time.Now().Add(s.limit)); err != nil {
		return 0, err
	}
	return s.Stream.Read(p)
}

func (s patient) Write(p []byte) (int, error) {
	if err := s.SetWriteDeadline(time.Now().Add(s.limit)); err != nil {
		return 0, err
	}
	return s.Stream.Write(p)
}
