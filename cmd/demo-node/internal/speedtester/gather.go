package speedtester

import (
	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

// gather makes a run of each setup out of those of each way.
func gather(began float64, res speedtest.Result) []report.Run {
	var out []report.Run
	for _, setup := range []report.Setup{report.Direct, report.Through} {
		r := report.Run{Started: began, Setup: setup, Outcome: report.Measured, RTTIdle: res.RTTIdle.Seconds()}
		n := 0
		for _, one := range res.Runs {
			if one.Way.Through() == (setup == report.Through) {
				add(&r, one, n == 0)
				n++
			}
		}
		if n > 0 {
			out = append(out, r)
		}
	}
	return out
}

// add adds a way to a run, whose figure is that of the slower one.
func add(r *report.Run, one speedtest.Run, first bool) {
	if first || one.Flow.Median < r.Capacity {
		r.Capacity, r.LowerBound, r.LimitedBy = one.Flow.Median, one.LowerBound, one.LimitedBy
	}
	r.Streams = max(r.Streams, one.Streams)
	r.Seconds += one.Elapsed.Seconds()
	r.Omitted += one.Omitted.Seconds()
	r.Bytes += one.Bytes
	r.RTTLoaded = max(r.RTTLoaded, one.RTTLoaded.Seconds())
	flow := one.Flow
	if one.Way == message.FromTarget || one.Way == message.ThroughIn {
		r.FromTarget = &flow
	} else {
		r.ToTarget = &flow
	}
}
