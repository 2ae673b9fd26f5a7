package lab_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// Frame types and flags of yamux, for a peer that plays by no rules but ours.
const (
	typeData, typeWindow, typePing               = 0, 1, 2
	flagSYN, flagACK, flagFIN                    = 1, 2, 4
	rawHeader                                    = 12
	rawSDU                                       = 16 << 10
	echoPrompt                                   = 0
	echoNever                      time.Duration = -1
)

// rawPeer speaks yamux frames by hand on a simulated link: it serves what a
// script says, and answers pings as late as echo says. The link's buffer must
// be large enough that no write blocks, for a lock is held across them.
type rawPeer struct {
	conn  net.Conn
	asked chan uint32 // streams on which a request has arrived

	mu     sync.Mutex // guards the rest, and whole frames on the conn
	echo   time.Duration
	answer func(v uint32) []uint32 // replaces an echo by these values
	pings  []uint32
	gotRST map[uint32]bool
}

func newRawPeer(conn net.Conn) *rawPeer {
	p := &rawPeer{conn: conn, asked: make(chan uint32, 64), gotRST: map[uint32]bool{}}
	go p.run()
	return p
}

// run answers the frames of the other side until the link ends.
func (p *rawPeer) run() {
	defer close(p.asked)
	head := make([]byte, rawHeader)
	for {
		if _, err := io.ReadFull(p.conn, head); err != nil {
			return
		}
		kind, flags := head[1], binary.BigEndian.Uint16(head[2:])
		stream, length := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
		switch {
		case kind == typeData:
			if _, err := io.CopyN(io.Discard, p.conn, int64(length)); err != nil {
				return
			}
			if length > 0 {
				p.asked <- stream
			}
		case kind == typeWindow && flags&flagSYN != 0:
			p.frame(typeWindow, flagACK, stream, 0, nil)
		case kind == typePing && flags&flagSYN != 0:
			p.pinged(length)
		}
	}
}

func (p *rawPeer) pinged(v uint32) {
	p.mu.Lock()
	p.pings = append(p.pings, v)
	echo, answer := p.echo, p.answer
	p.mu.Unlock()
	values := []uint32{v}
	if answer != nil {
		values = answer(v)
	}
	if echo == echoNever {
		return
	}
	time.AfterFunc(echo, func() {
		for _, v := range values {
			p.frame(typePing, flagACK, 0, v, nil)
		}
	})
}

// setEcho changes how late pings are answered.
func (p *rawPeer) setEcho(d time.Duration) {
	p.mu.Lock()
	p.echo = d
	p.mu.Unlock()
}

func (p *rawPeer) frame(kind byte, flags uint16, stream, length uint32, body []byte) {
	b := make([]byte, rawHeader, rawHeader+len(body))
	b[1] = kind
	binary.BigEndian.PutUint16(b[2:], flags)
	binary.BigEndian.PutUint32(b[4:], stream)
	binary.BigEndian.PutUint32(b[8:], length)
	b = append(b, body...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn.Write(b)
}

// send serves n bytes on a stream.
func (p *rawPeer) send(stream uint32, n int) {
	for n > 0 {
		k := min(n, rawSDU)
		p.frame(typeData, 0, stream, uint32(k), make([]byte, k))
		n -= k
	}
}

// pace serves n bytes in bursts of size with silences between them.
func (p *rawPeer) pace(stream uint32, n, size int, silence time.Duration) {
	for n > 0 {
		k := min(n, size)
		p.send(stream, k)
		if n -= k; n > 0 {
			time.Sleep(silence)
		}
	}
}
