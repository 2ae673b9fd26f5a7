package campaign_test

import (
	"fmt"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

// What a campaign of one peer does, without a target of our own before.
func Example() {
	plan := campaign.Default()
	plan.Rounds, plan.Jitter = 1, 0
	s, err := campaign.New(plan, nil, []report.Peer{{Name: "peer", Address: "192.0.2.1:7001"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Next(0).Kind)
	s.Told(0, 0, &report.Published{}, false, 0)
	step := s.Next(0)
	fmt.Println(step.Kind, "until", step.At)
	step = s.Next(step.At)
	fmt.Println(step.Kind)
	s.Begin(0, step.At)
	s.Tested(0, step.At+30, []report.Run{{Outcome: report.Measured, Capacity: 1e6}}, nil)
	fmt.Println(s.Next(1e9).Kind)
	// Output:
	// tell
	// wait until 86460
	// test
	// read
}
