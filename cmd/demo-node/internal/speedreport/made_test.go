package speedreport

import (
	"fmt"
	"math"
	"testing"

	"github.com/assay-mux/assay/audit/speedtest/passive"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

// day is when the made campaign begins.
const day = 1.7e9

// figures are what a peer publishes at an hour of the campaign.
func figures(hour float64, phase report.Phase, advertised, ordinary float64) report.Published {
	return report.Published{At: day + hour*3600, Phase: phase, Figures: passive.Figures{
		Advertised: int64(advertised), Observed: int64(advertised), ObservedWithoutTests: int64(ordinary),
	}}
}

// tested is a peer of a true capacity that says a part of it before the test, and all of it after.
func tested(i int, capacity, part float64) report.Peer {
	hour := 24 + float64(i)
	p := report.Peer{
		Name: fmt.Sprintf("peer-%02d", i), KnownCapacity: capacity,
		Passive: &report.Estimate{Rate: capacity * 0.9, StandardError: capacity * 0.02, Coverage: 1 << 22},
		Published: []report.Published{
			figures(0, report.Before, capacity*part, capacity*part), figures(12, report.Before, capacity*part, capacity*part),
			figures(hour+1, report.During, capacity*max(part, 0.97), capacity*part),
			figures(120, report.After, capacity*max(part, 0.97), capacity*part),
		},
		Runs: []report.Run{{
			Started: day + hour*3600, Setup: report.Direct, Outcome: report.Measured, Capacity: capacity * 0.98,
			LimitedBy: report.ByPeer, Streams: 8, Seconds: 20, Omitted: 3, Bytes: int64(capacity * 20),
		}},
	}
	p.Settle()
	return p
}

// campaign is one of n peers and some that were not measured: a quarter understate, one overstates.
func campaign(n int) *report.Document {
	doc := &report.Document{Format: report.Format, Tester: "tester", Shortened: true, CapacityFrom: report.FromTest}
	for i := range n {
		part := []float64{0.97, 0.95, 0.92, 0.3}[i%4]
		doc.Peers = append(doc.Peers, tested(i, 1e6*math.Pow(1.13, float64(i)), part))
	}
	liar := tested(n, 5e6, 10)
	liar.Name = "boaster"
	bound := tested(n+1, 60e6, 0.5)
	bound.Name, bound.Runs[0].LowerBound, bound.Runs[0].LimitedBy = "beyond-us", true, report.ByWindow
	bound.Settle()
	doc.Peers = append(doc.Peers, liar, bound,
		report.Peer{Name: "says-no", OptedOut: true, Outcome: report.OptedOut, Published: []report.Published{figures(0, report.Before, 3e6, 3e6)}},
		report.Peer{Name: "busy", Outcome: report.Refused, Runs: []report.Run{{Started: day + 90000, Outcome: report.Refused, Refusal: &report.Refusal{Code: "busy"}}}},
		report.Peer{Name: "unreachable", Outcome: report.Failed, Runs: []report.Run{{Started: day + 90000, Outcome: report.Failed, Error: "connection refused"}}})
	return doc
}

// study is n peers known by a CSV of before and after.
func study(n int) *report.Document {
	doc := &report.Document{Format: report.Format, CapacityFrom: report.FromPublished}
	for i := range n {
		after := 1e5 * math.Pow(1.01, float64(i%900))
		doc.Peers = append(doc.Peers, report.Peer{
			Name: fmt.Sprintf("%040X", i), Outcome: report.Measured, Capacity: after,
			Published: []report.Published{
				{Phase: report.Before, Figures: passive.Figures{Advertised: int64(after * (0.3 + 0.8*math.Abs(math.Sin(float64(i)))))}},
				{Phase: report.After, Figures: passive.Figures{Advertised: int64(after)}},
			},
		})
	}
	return doc
}

func analysed(t testing.TB, doc *report.Document) *report.Analysis {
	t.Helper()
	return report.Analyse(doc, report.Options{Resamples: 50, Seed: 1})
}
