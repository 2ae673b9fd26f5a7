package engine

import (
	"encoding/binary"
	"io"
)

// What a stream is for: its first byte.
const (
	streamFetch = 'F'
	streamSide  = 'S'
	streamPush  = 'P'
)

// What a reply begins with.
const (
	statusOK       = 0
	statusNotFound = 1
)

// request is what a fetch asks for.
type request struct {
	datum        uint32
	critical     bool
	size         int64 // of the datum: a peer of the lab knows by it what to serve
	offset, want int64 // want 0 is to the end
}

// requestSize is the length of a request in bytes, its kind included.
const requestSize = 1 + 4 + 1 + 3*8

func (r request) append(b []byte) []byte {
	b = append(b, streamFetch)
	b = binary.BigEndian.AppendUint32(b, r.datum)
	if r.critical {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(r.size))
	b = binary.BigEndian.AppendUint64(b, uint64(r.offset))
	return binary.BigEndian.AppendUint64(b, uint64(r.want))
}

// readRequest reads what follows the kind.
func readRequest(r io.Reader) (request, error) {
	var b [requestSize - 1]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return request{}, err
	}
	return request{
		datum: binary.BigEndian.Uint32(b[:]), critical: b[4] == 1,
		size:   int64(binary.BigEndian.Uint64(b[5:])),
		offset: int64(binary.BigEndian.Uint64(b[13:])), want: int64(binary.BigEndian.Uint64(b[21:])),
	}, nil
}
