package lab_test

import (
	"fmt"
	"io"

	"github.com/assay-mux/assay/internal/lab"
)

func ExamplePair() {
	client, server := lab.Pair(lab.Link{Rate: 100 * lab.Mbit})
	fmt.Fprint(client, "hello")
	client.Close()
	got, err := io.ReadAll(server)
	fmt.Printf("%s %v\n", got, err)
	// Output: hello <nil>
}
