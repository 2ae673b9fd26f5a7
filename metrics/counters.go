package metrics

import (
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cookie"
	"github.com/assay-mux/assay/mux"
)

// counter is a family whose values only rise.
type counter struct {
	family
	unit   float64 // what one step is worth: 1, or a nanosecond in seconds
	series []count
	byPeer bool   // shown by name too, where WithPerPeer asks for it
	peer   family // the family of that
}

// count is one series of a counter: a whole number of its units, so that sums
// stay exact and never fall by rounding.
type count struct {
	label string // the value of the family's one label, if it has one
	read  func(*mux.Snapshot) uint64
}

const (
	whole       = 1
	nanoseconds = 1e-9
)

// newCounter makes a counter without a label.
func newCounter(name, help string, read func(*mux.Snapshot) uint64) counter {
	return counter{family: newFamily(Counter, name, help), unit: whole, series: []count{{"", read}}}
}

// newCounters makes a counter with one label.
func newCounters(name, help string, unit float64, label string, series ...count) counter {
	return counter{family: newFamily(Counter, name, help, label), unit: unit, series: series}
}

// alsoByPeer shows the counter by name too.
func (c counter) alsoByPeer(name string) counter {
	labels := append([]string{"peer"}, c.Labels...)
	c.byPeer, c.peer = true, newFamily(Counter, "peer_"+name, c.Help+" By peer; with WithPerPeer only.", labels...)
	return c
}

// counters are all there are.
func counters() []counter {
	all := trafficCounters()
	all = append(all, shimCounters()...)
	all = append(all, cookieCounters()...)
	all = append(all, timeCounters()...)
	return append(all, kernelCounters()...)
}

func trafficCounters() []counter {
	return []counter{
		newCounters("frames_total", "Frames of the multiplexer on the wire, cookies and echoes included.", whole, "direction",
			count{"in", func(s *mux.Snapshot) uint64 { return s.Counts.FramesIn }},
			count{"out", func(s *mux.Snapshot) uint64 { return s.Counts.FramesOut }}),
		newCounters("wire_bytes_total", "Bytes on the wire, headers, cookies and echoes included.", whole, "direction",
			count{"in", func(s *mux.Snapshot) uint64 { return s.Counts.BytesIn }},
			count{"out", func(s *mux.Snapshot) uint64 { return s.Counts.BytesOut }}),
		newCounters("received_payload_bytes_total", "Payload bytes received. Counted is yes for data on open streams within the credit granted, no for the rest, which moves no estimate.", whole, "counted",
			count{"yes", func(s *mux.Snapshot) uint64 { return s.Counts.PayloadIn }},
			count{"no", func(s *mux.Snapshot) uint64 { return s.Counts.UncountedIn }}).alsoByPeer("received_payload_bytes_total"),
		newCounters("io_calls_total", "Calls of the wrapped connection's Read and Write.", whole, "call",
			count{"read", func(s *mux.Snapshot) uint64 { return s.Counts.Reads }},
			count{"write", func(s *mux.Snapshot) uint64 { return s.Counts.Writes }}),
	}
}

func shimCounters() []counter {
	return []counter{
		newCounter("split_frames_total", "Data frames of ours that were cut into several.",
			func(s *mux.Snapshot) uint64 { return s.Counts.Splits }),
		newCounter("cut_frames_total", "Data frames of the peer's that the multiplexer got in several.",
			func(s *mux.Snapshot) uint64 { return s.Counts.Cuts }),
		newCounter("stream_resets_total", "Streams reset by a call of Session.Reset.",
			func(s *mux.Snapshot) uint64 { return s.Counts.Resets }),
		newCounter("late_bytes_total", "Bytes dropped that came for a stream already reset.",
			func(s *mux.Snapshot) uint64 { return s.Counts.LateBytes }),
		newCounter("stripped_echoes_total", "Inbound echoes kept from the multiplexer, of whatever outcome.",
			func(s *mux.Snapshot) uint64 { return s.Counts.EchoesStripped }),
		newCounter("foreign_echoes_total", "Stripped echoes that look like cookies and never were ours.",
			func(s *mux.Snapshot) uint64 { return s.Counts.ForeignEchoes }),
	}
}

