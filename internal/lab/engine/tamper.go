package engine

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/assay-mux/assay/internal/lab/scenario"
)

// The header of a yamux frame: version, type, flags, stream, length.
const (
	headerSize = 12
	typeData   = 0
	typeWindow = 1
	typePing   = 2
	flagAck    = 2
)

// strayStream is the stream of payload that nobody asked for.
const strayStream = 1_000_001

// tamper sits under a peer's yamux. It takes the echoes of pings out of what is
// written, and sends them later, twice or never; and it sends frames of its own
// between those of yamux. Any goroutine may write; a turn is a channel and no
// mutex, for it is held across writes, in virtual time too.
type tamper struct {
	net.Conn
	echoes scenario.Echoes
	busy   func() bool // the peer keeps data back at present

	turn chan struct{} // who has it writes, and owns the following
	head []byte        // of a header that is not whole yet
	body int64         // bytes of a frame's body still to come
	wait []byte        // frames for between two others
	rand *rand.Rand
	seen int // echoes

	mu   sync.Mutex
	held [][]byte // echoes kept back while the peer is busy
}

func newTamper(c net.Conn, e scenario.Echoes, seed uint64, busy func() bool) *tamper {
	t := &tamper{Conn: c, echoes: e, busy: busy, turn: make(chan struct{}, 1), rand: rand.New(rand.NewPCG(seed, 77))}
	t.turn <- struct{}{}
	return t
}

// Write passes frames on, but for echoes.
func (t *tamper) Write(p []byte) (int, error) {
	<-t.turn
	defer func() { t.turn <- struct{}{} }()
	out := make([]byte, 0, len(p)+2*headerSize)
	for rest := p; len(rest) > 0; {
		var n int
		out, n = t.pass(out, rest)
		rest = rest[n:]
		if t.between() {
			out, t.wait = append(out, t.wait...), t.wait[:0]
		}
	}
	if len(out) == 0 {
		return len(p), nil
	}
	if n, err := t.Conn.Write(out); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// between says that no frame is half written.
func (t *tamper) between() bool { return t.body == 0 && len(t.head) == 0 }

// pass moves some of p to out, or takes an echo aside, and says how much.
func (t *tamper) pass(out, p []byte) ([]byte, int) {
	if t.body > 0 {
		n := int(min(t.body, int64(len(p))))
		t.body -= int64(n)
		return append(out, p[:n]...), n
	}
	n := min(headerSize-len(t.head), len(p))
	if t.head = append(t.head, p[:n]...); len(t.head) < headerSize {
		return out, n
	}
	h := t.head
	t.head = t.head[:0]
	if h[1] == typeData {
		t.body = int64(binary.BigEndian.Uint32(h[8:]))
	}
	if h[1] == typePing && h[3]&flagAck != 0 {
		return t.echo(out, append([]byte(nil), h...)), n
	}
	return append(out, h...), n
}

// echo does to an echo what is to be done.
func (t *tamper) echo(out, frame []byte) []byte {
	t.seen++
	e := t.echoes
	if e.Forge > 0 && t.seen%e.Forge == 0 {
		out = append(out, pong(1<<31|t.rand.Uint32())...)
	}
	if e.Replay > 0 && t.seen%e.Replay == 0 {
		out = append(out, frame...)
	}
	if e.Skip > 0 && t.rand.Float64() < float64(e.Skip) {
		return out
	}
	if e.LostInStalls && t.busy() {
		return out
	}
	if e.WithStalls && t.busy() {
		t.mu.Lock()
		t.held = append(t.held, frame)
		t.mu.Unlock()
		return out
	}
	if d := e.Hold.At(t.rand.Float64()); d > 0 {
		time.AfterFunc(d, func() { t.inject(frame) })
		return out
	}
	return append(out, frame...)
}

// release sends the echoes that were held while the peer was busy.
func (t *tamper) release() {
	t.mu.Lock()
	held := t.held
	t.held = nil
	t.mu.Unlock()
	for _, frame := range held {
		t.inject(frame)
	}
}

// inject writes a frame at once, or after the one that is half written.
func (t *tamper) inject(frame []byte) {
	<-t.turn
	defer func() { t.turn <- struct{}{} }()
	if !t.between() {
		t.wait = append(t.wait, frame...)
		return
	}
	_, _ = t.Conn.Write(frame) // the session finds out by itself
}

func frame(kind byte, flags uint16, stream, length uint32) []byte {
	b := make([]byte, headerSize, headerSize+length*bodies(kind))
	b[1] = kind
	binary.BigEndian.PutUint16(b[2:], flags)
	binary.BigEndian.PutUint32(b[4:], stream)
	binary.BigEndian.PutUint32(b[8:], length)
	return b[:cap(b)]
}

// bodies is 1 for the one type of frame whose length counts a body.
func bodies(kind byte) uint32 {
	if kind == typeData {
		return 1
	}
	return 0
}

func pong(v uint32) []byte { return frame(typePing, flagAck, 0, v) }

// filler is a useless frame.
func filler(f scenario.Fill, stream uint32) []byte {
	switch f.Kind {
	case scenario.FillWindow:
		return frame(typeWindow, 0, stream, 1)
	case scenario.FillEmpty:
		return frame(typeData, 0, stream, 0)
	case scenario.FillUnknown:
		return frame(typeData, 0, strayStream, uint32(max(1, f.Size)))
	default:
		return pong(7)
	}
}
