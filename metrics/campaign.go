package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

// Campaign is how far a campaign of speed tests is at one instant.
type Campaign struct {
	// Measured, OptedOut and Others count its peers: those with a result, those
	// that want no test, those that were not tested yet or could not be.
	Measured, OptedOut, Others int
	// Overdue is how long the next step has been due. A step under way counts
	// until it has ended.
	Overdue time.Duration
	// Finished says that all is done, or that the pre-test did not pass.
	Finished bool
}

// OfCampaign returns how far s is at an instant in seconds since 1970. s must not
// be nil, nor be changed meanwhile.
func OfCampaign(s *campaign.State, now float64) Campaign {
	var c Campaign
	for _, p := range s.Peers {
		switch {
		case p.Outcome == report.Measured:
			c.Measured++
		case p.OptedOut:
			c.OptedOut++
		default:
			c.Others++
		}
	}
	step := s.Next(now)
	c.Finished = step.Kind == campaign.Finished || step.Kind == campaign.Stopped
	// A step that is due before anything else has an instant of 0: due now.
	if step.At > 0 {
		c.Overdue = time.Duration(max(now-step.At, 0) * float64(time.Second))
	}
	return c
}

// CampaignSource tells how far a campaign is.
type CampaignSource interface {
	// Campaign is called once for each scrape and from one goroutine at a time. It
	// should not block, and must not call the collector.
	Campaign() Campaign
}

// CampaignFunc is a function as a [CampaignSource].
type CampaignFunc func() Campaign

// Campaign calls f.
func (f CampaignFunc) Campaign() Campaign { return f() }

// WithCampaign adds how far a campaign of speed tests is: five series. A nil src
// adds none.
func WithCampaign(src CampaignSource) Option { return func(o *options) { o.campaign = src } }

// campaignFamily is a family over a campaign. Its series are by the label's value.
type campaignFamily struct {
	family
	series []campaignSeries
}

type campaignSeries struct {
	label string
	read  func(*Campaign) float64
}

func campaignFamilies() []campaignFamily {
	return []campaignFamily{
		{newFamily(Gauge, "speedtest_peers", "Peers of the campaign of speed tests, by how it went: measured, opted out, or others, which were not tested yet or could not be. With WithCampaign only.", "outcome"), []campaignSeries{
			{"measured", func(c *Campaign) float64 { return float64(c.Measured) }},
			{"opted_out", func(c *Campaign) float64 { return float64(c.OptedOut) }},
			{"others", func(c *Campaign) float64 { return float64(c.Others) }},
		}},
		{newFamily(Gauge, "speedtest_overdue_seconds", "Seconds for which the campaign's next step has been due, 0 if none is. With WithCampaign only."), []campaignSeries{
			{"", func(c *Campaign) float64 { return c.Overdue.Seconds() }},
		}},
		{newFamily(Gauge, "speedtest_finished", "1 once the campaign is over. With WithCampaign only."), []campaignSeries{
			{"", func(c *Campaign) float64 { return one(c.Finished) }},
		}},
	}
}

func showCampaign(families []campaignFamily, c Campaign) []prometheus.Metric {
	var out []prometheus.Metric
	for _, f := range families {
		for _, s := range f.series {
			out = append(out, f.metric(s.read(&c), labels(s.label)...))
		}
	}
	return out
}
