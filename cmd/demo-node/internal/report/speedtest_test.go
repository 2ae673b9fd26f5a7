package report

import (
	"strings"
	"testing"

	speed "github.com/assay-mux/assay/audit/speedtest/report"
)

func TestSpeedtestLine(t *testing.T) {
	p := speed.Peer{Name: "b", Outcome: speed.Measured, Capacity: 6.125e6, KnownCapacity: 6.25e6, LimitedBy: speed.ByPeer}
	bound := p
	bound.LowerBound, bound.LimitedBy = true, speed.ByCPU
	for want, p := range map[string]speed.Peer{
		"speed test of b: 49.0 Mbit/s, the link has 50.0 (-2.0 %)":                               p,
		"speed test of b: 49.0 Mbit/s at least (limited by our_cpu), the link has 50.0 (-2.0 %)": bound,
		"speed test of b: none, it answers opted_out":                                            {Name: "b", Outcome: speed.OptedOut},
	} {
		var b strings.Builder
		if err := (&Pair{Speedtest: &p}).WriteTable(&b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%q, %v; want %q", b.String(), err, want)
		}
	}
}
