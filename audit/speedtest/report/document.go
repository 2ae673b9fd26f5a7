package report

import "github.com/assay-mux/assay/audit/speedtest/passive"

// Format is the version of the document. A reader refuses another.
const Format = 1

// Document is the result of a run or of a campaign, as it is kept in a file. Rates are payload bytes
// per second, instants seconds since 1970 (UTC), 0 is "not known". Names in JSON are stable. A value;
// nothing in it is safe for concurrent use.
type Document struct {
	Format int    `json:"format"` // Format
	Tester string `json:"tester,omitempty"`
	// Shortened says that the tests were shorter than 20 s, so that they prove less.
	Shortened bool `json:"shortened"`
	// CapacityFrom says where the capacities come from: a test of ours, or, where somebody else tested,
	// what the peers published after it. Empty is FromTest.
	CapacityFrom CapacitySource `json:"capacity_from"`
	// Peers has every peer that was to be measured, those that refused included.
	Peers []Peer `json:"peers"`
}

// CapacitySource says what a capacity was read off.
type CapacitySource string

// The sources of capacities.
const (
	FromTest      CapacitySource = "test"
	FromPublished CapacitySource = "published_after"
)

// Peer is what a campaign found out about one peer. With JSON lines, a line is one Peer, and a peer
// may have several: Read puts them together.
type Peer struct {
	Name    string `json:"name"` // identifies the peer within the campaign
	Address string `json:"address,omitempty"`
	Group   string `json:"group,omitempty"`

	// Outcome to LimitedBy sum the runs up; Settle fills them in.
	Outcome Outcome `json:"outcome"`
	// Capacity is what the test measured, 0 if there was none.
	Capacity float64 `json:"capacity_bytes_per_second"`
	// LowerBound says that the peer may be able to do more: something else limited the run.
	LowerBound bool  `json:"lower_bound"`
	LimitedBy  Limit `json:"limited_by,omitempty"`
	// OptedOut says that the peer wants no test. It then has no runs but refused ones.
	OptedOut bool `json:"opted_out"`

	// KnownCapacity is the truth, where the peer is our own and its limit known (a pre-test, a demo).
	KnownCapacity float64 `json:"known_capacity_bytes_per_second,omitempty"`
	// Passive is what the tester had estimated of the peer from ordinary traffic before the test.
	Passive *Estimate `json:"passive_estimate,omitempty"`
	// Published are the peer's own figures each time they were read, in order of time.
	Published []Published `json:"published,omitempty"`
	Runs      []Run       `json:"runs,omitempty"` // in order of time
}

// Estimate is a rate read off ordinary traffic, as the burst package makes it.
type Estimate struct {
	Rate          float64 `json:"bytes_per_second"`
	StandardError float64 `json:"standard_error_bytes_per_second"`
	Coverage      int64   `json:"coverage_bytes"` // the bytes behind it
}

// Published are a peer's own figures as read at one time.
type Published struct {
	At    float64 `json:"at_unix_seconds"`
	Phase Phase   `json:"phase"`
	// Weight is the share of the network's load that the peer was given, as the network itself says.
	Weight float64 `json:"weight,omitempty"`
	passive.Figures
}

// Phase says when figures were read.
type Phase string

// The phases of a campaign, seen from one peer: before its first test, from then to the end of the
// last test that its figures remember, and after.
const (
	Before Phase = "before"
	During Phase = "during"
	After  Phase = "after"
)

// Outcome is how the test of a peer ended.
type Outcome string

// The outcomes. Neither of the first two is the peer's fault.
const (
	OptedOut Outcome = "opted_out" // never tested
	Refused  Outcome = "refused"   // said no, for now
	Measured Outcome = "measured"
	Failed   Outcome = "failed"  // no figure: unreachable, cut off, payload forged
	Pending  Outcome = "pending" // not tested yet
)

// Limit is what kept a run from being faster.
type Limit string

// What limits. Only under ByPeer is the figure the peer's capacity, and under PeerCap what it lets us
// have; under the others it is a lower bound.
const (
	ByPeer    Limit = "peer"       // its link, or its machine
	ByPeerCap Limit = "peer_cap"   // the cap that it states
	ByWindow  Limit = "our_window" // streams x window / RTT
	ByCPU     Limit = "our_cpu"
	ByOurCap  Limit = "our_cap"
	ByUnknown Limit = "unknown"
)

// Setup is the way the bytes of a run went.
type Setup string

// The setups.
const (
	Direct  Setup = "direct"  // between tester and peer
	Through Setup = "through" // by way of the peer to an exit of the tester's
)

// Run is one test of one peer.
type Run struct {
	Started float64  `json:"started_unix_seconds"`
	Round   int      `json:"round"` // from 0
	Setup   Setup    `json:"setup"`
	Outcome Outcome  `json:"outcome"`
	Refusal *Refusal `json:"refusal,omitempty"`
	Error   string   `json:"error,omitempty"`

	// Capacity is the median second of the direction that is asked about: of the slower one where both
	// were measured.
	Capacity   float64 `json:"capacity_bytes_per_second"`
	LowerBound bool    `json:"lower_bound"`
	LimitedBy  Limit   `json:"limited_by,omitempty"`

	Streams    int     `json:"streams"`
	Seconds    float64 `json:"seconds"`          // all of the transfer, by the clock
	Omitted    float64 `json:"omitted_seconds"`  // of them left out at the start
	Bytes      int64   `json:"bytes"`            // payload in both directions: the cost of the run
	RTTIdle    float64 `json:"rtt_idle_seconds"` // median
	RTTLoaded  float64 `json:"rtt_loaded_seconds"`
	FromTarget *Flow   `json:"from_target,omitempty"`
	ToTarget   *Flow   `json:"to_target,omitempty"`
}

// Refusal is a peer's answer that it won't be tested now.
type Refusal struct {
	Code       string  `json:"code"`
	RetryAfter float64 `json:"retry_after_seconds,omitempty"`
	Text       string  `json:"text,omitempty"`
}

// Flow is one direction of a run, from verified bytes over real elapsed time, the start left out.
type Flow struct {
	Median float64 `json:"median_second_bytes_per_second"`
	// Best is the mean of the best BestSeconds (10, or what a shortened test has).
	Best        float64 `json:"best_window_bytes_per_second"`
	BestSeconds float64 `json:"best_window_seconds"`
	Mean        float64 `json:"mean_bytes_per_second"`
	// Series has a rate for each second, those left out of the figures included.
	Series []float64 `json:"series_bytes_per_second,omitempty"`
}
