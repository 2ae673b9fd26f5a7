package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Version is the protocol's version, in each message.
const Version = 1

// Kind says what a message is.
type Kind uint8

// The kinds of message.
const (
	KindList Kind = iota + 1
	KindGet
	KindOffers
	KindData
	KindRefusal
	KindSpeedtest
)

// The sizes of messages, in bytes.
const (
	lengthSize = 4
	headSize   = 2 // version and kind
	getSize    = HashSize + 8
	offerSize  = HashSize + 8
	maxText    = 256

	// MaxOffers is how many files a peer may offer. Larger costs whoever asks
	// 40 B of memory for each; 16384 make 640 KiB.
	MaxOffers = 16384
)

// Errors of reading a message; errors.Is finds them in what the readers return.
var (
	ErrVersion   = errors.New("wire: the peer speaks another version of the protocol, update the older node")
	ErrTooLong   = errors.New("wire: message longer than its kind allows")
	ErrMalformed = errors.New("wire: malformed message")
)

// limit is the largest payload of a kind, negative for one that is unknown.
func (k Kind) limit() int {
	switch k {
	case KindList, KindSpeedtest:
		return 0
	case KindGet:
		return getSize
	case KindOffers:
		return MaxOffers * offerSize
	case KindData:
		return 8
	case KindRefusal:
		return 1 + maxText
	}
	return -1
}

// appendHead begins a message with so many bytes of payload.
func appendHead(b []byte, k Kind, payload int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(headSize+payload))
	return append(b, Version, byte(k))
}

// read takes one message of any of the kinds wanted and returns its payload.
func read(r io.Reader, wanted ...Kind) (Kind, []byte, error) {
	var head [lengthSize + headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	if head[lengthSize] != Version {
		return 0, nil, fmt.Errorf("%w: version %d, ours is %d", ErrVersion, head[lengthSize], Version)
	}
	k := Kind(head[lengthSize+1])
	size := int64(binary.BigEndian.Uint32(head[:])) - headSize
	switch {
	case !slices.Contains(wanted, k):
		return k, nil, fmt.Errorf("%w: kind %d out of place", ErrMalformed, k)
	case size < 0:
		return k, nil, fmt.Errorf("%w: its length is %d", ErrMalformed, size+headSize)
	case size > int64(k.limit()):
		return k, nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, size, k.limit())
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(r, payload); err != nil {
		return k, nil, unexpected(err)
	}
	return k, payload, nil
}

// unexpected makes an end inside a message one that was not expected.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
