package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// WithNativeHistograms gives the distributions over the connections native
// buckets beside the fixed ones. They are finer, each bound being a tenth above
// the last, and nodes of any version add up; a server that scrapes them keeps one
// series for each distribution instead of some fifteen, and no fixed buckets. One
// that does not know them sees no difference. The residuals by stratum have fixed
// buckets alone, which are the same on every node.
func WithNativeHistograms() Option { return func(o *options) { o.native = true } }

// nativeGrowth is the most by which a native bucket's bound exceeds the last.
// Larger is coarser and cheaper. 1.1 makes 8 buckets an octave, so that a quantile
// is within 5 %, better than the round trips themselves.
const nativeGrowth = 1.1

// natively counts the peers whose figure is known, with both kinds of buckets.
func (v *view) natively(peers list) prometheus.Metric {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: v.all.Name, Help: v.all.Help, Buckets: v.bounds, NativeHistogramBucketFactor: nativeGrowth,
	})
	for _, p := range peers {
		if x, ok := v.read(&p.Snapshot); ok {
			h.Observe(x)
		}
	}
	return ofNow{h, v.all.desc}
}

// ofNow is a histogram that was made for one scrape.
type ofNow struct {
	prometheus.Histogram
	desc *prometheus.Desc
}

// Desc is the family's.
func (h ofNow) Desc() *prometheus.Desc { return h.desc }

// Write leaves out when it was made. A server may take that for when counting
// began, and each scrape for a restart.
func (h ofNow) Write(m *dto.Metric) error {
	if err := h.Histogram.Write(m); err != nil {
		return err
	}
	m.Histogram.CreatedTimestamp = nil
	return nil
}
