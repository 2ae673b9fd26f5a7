package passive_test

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/passive"
)

// A node that could do more has never been asked for more than 2 MB/s for ten seconds on end, until it
// is tested.
func Example() {
	m, err := passive.New(passive.DefaultConfig(), 0)
	if err != nil {
		panic(err)
	}
	at := time.Duration(0)
	for range 60 {
		m.Add(at, passive.Traffic{Read: 2e6, Written: 2e6})
		at += time.Second
	}
	for range 20 {
		m.Add(at, passive.Traffic{Read: 9e6, Written: 9e6, Test: true})
		at += time.Second
	}
	f := m.Figures(at).WithLimit(5e6)
	fmt.Println("observed:", f.Observed, "without tests:", f.ObservedWithoutTests, "advertised:", f.Advertised)
	fmt.Printf("utilisation: %.2f\n", m.Utilisation(at, 9e6))
	// Output:
	// observed: 9000000 without tests: 2000000 advertised: 5000000
	// utilisation: 0.42
}
