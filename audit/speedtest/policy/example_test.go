package policy_test

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/policy"
)

// Whatever is asked for, the node grants what it allows, once in twelve hours.
func Example() {
	gate, err := policy.New(policy.Default())
	if err != nil {
		panic(err)
	}
	tester := policy.Who{Identity: "tester", Group: "192.0.2.0/24"}
	grant, _ := gate.Ask(0, tester, policy.Ask{Runs: 1, Bytes: 1 << 60, Limit: 12_500_000})
	fmt.Println(grant.Bytes, "bytes in", grant.Length)
	gate.End(grant.Test)
	_, refused := gate.Ask(time.Hour, tester, policy.Ask{})
	fmt.Println(refused)
	// Output:
	// 312500000 bytes in 30s
	// the peer has been tested by us lately; ask again in 11h0m0s
}
