package wire_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

func Example() {
	var stream bytes.Buffer
	stream.Write(wire.AppendRefusal(nil, wire.Refusal{Code: wire.CodeNotFound}))
	_, err := wire.ReadData(&stream)
	fmt.Println(errors.Is(err, wire.ErrNotFound))
	// Output: true
}
