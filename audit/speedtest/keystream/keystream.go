// Package keystream is the payload of a speed test: bytes that nobody can
// produce without the key, and that nothing compresses.
//
// It is AES-128 in counter mode (NIST SP 800-38A, section 6.5) under a key that
// the measurer draws for each run, with the number of the stream in the upper
// half of the counter. Whoever is measured sends it (and is checked byte for
// byte), or receives it without the key, and proves receipt by folding what came
// into a [Sum]: the exclusive or of all 64-bit words, of which no word may be
// missing, for each is as good as random to whoever lacks the key. Neither side
// has to be believed.
package keystream

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math/bits"
)

// KeySize is the length of a key in bytes: AES-128. The payload has to be
// unpredictable for half a minute, not for a century, and a longer key is slower.
const KeySize = 16

// Key is the key of one run.
type Key [KeySize]byte

// ErrForged says that a byte is not the one that the key gives.
var ErrForged = errors.New("keystream: the payload is not that of the key; count none of it, and distrust whoever sent it")

// Source yields the payload of one stream, from its start on. Build it with
// NewSource. Not safe for concurrent use.
type Source struct{ ctr cipher.Stream }

// NewSource returns the payload of the stream with this number.
func NewSource(k Key, stream uint16) *Source {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		panic(err) // the length is right by its type
	}
	var iv [aes.BlockSize]byte
	binary.BigEndian.PutUint16(iv[:], stream)
	return &Source{cipher.NewCTR(block, iv[:])}
}

// Fill writes the next bytes into p.
func (s *Source) Fill(p []byte) {
	clear(p)
	s.ctr.XORKeyStream(p, p)
}

// Check compares p with the next bytes, and overwrites it. The error is
// ErrForged; after it the source is of no more use.
func (s *Source) Check(p []byte) error {
	s.ctr.XORKeyStream(p, p)
	for len(p) > 0 {
		n := min(len(p), len(zeros))
		if !bytes.Equal(p[:n], zeros[:n]) {
			return ErrForged
		}
		p = p[n:]
	}
	return nil
}

// zeros is what payload and keystream make together.
var zeros [4096]byte

// Sum folds a stream of bytes into 64 bits. The zero value has folded none; a
// copy is the sum so far. Not safe for concurrent use.
type Sum struct {
	word uint64
	n    int64
}

// Add folds the next bytes in.
func (s *Sum) Add(p []byte) {
	s.n += int64(len(p))
	// Bytes before the next word's boundary.
	for s.phase(len(p)) != 0 && len(p) > 0 {
		s.word ^= uint64(p[0]) << (8 * s.phase(len(p)))
		p = p[1:]
	}
	var a, b, c, d uint64
	for ; len(p) >= 32; p = p[32:] {
		a ^= binary.LittleEndian.Uint64(p)
		b ^= binary.LittleEndian.Uint64(p[8:])
		c ^= binary.LittleEndian.Uint64(p[16:])
		d ^= binary.LittleEndian.Uint64(p[24:])
	}
	s.word ^= a ^ b ^ c ^ d
	for i, v := range p {
		s.word ^= uint64(v) << (8 * (i % 8))
	}
}

// phase is the place within its word of the first of the last left bytes added.
func (s *Sum) phase(left int) int { return int((s.n - int64(left)) & 7) }

// Len is how many bytes were added.
func (s *Sum) Len() int64 { return s.n }

// Value is the fold. It depends on the length too, so that a run of zeros is
// not as good as nothing.
func (s *Sum) Value() uint64 { return s.word ^ bits.ReverseBytes64(uint64(s.n)) }
