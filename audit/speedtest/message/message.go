// Package message is what tester and target say to each other, apart from the
// payload of a test.
//
// A message is a version, a kind and a two-byte length, big-endian, then the
// kind's own payload. All kinds but a refusal have one size, so that a reader
// knows before it reads how much it will take, and a peer cannot make it take
// more. The first message of a stream says what the stream is for:
//
//	describe   the sender's figures and policy    answered by describe
//	announce   a campaign will come               answered by noted or refusal
//	propose    asks for a test                    answered by grant or refusal; the stream is
//	                                              then the test's control stream
//	attach     a stream for the payload of a run  answered by attached or refusal
//
// On a control stream the tester says start and stop, and ping at any time; the
// target says done, and pong. On a stream that carries payload to the target,
// the target returns receipts.
package message

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Version is the protocol's, in each message.
const Version = 1

// Kind says what a message is.
type Kind uint8

// The kinds.
const (
	KindDescribe Kind = iota + 1
	KindAnnounce
	KindNoted
	KindPropose
	KindGrant
	KindRefusal
	KindAttach
	KindAttached
	KindStart
	KindStop
	KindDone
	KindPing
	KindPong
	KindReceipt

	kinds
)

const (
	headSize = 4
	// maxText bounds what a refusal says in words, in bytes.
	maxText = 200
	// MaxSize is that of the largest message in bytes, its head included.
	MaxSize = headSize + 9 + maxText
)

// sizes are the payloads of the kinds; a refusal has at most as much.
var sizes = [kinds]int{
	KindDescribe: descriptorSize, KindAnnounce: 8, KindNoted: 0, KindPropose: proposalSize, KindGrant: grantSize,
	KindRefusal: 9 + maxText, KindAttach: attachSize, KindAttached: 0, KindStart: startSize, KindStop: 0,
	KindDone: 9, KindPing: 8, KindPong: 8, KindReceipt: receiptSize,
}

// Errors of reading; errors.Is finds them in what Read returns.
var (
	ErrVersion   = errors.New("message: the peer speaks another version of the speed test, update the older node")
	ErrMalformed = errors.New("message: the peer sent something that is no message of the speed test; end the stream")
)

// Message is one of the types of this package.
type Message interface {
	kind() Kind
	append(b []byte) []byte
}

// Append writes a message behind b.
func Append(b []byte, m Message) []byte {
	at := len(b)
	b = m.append(append(b, Version, byte(m.kind()), 0, 0))
	binary.BigEndian.PutUint16(b[at+2:], uint16(len(b)-at-headSize))
	return b
}

// Write writes a message in one call.
func Write(w io.Writer, m Message) error {
	_, err := w.Write(Append(make([]byte, 0, MaxSize), m))
	return err
}

// Read reads a message. It returns io.EOF if the stream ended before one, else
// ErrVersion, ErrMalformed, io.ErrUnexpectedEOF or the reader's error.
func Read(r io.Reader) (Message, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	if head[0] != Version {
		return nil, fmt.Errorf("%w (version %d, ours is %d)", ErrVersion, head[0], Version)
	}
	k, n := Kind(head[1]), int(binary.BigEndian.Uint16(head[2:]))
	switch {
	case k == 0 || k >= kinds:
		return nil, fmt.Errorf("%w (kind %d)", ErrMalformed, k)
	case k == KindRefusal && (n < 9 || n > sizes[k]), k != KindRefusal && n != sizes[k]:
		return nil, fmt.Errorf("%w (%d bytes of kind %d)", ErrMalformed, n, k)
	}
	var buf [MaxSize]byte
	if _, err := io.ReadFull(r, buf[:n]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return parse(k, buf[:n])
}

// parse reads the payload of a kind, which has its size.
func parse(k Kind, p []byte) (Message, error) {
	f := &fields{p: p}
	var m Message
	switch k {
	case KindDescribe:
		m = f.descriptor()
	case KindAnnounce:
		m = Announce{In: f.span()}
	case KindNoted:
		m = Noted{}
	case KindPropose:
		m = f.proposal()
	case KindGrant:
		m = f.grant()
	case KindRefusal:
		m = Refusal{Code: f.byte(), RetryAfter: f.span(), Text: string(f.p)}
	case KindAttach:
		m = f.attach()
	case KindAttached:
		m = Attached{}
	case KindStart:
		m = Start{Run: f.byte(), Way: f.way(), Key: f.key()}
	case KindStop:
		m = Stop{}
	case KindDone:
		m = Done{Reason: f.byte(), Bytes: f.count()}
	case KindPing:
		m = Ping{f.u64()}
	case KindPong:
		m = Pong{f.u64()}
	case KindReceipt:
		m = Receipt{Bytes: f.count(), Sum: f.u64()}
	default: // Read takes no other
		f.bad = true
	}
	if f.bad {
		return nil, fmt.Errorf("%w (a field of kind %d is out of range)", ErrMalformed, k)
	}
	return m, nil
}

// Expect reads a message that has to be of type M. A Refusal instead is returned
// as an error, a *Refusal; any other is ErrMalformed.
func Expect[M Message](r io.Reader) (M, error) {
	var none M
	m, err := Read(r)
	if err != nil {
		return none, err
	}
	switch m := m.(type) {
	case M:
		return m, nil
	case Refusal:
		return none, &m
	}
	return none, fmt.Errorf("%w (kind %d out of place)", ErrMalformed, m.kind())
}
