package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Get asks for a file from an offset on.
type Get struct {
	Hash   Hash
	Offset int64 // bytes; up to the file's size
}

// Request is what the opener of a stream says first: a list, a get, or that the
// rest is of the speed test.
type Request struct {
	Kind Kind // KindList, KindGet or KindSpeedtest
	Get  Get  // of a get
}

// AppendList appends the request for a list.
func AppendList(b []byte) []byte { return appendHead(b, KindList, 0) }

// AppendSpeedtest appends the words before a stream of package speedtest.
func AppendSpeedtest(b []byte) []byte { return appendHead(b, KindSpeedtest, 0) }

// AppendGet appends the request for a file. A negative offset becomes 0.
func AppendGet(b []byte, g Get) []byte {
	b = appendHead(b, KindGet, getSize)
	b = append(b, g.Hash[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(max(g.Offset, 0)))
}

// ReadRequest reads a request. It returns io.EOF if the stream ended before
// one, and else ErrVersion, ErrTooLong, ErrMalformed or the reader's error.
func ReadRequest(r io.Reader) (Request, error) {
	k, p, err := read(r, KindList, KindGet, KindSpeedtest)
	if err != nil || k != KindGet {
		return Request{Kind: k}, err
	}
	if len(p) != getSize {
		return Request{}, fmt.Errorf("%w: a get of %d bytes, it has %d", ErrMalformed, len(p), getSize)
	}
	g := Get{Hash: Hash(p[:HashSize])}
	if g.Offset, err = size(p[HashSize:]); err != nil {
		return Request{}, err
	}
	return Request{Kind: k, Get: g}, nil
}

// size reads an unsigned 64-bit count of bytes that fits an int64.
func size(p []byte) (int64, error) {
	n := binary.BigEndian.Uint64(p)
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("%w: a size of %d bytes", ErrMalformed, n)
	}
	return int64(n), nil
}
