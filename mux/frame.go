package mux

import (
	"encoding/binary"

	"github.com/assay-mux/assay/cookie"
)

// kind is what a frame does, whatever the multiplexer calls it.
type kind uint8

const (
	kindData   kind = iota // carries length bytes of payload
	kindWindow             // grants length bytes of credit
	kindPing               // asks for, or is, an echo of length
	kindGoAway             // announces the end
)

// Stream flags, as yamux numbers them.
const (
	flagSYN uint16 = 1 << iota // opens a stream; on a ping: please answer
	flagACK                    // accepts a stream; on a ping: the answer
	flagFIN                    // the sender's half is done
	flagRST                    // the stream is gone
)

// header is one decoded frame header. Only a data frame has a body, of length
// bytes; for the other kinds length is a value.
type header struct {
	kind   kind
	flags  uint16
	stream uint32
	length uint32
}

// body is how many bytes follow the header on the wire.
func (h header) body() uint32 {
	if h.kind == kindData {
		return h.length
	}
	return 0
}

// atMost is the smaller of n and limit. A length of a frame may be more than an
// int holds.
func atMost(n int, limit uint32) int { return int(min(uint64(n), uint64(limit))) }

// carries says whether a cookie may ride in front of the frame. Never on a
// ping: two wrapped ends would answer each other for ever. Never on a goaway,
// nor on what ends a stream: the session often ends with it, and the peer's
// answer would find it closed and be logged as a failure.
func (h header) carries() bool {
	return h.kind <= kindWindow && h.flags&(flagFIN|flagRST) == 0
}

// headerSize is the length of the longest header any codec reads.
const headerSize = 12

// codec is all the shim knows of a multiplexer's wire format, so that another
// one (a Cardano bearer, a framing with echoes of our own) is another codec.
type codec interface {
	// decode reads a header from b[:headerSize]; false means that these are
	// not frames of this protocol.
	decode(b []byte) (header, bool)
	// encode writes h to b[:headerSize].
	encode(b []byte, h header)
	// cookie is the frame that asks the peer to echo v.
	cookie(v cookie.Value) header
	// echo extracts what may be an echo of a cookie.
	echo(h header) (cookie.Value, bool)
}

// yamuxCodec reads yamux frames: version, type, flags, stream and length, big
// endian, twelve bytes in all
// (https://github.com/hashicorp/yamux/blob/master/spec.md).
type yamuxCodec struct{}

var _ codec = yamuxCodec{}

func (yamuxCodec) decode(b []byte) (header, bool) {
	_ = b[headerSize-1]
	h := header{
		kind:   kind(b[1]),
		flags:  binary.BigEndian.Uint16(b[2:]),
		stream: binary.BigEndian.Uint32(b[4:]),
		length: binary.BigEndian.Uint32(b[8:]),
	}
	return h, b[0] == 0 && h.kind <= kindGoAway
}

func (yamuxCodec) encode(b []byte, h header) {
	_ = b[headerSize-1]
	b[0], b[1] = 0, byte(h.kind)
	binary.BigEndian.PutUint16(b[2:], h.flags)
	binary.BigEndian.PutUint32(b[4:], h.stream)
	binary.BigEndian.PutUint32(b[8:], h.length)
}

// cookie is a ping request. Its flags are exactly SYN and its stream 0, since
// some implementations refuse anything else.
func (yamuxCodec) cookie(v cookie.Value) header {
	return header{kind: kindPing, flags: flagSYN, length: uint32(v)}
}

func (yamuxCodec) echo(h header) (cookie.Value, bool) {
	v := cookie.Value(h.length)
	return v, h.kind == kindPing && h.flags&flagACK != 0 && v&cookie.Marker != 0
}
