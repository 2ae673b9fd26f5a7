package wire

import (
	"encoding/hex"
	"errors"
)

// HashSize is the length of a Hash in bytes.
const HashSize = 32

// Hash is the SHA-256 of a file: its name on the wire and on disk.
type Hash [HashSize]byte

// ErrHash says that a text is no hash.
var ErrHash = errors.New("wire: a hash is 64 hexadecimal digits, as `sha256sum` prints them")

// String returns 64 lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first 12 digits, for people.
func (h Hash) Short() string { return h.String()[:12] }

// MarshalText encodes as String does.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads 64 hexadecimal digits of either case; the error is
// ErrHash.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*HashSize {
		return ErrHash
	}
	if _, err := hex.Decode(h[:], text); err != nil {
		return ErrHash
	}
	return nil
}

// Offer is a file that a peer says it has.
type Offer struct {
	Hash Hash
	Size int64 // bytes; advertised, so it may be a lie
}
