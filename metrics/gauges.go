package metrics

import (
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/mux"
)

// gauge is a family that sums or compares the connections of now.
type gauge struct {
	family
	join   func(sum, v float64) float64
	series []level
}

// level is one series of a gauge.
type level struct {
	label string // the value of the family's one label, if it has one
	read  func(*mux.Snapshot) float64
}

func add(sum, v float64) float64     { return sum + v }
func largest(sum, v float64) float64 { return max(sum, v) }

func newGauge(name, help string, join func(sum, v float64) float64, read func(*mux.Snapshot) float64) gauge {
	return gauge{newFamily(Gauge, name, help), join, []level{{"", read}}}
}

func newGauges(name, help, label string, series ...level) gauge {
	return gauge{newFamily(Gauge, name, help, label), add, series}
}

// gauges are all there are.
func gauges() []gauge { return append(connectionGauges(), burstGauges()...) }

func connectionGauges() []gauge {
	return []gauge{
		newGauge("connections", "Connections measured now.", add,
			func(*mux.Snapshot) float64 { return 1 }),
		newGauge("confirmed_connections", "Connections whose base round trip the handshake or the kernel confirms.", add,
			func(s *mux.Snapshot) float64 { return one(s.RTT.Confirmed) }),
		newGauges("transparent_connections", "Connections on which unknown frames passed: in is measured no longer, out carries no cookies.", "direction",
			level{"in", func(s *mux.Snapshot) float64 { return one(s.Counts.TransparentIn) }},
			level{"out", func(s *mux.Snapshot) float64 { return one(s.Counts.TransparentOut) }}),
		newGauge("outstanding_fetches", "Fetches outstanding.", add,
			func(s *mux.Snapshot) float64 { return float64(s.Fetches) }),
		newGauge("outstanding_cookies", "Cookies unanswered so far.", add,
			func(s *mux.Snapshot) float64 { return float64(s.Outstanding) }),
		newGauge("front_age_max_seconds", "Age in seconds of the oldest unanswered cookie of all connections, 0 if there is none.", largest,
			func(s *mux.Snapshot) float64 { return s.FrontAge.Seconds() }),
		newGauges("rtt_samples", "Round trips behind the present quantiles, which forget: unloaded, loaded by a send queue, censored where a cookie was given up.", "kind",
			level{"unloaded", func(s *mux.Snapshot) float64 { return float64(s.RTT.Samples) }},
			level{"loaded", func(s *mux.Snapshot) float64 { return float64(s.RTT.LoadedSamples) }},
			level{"censored", func(s *mux.Snapshot) float64 { return float64(s.RTT.Censored) }}),
	}
}

func burstGauges() []gauge {
	return []gauge{
		newGauges("open_bursts", "Bursts open, by gate: open while the peer serves promptly, tripped once it fell silent with nothing to vouch for it.", "gate",
			level{burst.Open.String(), gated(burst.Open)},
			level{burst.Tripped.String(), gated(burst.Tripped)}),
		newGauge("open_bursts_cold", "Open bursts that began with a slow start.", add,
			func(s *mux.Snapshot) float64 { return one(bursting(s) && s.Burst.Cold) }),
		newGauge("open_burst_bytes", "Payload bytes of the open bursts.", add,
			func(s *mux.Snapshot) float64 { return float64(s.Burst.Bytes) * one(bursting(s)) }),
		newGauge("open_burst_covered_bytes", "Payload bytes of the open bursts that the gate has vetted.", add,
			func(s *mux.Snapshot) float64 { return float64(s.Burst.Covered) * one(bursting(s)) }),
	}
}

// bursting says whether a burst is open: a state also tells of the last one.
func bursting(s *mux.Snapshot) bool { return s.Burst.Gate != burst.Idle }

func gated(g burst.Gate) func(*mux.Snapshot) float64 {
	return func(s *mux.Snapshot) float64 { return one(s.Burst.Gate == g) }
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