func cookieCounters() []counter {
	return []counter{
		newCounter("cookies_issued_total", "Cookies dealt. Each is echoed, skipped, withdrawn or outstanding.",
			func(s *mux.Snapshot) uint64 { return s.Cookies.Issued }),
		newCounter("cookies_lone_total", "Cookies sent without a frame to ride on, which happens in the silence of a fetch only.",
			func(s *mux.Snapshot) uint64 { return s.Counts.LoneCookies }),
		newCounter("cookies_skipped_total", "Cookies given up unanswered.",
			func(s *mux.Snapshot) uint64 { return s.Cookies.Skipped }).alsoByPeer("cookies_skipped_total"),
		newCounter("cookies_withdrawn_total", "Cookies taken back because their write failed.",
			func(s *mux.Snapshot) uint64 { return s.Cookies.Withdrawn }),
		newCounters("cookie_echoes_total", "Echoes by outcome: a sample came in time and measures, late is of a cookie given up, replay is of one already echoed, forged is of none ever issued.", whole, "outcome",
			count{cookie.Sample.String(), func(s *mux.Snapshot) uint64 { return s.Cookies.Echoed }},
			count{cookie.Late.String(), func(s *mux.Snapshot) uint64 { return s.Cookies.Late }},
			count{cookie.Replay.String(), func(s *mux.Snapshot) uint64 { return s.Cookies.Replayed }},
			count{cookie.Forged.String(), func(s *mux.Snapshot) uint64 { return s.Cookies.Forged }}).alsoByPeer("cookie_echoes_total"),
	}
}

func timeCounters() []counter {
	return []counter{
		newCounters("gap_seconds_total", "Seconds of silence inside bursts and fetches that were our own fault: the credit we granted was used up, our reader was absent, our process was frozen. A moment with two causes counts under both.", nanoseconds, "cause",
			count{"credit", func(s *mux.Snapshot) uint64 { return ticks(s.Gaps.Credit) }},
			count{"absent", func(s *mux.Snapshot) uint64 { return ticks(s.Gaps.Absent) }},
			count{"frozen", func(s *mux.Snapshot) uint64 { return ticks(s.Gaps.Frozen) }}).alsoByPeer("gap_seconds_total"),
		silences(),
		newCounters("bursts_total", "Bursts closed, by reason: no arrival within the horizon, the next exchange began, the fetch ended, the connection closed.", whole, "reason", burstCounts()...),
		newCounter("rated_bursts_total", "Bursts that entered the estimate of the rate.",
			func(s *mux.Snapshot) uint64 { return s.Estimate.Bursts }),
	}
}

func silences() counter {
	return newCounters("silence_seconds_total", "Seconds between payload arrivals, by whose they were: tight is prompt service, ours our own fault, peers charged to the peer, waiting idleness or time to first byte.", nanoseconds, "kind",
		count{"tight", func(s *mux.Snapshot) uint64 { return ticks(s.Burst.Tight) }},
		count{"ours", func(s *mux.Snapshot) uint64 { return ticks(s.Burst.Ours) }},
		count{"peers", func(s *mux.Snapshot) uint64 { return ticks(s.Burst.Peers) }},
		count{"waiting", func(s *mux.Snapshot) uint64 { return ticks(s.Burst.Waiting) }}).alsoByPeer("silence_seconds_total")
}

// burstCounts is a series for each reason there is.
func burstCounts() []count {
	var all []count
	for r := range burst.Reasons {
		all = append(all, count{r.String(), func(s *mux.Snapshot) uint64 { return s.Burst.Bursts[r] }})
	}
	return all
}

func kernelCounters() []counter {
	return []counter{
		newCounter("kernel_out_of_order_packets_total", "TCP packets that the kernel received out of order: a hint of loss on the way to us. Linux only.",
			func(s *mux.Snapshot) uint64 { return s.Kernel.OutOfOrder }),
		newCounter("kernel_reordering_events_total", "Reordering events that the kernel has seen. Linux only.",
			func(s *mux.Snapshot) uint64 { return s.Kernel.ReorderingSeen }),
	}
}

// ticks is a time in nanoseconds, none if it is negative.
func ticks(d time.Duration) uint64 { return uint64(max(d, 0)) }
