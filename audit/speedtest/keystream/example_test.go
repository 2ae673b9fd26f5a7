package keystream_test

import (
	"fmt"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
)

// One end sends, the other checks, under a key that it chose.
func Example() {
	key := keystream.Key{42}
	payload := make([]byte, 1000)
	keystream.NewSource(key, 0).Fill(payload)

	check := keystream.NewSource(key, 0)
	fmt.Println(check.Check(payload[:500]))
	payload[700] ^= 1
	fmt.Println(check.Check(payload[500:]))
	// Output:
	// <nil>
	// keystream: the payload is not that of the key; count none of it, and distrust whoever sent it
}
