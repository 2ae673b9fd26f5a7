package metrics

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

func campaignOf(c Campaign) CampaignSource { return CampaignFunc(func() Campaign { return c }) }

func TestCampaignSeries(t *testing.T) {
	c := NewCollector(nil, WithCampaign(campaignOf(Campaign{Measured: 5, OptedOut: 2, Others: 3, Overdue: 90 * time.Second, Finished: true})))
	check(t, gather(t, c).series(), map[string]float64{
		`assay_speedtest_peers{outcome="measured"}`:  5,
		`assay_speedtest_peers{outcome="opted_out"}`: 2,
		`assay_speedtest_peers{outcome="others"}`:    3,
		`assay_speedtest_overdue_seconds`:            90,
		`assay_speedtest_finished`:                   1,
	})
	absent(t, gather(t, NewCollector(nil)).series(), `assay_speedtest_overdue_seconds`)
}

// TestOfCampaign follows one from its notice on: what is not due yet is not
// overdue, and what nobody does becomes so by the second.
func TestOfCampaign(t *testing.T) {
	plan := campaign.Default()
	plan.Notice, plan.Rounds, plan.Jitter = time.Hour, 1, 0
	s, err := campaign.New(plan, nil, []report.Peer{{Name: "a", Address: "a:1"}, {Name: "b", Address: "b:1"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Passed = true
	const now = 1e9
	if got := OfCampaign(s, now); got != (Campaign{Others: 2}) {
		t.Errorf("before anybody was told: %+v", got)
	}
	s.Told(0, now, &report.Published{}, false, 0)
	s.Told(1, now, &report.Published{}, true, 0)
	if got := OfCampaign(s, now+60); got != (Campaign{OptedOut: 1, Others: 1}) {
		t.Errorf("within the notice: %+v", got)
	}
	step := s.Next(now + 60)
	if got := OfCampaign(s, step.At+5400).Overdue; (got - 90*time.Minute).Abs() > time.Millisecond {
		t.Errorf("an hour and a half late: overdue by %v", got)
	}
	s.Begin(step.Peer, step.At)
	s.Tested(step.Peer, step.At+30, []report.Run{{Outcome: report.Measured, Capacity: 1e6}}, nil)
	got := OfCampaign(s, step.At+40)
	if got.Measured != 1 || got.OptedOut != 1 || got.Others != 0 || got.Overdue != 0 || got.Finished {
		t.Errorf("after its test, figures to be read once more: %+v", got)
	}
	s.Reread(step.Peer, nil)
	if got := OfCampaign(s, step.At+1e6); !got.Finished || got.Overdue != 0 {
		t.Errorf("at the end: %+v", got)
	}
}

// TestStoppedCampaign: a pre-test that failed ends it, and nothing is overdue.
func TestStoppedCampaign(t *testing.T) {
	s, err := campaign.New(campaign.Default(), &report.Peer{Name: "ours", Address: "o:1", KnownCapacity: 1e6}, []report.Peer{{Name: "a", Address: "a:1"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Pretested(100, []report.Run{{Outcome: report.Measured, Capacity: 1}})
	if got := OfCampaign(s, 1e9); !got.Finished || got.Overdue != 0 {
		t.Errorf("%+v", got)
	}
}
