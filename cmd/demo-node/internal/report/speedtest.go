package report

import (
	"fmt"

	speed "github.com/assay-mux/assay/audit/speedtest/report"
)

// tested says what a speed test of a peer found, beside the truth.
func tested(p *speed.Peer) string {
	if p.Outcome != speed.Measured {
		return fmt.Sprintf("speed test of %s: none, it answers %s", p.Name, p.Outcome)
	}
	bound := ""
	if p.LowerBound {
		bound = fmt.Sprintf(" at least (limited by %s)", p.LimitedBy)
	}
	return fmt.Sprintf("speed test of %s: %.1f Mbit/s%s, the link has %.1f (%+.1f %%)", p.Name,
		p.Capacity*8/1e6, bound, p.KnownCapacity*8/1e6, 100*(p.Capacity/p.KnownCapacity-1))
}
