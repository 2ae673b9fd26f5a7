package status

import (
	"sync/atomic"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/metrics"
)

// Campaign shows how far a campaign was when it was last told, and how long its
// next step has been due now: a metrics.CampaignSource. The zero value is at the
// beginning. Safe for concurrent use.
type Campaign struct {
	last atomic.Pointer[told]
}

type told struct {
	of  metrics.Campaign
	due float64 // when the next step is or was due, in seconds since 1970; 0 if nothing is
}

// Set tells it of s at an instant in seconds since 1970; s is not kept.
func (c *Campaign) Set(s *campaign.State, now float64) {
	t := &told{of: metrics.OfCampaign(s, now)}
	if !t.of.Finished {
		t.due = s.Next(now).At
	}
	c.last.Store(t)
}

// Campaign reads it.
func (c *Campaign) Campaign() metrics.Campaign { return c.at(float64(time.Now().UnixMilli()) / 1000) }

func (c *Campaign) at(now float64) metrics.Campaign {
	t := c.last.Load()
	if t == nil {
		return metrics.Campaign{}
	}
	of := t.of
	if t.due > 0 {
		of.Overdue = time.Duration(max(now-t.due, 0) * float64(time.Second))
	}
	return of
}
