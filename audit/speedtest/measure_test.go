package speedtest

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
)

func TestMeasuresEachWay(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		g := newTarget(t, ResponderConfig{Policy: free()})
		defer g.stop()
		link := lab.Link{Rate: 20 * lab.Mbit, OneWay: 20 * time.Millisecond, SlowStart: true}
		near, far := g.connect(link, us), g.connect(link, us)
		began := time.Now()
		res, err := Measure(t.Context(), Config{
			Near: near, Far: far, Length: 10 * time.Second, Prior: 2.5e6,
			Ways: []message.Way{message.FromTarget, message.ToTarget, message.ThroughIn, message.ThroughOut},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Runs {
			t.Logf("%v: %+v", r.Way, r)
			if e := off(r.Flow.Median, 2.5e6); e < -0.03 || e > 0.01 || r.LowerBound {
				t.Errorf("%v: %.0f B/s, %+.1f %%, by %s", r.Way, r.Flow.Median, 100*e, r.LimitedBy)
			}
		}
		t.Logf("%v, idle %v, took %v", res.Grant, res.RTTIdle, time.Since(began))
	})
}

// Only what the peer itself limited, on its way to us, binds what is expected of it.
func TestCeiling(t *testing.T) {
	run := func(way message.Way, median float64, bound bool) Run {
		return Run{Way: way, Flow: report.Flow{Median: median, Best: 2 * median}, LowerBound: bound}
	}
	for name, c := range map[string]struct {
		runs []Run
		want float64
	}{
		"none":                {nil, 0},
		"the other direction": {[]Run{run(message.ToTarget, 1e6, false)}, 0},
		"a lower bound":       {[]Run{run(message.FromTarget, 1e6, true)}, 0},
		"nothing came":        {[]Run{run(message.FromTarget, 0, false)}, 0},
		"both directions":     {[]Run{run(message.ToTarget, 3e6, false), run(message.FromTarget, 1e6, false)}, 1e6},
	} {
		got, ok := Result{Runs: c.runs}.Ceiling()
		if got != c.want || ok != (c.want > 0) {
			t.Errorf("%s: %v, %v, want %v", name, got, ok, c.want)
		}
	}
}
