package metrics

import "github.com/prometheus/client_golang/prometheus"

// Type is the type of a metric, in Prometheus's word for it.
type Type string

// The types in use.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Description is one metric as a reference page would show it.
type Description struct {
	Name   string   // in full
	Type   Type     // counter, gauge or histogram
	Help   string   // unit and meaning
	Labels []string // names of the labels, if any
}

// namespace begins every name.
const namespace = "assay_"

// family is a metric and what Prometheus wants to be told of it.
type family struct {
	Description
	desc *prometheus.Desc
}

func newFamily(t Type, name, help string, labels ...string) family {
	name = namespace + name
	return family{
		Description: Description{Name: name, Type: t, Help: help, Labels: labels},
		desc:        prometheus.NewDesc(name, help, labels, nil),
	}
}

// metric is one value of the family. The number of labels is fixed by the
// tables here and each value is valid UTF-8, so that making it cannot fail.
func (f family) metric(v float64, labels ...string) prometheus.Metric {
	t := prometheus.GaugeValue
	if f.Type == Counter {
		t = prometheus.CounterValue
	}
	return prometheus.MustNewConstMetric(f.desc, t, v, labels...)
}

// Descriptions lists every metric there is, those of WithTop, WithPerPeer,
// WithRanker and WithCampaign included, in the order in which the collector
// describes them.
func Descriptions() []Description {
	var all []Description
	everything := options{
		top: 1, perPeer: 1,
		ranker:   RankingFunc(func() Ranking { return Ranking{} }),
		campaign: CampaignFunc(func() Campaign { return Campaign{} }),
	}
	for _, f := range newTables(everything).families() {
		all = append(all, f.Description)
	}
	return all
}
