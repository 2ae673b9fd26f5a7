package speedtester

import (
	"fmt"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

// gather makes a run of each setup out of those of the ways that were to be
// measured. A setup that lacks one has failed: its figure is the slower way's, and
// a peer that is fast one way may break off, or not allow, the other.
func gather(began float64, ways []message.Way, res speedtest.Result, err error) []report.Run {
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
		if due := count(ways, setup); n > 0 && n < due {
			lack(&r, n, due, err)
		}
		if n > 0 {
			out = append(out, r)
		}
	}
	return out
}

// count is how many of the ways belong to a setup.
func count(ways []message.Way, setup report.Setup) (n int) {
	for _, w := range ways {
		if w.Through() == (setup == report.Through) {
			n++
		}
	}
	return n
}

// lack makes a run that lacks a way one without a figure. What it moved, and what
// the other way did, stay.
func lack(r *report.Run, n, due int, err error) {
	r.Outcome, r.Capacity, r.LowerBound, r.LimitedBy = report.Failed, 0, false, ""
	if r.Error = fmt.Sprintf("%d of %d ways measured, the peer allowed no more", n, due); err != nil {
		r.Error = fmt.Sprintf("%d of %d ways measured: %v", n, due, err)
	}
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
