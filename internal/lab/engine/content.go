package engine

import (
	"bytes"
	"math/rand/v2"
)

// tableSize is how many bytes the table of content has: a power of two, so that
// a place in it is a mask away. Larger repeats later and leaves the caches.
const tableSize = 1 << 18

// content is what all data are made of: a table of random bytes, in which each
// datum begins at a place of its own. What arrives can so be checked byte by
// byte without being kept.
type content struct{ table []byte }

func newContent() *content {
	table := make([]byte, tableSize)
	src := rand.NewChaCha8([32]byte{})
	_, _ = src.Read(table) // it never fails
	return &content{table}
}

// at is a run of the bytes of a datum, from an offset on: at least one, and at
// most so many.
func (c *content) at(datum int, offset int64, most int) []byte {
	i := (int64(datum)*7919 + offset) & (tableSize - 1)
	return c.table[i:min(i+int64(most), tableSize)]
}

// right says whether p is what a datum has at an offset.
func (c *content) right(datum int, offset int64, p []byte) bool {
	for len(p) > 0 {
		want := c.at(datum, offset, len(p))
		if !bytes.Equal(want, p[:len(want)]) {
			return false
		}
		p, offset = p[len(want):], offset+int64(len(want))
	}
	return true
}
