package report

import (
	"math"
	"testing"

	"github.com/assay-mux/assay/audit/speedtest/passive"
)

// published is what a peer says in one phase.
func published(phase Phase, at float64, advertised int64) Published {
	return Published{At: at, Phase: phase, Figures: passive.Figures{
		Advertised: advertised, Observed: advertised, ObservedWithoutTests: advertised / 2,
	}}
}

// measured is a peer that was tested once.
func measured(name string, before, after int64, capacity float64) Peer {
	return Peer{
		Name: name, Outcome: Measured, Capacity: capacity, LimitedBy: ByPeer,
		Published: []Published{published(Before, 100, before), published(After, 300, after)},
		Runs: []Run{{
			Started: 200, Setup: Direct, Outcome: Measured, Capacity: capacity, LimitedBy: ByPeer,
			Seconds: 20, Bytes: int64(capacity * 20),
		}},
	}
}

// made is a small campaign: one true, one that understates, one that overstates tenfold, one that
// opted out, one that was busy, one that broke, one not reached yet.
func made() *Document {
	understates := measured("understates", 250, 1000, 1000)
	understates.Passive = &Estimate{Rate: 800, StandardError: 40, Coverage: 1 << 20}
	optedOut := Peer{Name: "opted-out", OptedOut: true, Published: []Published{published(Before, 100, 500)},
		Runs: []Run{{Started: 200, Outcome: Refused, Refusal: &Refusal{Code: "opted_out"}}}}
	busy := Peer{Name: "busy", Runs: []Run{{Started: 210, Outcome: Refused, Refusal: &Refusal{Code: "busy", RetryAfter: 60}}}}
	broken := Peer{Name: "broken", Runs: []Run{{Started: 220, Outcome: Failed, Error: "connection reset", Seconds: 3, Bytes: 500}}}
	doc := &Document{Format: Format, Tester: "t", CapacityFrom: FromTest, Peers: []Peer{
		measured("true", 950, 990, 1000), understates, measured("liar", 10000, 10000, 1000),
		optedOut, busy, broken, {Name: "waiting"},
	}}
	for i := range doc.Peers {
		doc.Peers[i].Settle()
	}
	return doc
}

func few() Options { return Options{Resamples: 100, Seed: 1} }

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}
