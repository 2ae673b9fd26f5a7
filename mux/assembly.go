package mux

import (
	"net"
	"sync"

	"github.com/assay-mux/assay/cookie"
)

const (
	// vectored is the most one write hands to the kernel: a whole default
	// window of yamux in sixteen SDUs.
	vectored = 256<<10 + maxHeads*headerSize
	// flattened is the most it hands to a conn without vectored writes.
	flattened = 64 << 10
	// small is up to what frames are copied into one piece: for an SDU of 16 KiB
	// with its header and a cookie the copy still costs a few per cent less
	// than the vector.
	small = 16<<10 + 4*headerSize
	// inlined is the most the asynchronous writer puts on the wire at once
	// where nothing waits: what is larger is worth a queue.
	inlined = 4 << 10

	maxHeads  = 24 // sixteen SDUs, a cookie, and control frames between them
	maxPieces = 2*maxHeads + 2
)

// assembly is what one write will put on the wire: our headers and pieces of
// the host's bytes, in order. It is pooled, for an idle connection should hold
// none.
type assembly struct {
	vec    [maxPieces][]byte
	host   [maxPieces]int // how many of the host's bytes each piece stands for
	pieces int
	size   int // bytes on the wire
	frames uint64
	rides  bool         // the first piece begins a frame that a cookie may ride on
	cookie cookie.Value // the one among them, 0 if none

	heads [maxHeads * headerSize]byte
	used  int // of heads

	spent   [maxPieces][]byte // vec, as a write uses it up
	buffers net.Buffers
	copied  [small]byte
}

var assemblies = sync.Pool{New: func() any { return new(assembly) }}

// chunk is a large buffer, for reading or for flattening a write. Reads of
// 128 KiB take some per cent less processor time than of 64; of 256 little
// less again.
type chunk [128 << 10]byte

var chunks = sync.Pool{New: func() any { return new(chunk) }}

func (a *assembly) reset() {
	clear(a.vec[:a.pieces])
	a.pieces, a.size, a.used, a.frames, a.cookie, a.rides = 0, 0, 0, 0, 0, false
}

// full says that there may be no room for another frame: a cookie, a header
// and a body.
func (a *assembly) full(limit int) bool {
	return a.size+2*headerSize >= limit || a.used+2*headerSize > len(a.heads) || a.pieces+3 > maxPieces
}

// add appends b to what goes out; host bytes of the caller's are done with it.
func (a *assembly) add(b []byte, host int) {
	a.vec[a.pieces], a.host[a.pieces] = b, host
	a.pieces++
	a.size += len(b)
}

// head appends a header of ours.
func (a *assembly) head(c codec, h header, host int) {
	b := a.heads[a.used : a.used+headerSize : a.used+headerSize]
	a.used += headerSize
	c.encode(b, h)
	if a.pieces == 0 {
		a.rides = h.carries()
	}
	a.add(b, host)
	a.frames++
}

// done is how many of the caller's bytes are out when n wire bytes are.
func (a *assembly) done(n int) int {
	host := 0
	for i, b := range a.vec[:a.pieces] {
		if n >= len(b) {
			n -= len(b)
			host += a.host[i]
			continue
		}
		if a.host[i] == len(b) {
			host += n
		}
		break
	}
	return host
}

// flush writes the assembly in one call, or as few as the conn allows, and
// reports the bytes that left.
func (a *assembly) flush(conn net.Conn, vector bool) (int, error) {
	switch {
	case a.pieces == 1:
		return conn.Write(a.vec[0])
	case a.size <= small:
		return conn.Write(a.flatten(a.copied[:0]))
	case vector:
		// WriteTo consumes the pieces; done needs their lengths afterwards.
		copy(a.spent[:], a.vec[:a.pieces])
		a.buffers = a.spent[:a.pieces]
		n, err := a.buffers.WriteTo(conn)
		clear(a.spent[:a.pieces])
		return int(n), err
	default:
		c := chunks.Get().(*chunk)
		defer chunks.Put(c)
		return conn.Write(a.flatten(c[:0]))
	}
}

func (a *assembly) flatten(to []byte) []byte {
	for _, b := range a.vec[:a.pieces] {
		to = append(to, b...)
	}
	return to
}
