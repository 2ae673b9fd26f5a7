package audit_test

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/audit"
)

// A peer whose bursts promise 12 MB in a second takes five, though it answers all our cookies.
func Example() {
	auditor := audit.New(audit.DefaultConfig())
	fetch := audit.Record{
		Peer: "padder", Group: "203.0.113.0/24",
		Size: 12 << 20, Coverage: 12 << 20,
		BaseRTT: 20 * time.Millisecond,
		Claim:   time.Second,
		Actual:  5200 * time.Millisecond,
		TTFB:    25 * time.Millisecond,
		Echoes:  audit.EchoesFlowed,
	}
	var v audit.Verdict
	for n := 1; v.Kind == audit.Clear; n++ {
		v = auditor.Observe(time.Duration(n)*time.Minute, fetch)
	}
	fmt.Println(v.Kind)
	fmt.Println(v.Reason())
	// Output:
	// withholding
	// alive but 8 of the last 8 audited fetches took more than 4.8 times their claim while its echoes kept coming; the last of them took 5.2 s where 1.0 s was claimed
}

// The same delay is nobody's fault where the echoes stopped too.
func ExampleAuditor_Observe() {
	auditor := audit.New(audit.DefaultConfig())
	var v audit.Verdict
	for n := range 8 {
		v = auditor.Observe(time.Duration(n)*time.Minute, audit.Record{
			Peer: "far", Group: "198.51.100.0/24",
			Size: 12 << 20, Coverage: 12 << 20,
			BaseRTT: 150 * time.Millisecond,
			Claim:   time.Second,
			Actual:  5200 * time.Millisecond,
			TTFB:    160 * time.Millisecond,
			Stalled: 4 * time.Second,
			Echoes:  audit.EchoesStopped,
		})
	}
	fmt.Println(v.Kind, v.Kind.Punitive())
	fmt.Printf("residual without the path's stalls: %.2f, threshold %.2f\n", v.Latest.Residual, v.Latest.Threshold.Value)
	// Output:
	// path false
	// residual without the path's stalls: 0.19, threshold 0.95
}

// What no statistics can catch is published.
func ExampleAuditor_FreeRates() {
	for _, r := range audit.New(audit.DefaultConfig()).FreeRates() {
		fmt.Printf("%s: %.0f %%\n", r.Kind, 100*r.Rate)
	}
	// Output:
	// withholding: 4 %
	// never alone: 11 %
	// overclaims: 42 %
	// path: 11 %
	// slow to start: 42 %
}
