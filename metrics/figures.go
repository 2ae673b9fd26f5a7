package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/assay-mux/assay/mux"
)

// figure is something known of one connection. It is shown as a distribution
// over all, by name where WithPerPeer asks for it, and some in the rank slots.
type figure struct {
	name, help string
	bounds     []float64 // upper bounds of the buckets, rising
	slots      bool      // shown in the rank slots
	// read returns false while the figure is not known.
	read func(*mux.Snapshot) (float64, bool)
}

// figures are all there are.
func figures() []figure {
	return append(rttFigures(), append(rateFigures(), ageFigures()...)...)
}

func rttFigures() []figure {
	return []figure{
		{"rtt_base_seconds", "Base round trip in seconds: the least of all that vouch for the path", roundTrips(), true,
			func(s *mux.Snapshot) (float64, bool) { return seconds(s.RTT.Base) }},
		{"rtt_median_seconds", "Median round trip in seconds of echoes that met no send queue", roundTrips(), false,
			func(s *mux.Snapshot) (float64, bool) { return seconds(s.RTT.P50) }},
		{"rtt_p95_seconds", "95th percentile round trip in seconds of echoes that met no send queue, cookies given up included at their age", roundTrips(), true,
			func(s *mux.Snapshot) (float64, bool) { return seconds(s.RTT.P95) }},
		{"rtt_loaded_median_seconds", "Median round trip in seconds of echoes that waited in a send queue", roundTrips(), false,
			func(s *mux.Snapshot) (float64, bool) { return seconds(s.RTT.LoadedP50) }},
		{"rtt_loaded_p95_seconds", "95th percentile round trip in seconds of echoes that waited in a send queue", roundTrips(), true,
			func(s *mux.Snapshot) (float64, bool) { return seconds(s.RTT.LoadedP95) }},
		{"kernel_rtt_seconds", "Round trip in seconds as the kernel smooths it, where something was acknowledged lately; Linux only", roundTrips(), false,
			func(s *mux.Snapshot) (float64, bool) { return fresh(s, s.Kernel.RTT) }},
		{"kernel_rtt_min_seconds", "Least round trip in seconds that the kernel saw, where something was acknowledged lately; Linux only", roundTrips(), false,
			func(s *mux.Snapshot) (float64, bool) { return fresh(s, s.Kernel.MinRTT) }},
	}
}

func rateFigures() []figure {
	return []figure{
		{"rate_bytes_per_second", "Estimated serialisation rate in payload bytes per second", rates(), true,
			func(s *mux.Snapshot) (float64, bool) { return known(s.Estimate.Rate.BytesPerSecond()) }},
		{"rate_error_ratio", "Standard error of the seconds per byte over the seconds per byte: the error bar of the rate as a ratio", ratios(), true, rateError},
		{"rate_floor_bytes_per_second", "Bytes per second that the rate reaches at least, from bursts that ended within their slow start", rates(), false,
			func(s *mux.Snapshot) (float64, bool) { return known(s.Estimate.UpperBound.BytesPerSecond()) }},
		{"coverage_bytes", "Gate-vetted bytes behind the estimate, by the mean burst that a byte came in: its weight in trust", sizes(), true,
			func(s *mux.Snapshot) (float64, bool) { return known(float64(s.Estimate.Coverage)) }},
	}
}

func ageFigures() []figure {
	return []figure{
		{"front_age_seconds", "Age in seconds of the oldest unanswered cookie", roundTrips(), false,
			func(s *mux.Snapshot) (float64, bool) { return s.FrontAge.Seconds(), s.Outstanding > 0 }},
		{"echo_age_seconds", "Seconds since the newest cookie that was echoed had been sent: the peer was alive then", ages(), false,
			func(s *mux.Snapshot) (float64, bool) { return seconds(s.EchoAge) }},
		{"idle_seconds", "Seconds since the last payload arrived", ages(), false,
			func(s *mux.Snapshot) (float64, bool) {
				return max(s.At-s.Burst.Last, 0).Seconds(), s.Burst.Last > 0
			}},
		{"connection_age_seconds", "Seconds since the connection was wrapped", ages(), false,
			func(s *mux.Snapshot) (float64, bool) { return s.At.Seconds(), true }},
	}
}

// rateError is the standard error relative to the rate it belongs to.
func rateError(s *mux.Snapshot) (float64, bool) {
	if s.Estimate.Rate <= 0 {
		return 0, false
	}
	return float64(s.Estimate.StandardError / s.Estimate.Rate), true
}

// known takes nothing for unknown, as the estimates do.
func known(v float64) (float64, bool) { return v, v > 0 }

func seconds(d time.Duration) (float64, bool) { return known(d.Seconds()) }

// kernelFresh is how old the last acknowledgement may be for the kernel's round
// trip to say something of now. Larger shows more idle connections, and older
// truths. 15 s is the usual interval between two scrapes.
const kernelFresh = 15 * time.Second

// fresh is a time of the kernel's, known if something was acknowledged lately.
func fresh(s *mux.Snapshot, d time.Duration) (float64, bool) {
	v, ok := seconds(d)
	k := s.Kernel
	return v, ok && k.At > 0 && s.At-k.At+k.AckAge <= kernelFresh
}

// roundTrips are bounds from 0.5 ms, a data centre's, to 4 s, about the age at
// which a cookie is given up. Each doubles the last.
func roundTrips() []float64 { return prometheus.ExponentialBuckets(0.0005, 2, 14) }

// rates are bounds from 16 KiB/s to 512 MiB/s. Each doubles the last.
func rates() []float64 { return prometheus.ExponentialBuckets(1<<14, 2, 16) }

// sizes are bounds from 16 KiB, one SDU, to 64 MiB. Each doubles the last.
func sizes() []float64 { return prometheus.ExponentialBuckets(1<<14, 2, 13) }

// ratios are bounds from 1 %, as good as it gets, to 1, a rate from one block.
func ratios() []float64 { return []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1} }

// ages are bounds from a second to a week.
func ages() []float64 {
	return []float64{1, 10, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600}
}
