// Package metrics shows what the meters of a node's connections know to
// Prometheus: one [Collector] over the snapshots that a [Source] lists.
//
// Nothing is registered by itself. The caller makes a collector and registers
// it where it likes:
//
//	registry.MustRegister(metrics.NewCollector(source))
//
// # Labels
//
// A peer is no label unless the operator asks for it, because a node meets
// peers without end and each label value is a series that the server keeps for
// weeks. By default there are
//
//   - counters, summed over all connections, past ones included;
//   - gauges, summed over the connections of now;
//   - distributions over the connections of now, as histograms;
//   - rank slots: some figures of the best few peers, slot="1" being the best.
//
// WithPerPeer adds series by name for as many peers as it says and no more.
// Choose names that live long, such as a peer's identity; never its address
// with the port, nor a text that the peer chooses.
//
// WithCampaign adds how far a campaign of speed tests is.
//
// WithRanker adds what a ranker and its audit know: standings by rank slot,
// verdicts by kind, budgets, thresholds and residuals by stratum. The strata are
// labels; there are few dozen at most.
//
// # Counters outlive connections
//
// A counter that falls is taken for a restarted process, and rate() then sees a
// leap. So the collector remembers what each connection had last time and adds
// only the difference to a total that stays when the connection goes. That
// misses what passes between the last scrape and the end of a connection,
// unless the caller hands the meter to [Collector.Retire] once it is closed.
//
// # Distributions are of now
//
// The histograms count connections, not events: each scrape counts afresh, and
// a bucket may fall. Use histogram_quantile on them as they are, without rate().
// A connection whose figure is not known yet is in none of their buckets.
//
// # Names
//
// All names begin with assay_, units are seconds, bytes and ratios, and a
// counter ends in _total, as https://prometheus.io/docs/practices/naming/ asks.
// [Descriptions] lists every one, from the tables that the collector itself
// works through.
package metrics

//go:generate go run ../cmd/demo-node/internal/metricsref -out ../docs/metrics.md
