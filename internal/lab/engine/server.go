package engine

import (
	"encoding/binary"
	"io"
	"slices"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/scenario"
	"github.com/assay-mux/assay/mux"
)

// session is a yamux session, bare or wrapped.
type session interface {
	io.Closer
	AcceptStream() (*yamux.Stream, error)
	OpenStream() (*yamux.Stream, error)
	CloseChan() <-chan struct{}
}

// serve starts the peer's end of a connection.
func (a *actor) serve(c *connection, conn *lab.Conn) {
	var under io.ReadWriteCloser = conn
	if a.tampers() {
		c.tamper = newTamper(conn, echoesOf(a.spec), a.w.o.Seed, func() bool { return a.busy.Load() > 0 })
		under = c.tamper
	}
	var s session
	var err error
	if a.spec.Wrapped {
		s, err = mux.Server(under, a.w.config(), mux.WithTap(wholeFrames), mux.WithWatcher(mux.NewWatcher()))
	} else {
		s, err = yamux.Server(lab.WholeFrames(under), a.w.config())
	}
	if err != nil {
		a.w.log.violate(a.id, "the peer's session did not start: %v", err)
		return
	}
	c.server = s
	a.w.wg.Go(func() { a.accept(c, s) })
	if a.spec.Push != nil {
		a.w.wg.Go(func() { a.push(s) })
	}
}

// tampers says whether anything is done to the frames themselves.
func (a *actor) tampers() bool {
	for _, r := range a.spec.Behaviour {
		if r.Do.Fill != nil {
			return true
		}
	}
	return a.spec.Echoes != nil
}

// corrupts says whether any rule of it serves wrong bytes.
func (a *actor) corrupts() bool {
	return slices.ContainsFunc(a.spec.Behaviour, func(r scenario.Rule) bool {
		return r.Do.Fail != nil && r.Do.Fail.How == scenario.Corrupt
	})
}

func echoesOf(p scenario.Peer) scenario.Echoes {
	if p.Echoes == nil {
		return scenario.Echoes{}
	}
	return *p.Echoes
}

func (a *actor) accept(c *connection, s session) {
	for {
		st, err := s.AcceptStream()
		if err != nil {
			return
		}
		a.w.wg.Go(func() { a.answer(c, s, st) })
	}
}

// answer serves one stream: a fetch, or the other protocol.
func (a *actor) answer(c *connection, s session, st *yamux.Stream) {
	defer st.Close()
	var kind [1]byte
	if _, err := io.ReadFull(st, kind[:]); err != nil {
		return
	}
	switch kind[0] {
	case streamFetch:
		req, err := readRequest(st)
		if err != nil {
			return
		}
		r := &reply{a: a, c: c, s: s, st: st, req: req}
		r.run()
	case streamSide:
		a.answerSide(st)
	}
}

// answerSide answers each byte with as many as the other protocol does.
func (a *actor) answerSide(st *yamux.Stream) {
	one := make([]byte, 1)
	for {
		if _, err := io.ReadFull(st, one); err != nil {
			return
		}
		if _, err := st.Write(a.w.content.at(0, 0, int(a.spec.Side.Reply))); err != nil {
			return
		}
	}
}

// reply is one fetch as the peer serves it.
type reply struct {
	a   *actor
	c   *connection
	s   session
	st  *yamux.Stream
	req request
	asked
	script
	began time.Time
	slept time.Duration
}

func (r *reply) run() {
	r.began = time.Now()
	r.asked = r.a.request(r.req, int(r.a.asked.Add(1)-1))
	r.script = newScript(r.a.w.o.Seed, family(r.a.id), r.a.spec.Behaviour, r.asked)
	done := make(chan struct{})
	defer close(done)
	for _, f := range r.fills {
		r.a.w.wg.Go(func() { r.fill(f, done) })
	}
	if r.failAt == 0 && r.how == scenario.NotFound {
		_, _ = r.st.Write([]byte{statusNotFound})
		return
	}
	if r.slept = r.delay; !r.pause(r.delay) {
		return
	}
	if r.failAt <= r.offset {
		r.fail()
		return
	}
	if _, err := r.st.Write([]byte{statusOK}); err != nil {
		return
	}
	r.body()
}

// request is what a peer sees of one.
func (a *actor) request(req request, nth int) asked {
	want := req.size - req.offset
	if req.want > 0 {
		want = min(want, req.want)
	}
	return asked{
		datum: int(req.datum), size: req.size, offset: req.offset, want: want,
		critical: req.critical, nth: nth, at: a.w.now(),
	}
}

// body writes what was asked for, as the script says.
func (r *reply) body() {
	for sent := int64(0); sent < r.want; {
		place := r.offset + sent
		wait, most := r.step(place, sent == 0)
		r.slept += wait
		if !r.pause(wait) || !r.pause(r.due(r.offset, place)+r.slept-time.Since(r.began)) {
			return
		}
		if most == 0 {
			r.fail()
			return
		}
		p := r.a.w.content.at(r.datum, place, int(min(most, r.want-sent, int64(r.a.spec.Frame), r.piece(place))))
		if _, err := r.st.Write(p); err != nil {
			return
		}
		sent += int64(len(p))
	}
}

// pause is silent for a time, and says whether the connection is still there.
func (r *reply) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	r.a.busy.Add(1)
	ok := pause(d, r.s.CloseChan())
	if r.a.busy.Add(-1) == 0 && r.c.tamper != nil {
		r.c.tamper.release()
	}
	return ok
}

// fail ends the reply short.
func (r *reply) fail() {
	switch r.how {
	case scenario.Vanish:
		r.s.Close()
	case scenario.Silent:
		r.a.busy.Add(1)
		_, _ = r.st.Read(make([]byte, 1)) // until the other end gives up
		r.a.busy.Add(-1)
	case scenario.Corrupt:
		r.corrupt()
	default: // the stream ends: short of the datum that is as good as a reset
	}
}

// corrupt serves the rest of another datum.
func (r *reply) corrupt() {
	for place := max(r.failAt, r.offset); place < r.offset+r.want; {
		p := r.a.w.content.at(r.datum+1, place, int(min(int64(r.a.spec.Frame), r.offset+r.want-place)))
		if _, err := r.st.Write(p); err != nil {
			return
		}
		place += int64(len(p))
	}
}

// fill sends useless frames until the reply ends.
func (r *reply) fill(f scenario.Fill, done <-chan struct{}) {
	for pause(time.Duration(f.Every), done) && pause(0, r.s.CloseChan()) {
		r.c.tamper.inject(filler(f, r.st.StreamID()))
	}
}

// push sends what nobody asked for.
func (a *actor) push(s session) {
	p := a.spec.Push
	for n := 0; pause(time.Duration(p.Every), s.CloseChan()); n++ {
		if p.Until > 0 && a.w.now() > time.Duration(p.Until) {
			return
		}
		st, err := s.OpenStream()
		if err != nil {
			return
		}
		if !a.pushOne(st, n) {
			return
		}
	}
}

func (a *actor) pushOne(st *yamux.Stream, n int) bool {
	defer st.Close()
	b := binary.BigEndian.AppendUint32([]byte{streamPush}, uint32(n))
	if _, err := st.Write(b); err != nil {
		return false
	}
	for sent := int64(0); sent < int64(a.spec.Push.Size); {
		p := a.w.content.at(n, sent, int(min(int64(a.spec.Frame), int64(a.spec.Push.Size)-sent)))
		if _, err := st.Write(p); err != nil {
			return false
		}
		sent += int64(len(p))
	}
	return true
}
