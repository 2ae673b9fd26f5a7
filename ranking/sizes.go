package ranking

import (
	"errors"
	"fmt"
)

// ErrSize is returned for a size that cannot be one.
var ErrSize = errors.New("ranking: a size must be above zero, at most MaxSize and of known provenance: ignore the offer that states it")

// MaxSize is the largest size the book takes, in bytes: 1 TiB. Where peers disagree the largest
// claim counts, so one that nobody would fetch whole must not enter.
const MaxSize = 1 << 40

// Provenance says where a size comes from; the zero value is the weakest.
type Provenance uint8

const (
	// Advertised is stated by the peer that offers the datum: a hint that nobody vouches for.
	Advertised Provenance = iota
	// Derived is computed from parts that are attested.
	Derived
	// Attested is committed to in signed metadata.
	Attested
)

// String returns the provenance as a label: lower case.
func (p Provenance) String() string {
	switch p {
	case Advertised:
		return "advertised"
	case Derived:
		return "derived"
	case Attested:
		return "attested"
	}
	return "unknown"
}

// Size is how long a datum is said to be, and on whose word.
type Size struct {
	// Bytes counts exactly what its hash is taken over: with any other encoding honest peers would
	// be found lying.
	Bytes      int64
	Provenance Provenance
}

// Validate returns an error that is [ErrSize] if the size is out of bounds.
func (s Size) Validate() error {
	if s.Bytes <= 0 || s.Bytes > MaxSize || s.Provenance > Attested {
		return fmt.Errorf("%w: it is %d bytes, %s", ErrSize, s.Bytes, s.Provenance)
	}
	return nil
}

// sizeView is what is to be believed of a datum's size.
type sizeView struct {
	// size is what every estimate is made with; zero bytes if unknown.
	size Size
	// least and most are the ends of what is claimed, equal to size unless disputed. A choice should
	// be good for both. Neither may time a hedge: a liar would delay it or bring it about.
	least, most int64
	// disputed says that advertised claims differ and nothing attested decides.
	disputed bool
	// majority says that the size is that of more than half of the aged groups, of three at least.
	majority bool
}
