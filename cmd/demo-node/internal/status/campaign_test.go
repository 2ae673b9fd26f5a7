package status

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/metrics"
)

// TestCampaign: a step grows overdue while nobody tells of the campaign, as when
// its program hangs, and no campaign is never overdue.
func TestCampaign(t *testing.T) {
	var c Campaign
	if got := c.Campaign(); got != (metrics.Campaign{}) {
		t.Errorf("before there is one: %+v", got)
	}
	plan := campaign.Default()
	plan.Notice = time.Hour
	s, err := campaign.New(plan, nil, []report.Peer{{Name: "a", Address: "a:1"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Passed = true
	const now = 1e9
	s.Told(0, now, &report.Published{}, false, 0)
	c.Set(s, now)
	due := s.Next(now).At
	if due < now+3600 {
		t.Fatalf("due at %v, within the notice", due)
	}
	if got := c.at(due - 1); got.Overdue != 0 || got.Others != 1 {
		t.Errorf("before its time: %+v", got)
	}
	if got := c.at(due + 60).Overdue; (got - time.Minute).Abs() > time.Millisecond {
		t.Errorf("a minute late: %v", got)
	}
	s.Visits[0].Round, s.Visits[0].Read = plan.Rounds, true
	c.Set(s, now)
	if got := c.at(due + 60); !got.Finished || got.Overdue != 0 {
		t.Errorf("at the end: %+v", got)
	}
}
