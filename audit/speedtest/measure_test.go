package speedtest

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
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
