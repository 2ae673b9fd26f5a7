package livepage

import (
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/mux"
)

// frame is the whole state, as the page is sent it. Times are in seconds, rates
// in bytes per second, 0 is unknown.
type frame struct {
	Number uint64 `json:"number"`
	// Sent is when it was made, in milliseconds since 1970, for the page to tell
	// how old it is.
	Sent   float64 `json:"sent"`
	Ranked bool    `json:"ranked"`
	Size   int64   `json:"size"`
	// Hidden is how many peers are beyond what is shown.
	Hidden int     `json:"hidden"`
	Peers  table   `json:"peers"`
	Node   node    `json:"node"`
	Audit  charts  `json:"audit"`
	Events []event `json:"events"`
}

// row is a peer, as it is sent to who has it open.
type row struct {
	Peer  string  `json:"peer"`
	Group string  `json:"group,omitzero"`
	Base  float64 `json:"base"`
	P95   float64 `json:"p95"`
	Rate  float64 `json:"rate"`
	// Error is the standard error of the rate, as a share of it.
	Error    float64 `json:"error,omitzero"`
	Coverage int64   `json:"coverage"`
	// Claim is what the raw rate says of the size ranked for, Expected what ranks.
	Claim       float64 `json:"claim,omitzero"`
	Expected    float64 `json:"expected,omitzero"`
	Measured    float64 `json:"measured,omitzero"`
	Calibration float64 `json:"calibration,omitzero"`
	Penalty     float64 `json:"penalty,omitzero"`
	Completions int     `json:"completions,omitzero"`
	Failures    int     `json:"failures,omitzero"`
	Picked      int     `json:"picked,omitzero"`
	Bytes       int64   `json:"bytes,omitzero"`
	Verdict     string  `json:"verdict,omitzero"`
	Reason      string  `json:"reason,omitzero"`
	Bad         bool    `json:"bad,omitzero"` // the verdict is punitive
	Demoted     bool    `json:"demoted,omitzero"`
	Newcomer    bool    `json:"newcomer,omitzero"`
	Last        *last   `json:"last,omitempty"`
	Gate        string  `json:"gate"`
	// Closes is in how long the burst window closes unless it is extended.
	Closes float64 `json:"closes,omitzero"`
}

// last is the last fetch that the audit looked at: predicted against actual.
type last struct {
	Outcome   string  `json:"outcome"`
	Claim     float64 `json:"claim"`
	Actual    float64 `json:"actual"`
	Residual  float64 `json:"residual"`
	Threshold float64 `json:"threshold"`
	Gross     float64 `json:"gross"`
}

// node is what concerns all peers.
type node struct {
	Peers       int    `json:"peers"`
	Groups      int    `json:"groups"`
	Demoted     int    `json:"demoted"`
	Plans       uint64 `json:"plans"`
	Completions uint64 `json:"completions"`
	Failures    uint64 `json:"failures"`
	Hedges      uint64 `json:"hedges"`
	// Ours is the time in fetches that was our own doing.
	Ours float64 `json:"ours"`
	// Held says why verdicts are held, "" if they are not.
	Held string `json:"held"`
}

type event struct {
	Number uint64  `json:"number"`
	At     float64 `json:"at"`
	Kind   string  `json:"kind"`
	Peer   string  `json:"peer,omitzero"`
	Detail string  `json:"detail,omitzero"`
}

// newRows are those of the peers that are shown.
func newRows(v View) []row {
	rows := make([]row, min(len(v.Peers), mostPeers))
	for i := range rows {
		rows[i] = newRow(&v.Peers[i])
	}
	return rows
}

// newFrame puts a view together, of which rows are the peers.
func newFrame(number uint64, at time.Time, v View, rows []row) *frame {
	f := &frame{
		Number: number, Sent: float64(at.UnixMicro()) / 1e3, Ranked: v.Ranked, Size: v.Size,
		Hidden: len(v.Peers) - len(rows), Peers: newTable(rows),
		Node: newNode(v), Audit: newCharts(v), Events: make([]event, 0, len(v.Events)),
	}
	for _, e := range v.Events {
		f.Events = append(f.Events, event{e.Number, seconds(e.At), e.Kind.String(), e.Peer, e.Detail})
	}
	return f
}

// notHeld is what a ranker calls the cause where nothing is held.
const notHeld = "not_held"

func newNode(v View) node {
	s := v.Stats
	n := node{
		Peers: len(v.Peers), Groups: s.Groups, Demoted: s.Demoted, Plans: s.Plans, Completions: s.Completions,
		Failures: s.Failures, Hedges: s.Hedges, Ours: seconds(s.Ours), Held: s.Held,
	}
	if n.Held == notHeld {
		n.Held = ""
	}
	return n
}

func newRow(p *Peer) row {
	s := &p.Snapshot
	r := row{
		Peer: p.Name, Base: seconds(s.RTT.Base), P95: seconds(s.RTT.P95),
		Rate: brief(p.rate()), Error: relative(s.Estimate), Coverage: s.Estimate.Coverage,
		Gate: s.Burst.Gate.String(),
	}
	if s.Burst.Gate != burst.Idle {
		r.Closes = seconds(s.Burst.Deadline - s.At)
	}
	if p.ranked() {
		r.stand(p)
	}
	return r
}

// stand adds what the ranker thinks of the peer.
func (r *row) stand(p *Peer) {
	s := &p.Standing
	r.Group, r.Coverage = string(s.Group), s.Coverage
	if s.BaseRTT > 0 {
		r.Base, r.P95 = seconds(s.BaseRTT), seconds(s.HighRTT)
	}
	r.Claim, r.Expected, r.Measured = seconds(s.Claim), seconds(s.Expected), brief(s.Measured)
	r.Calibration, r.Penalty = brief(s.Calibration), brief(s.Penalty)
	r.Completions, r.Failures, r.Picked, r.Bytes = s.Completions, s.Failures, s.Picked, s.Bytes
	r.Demoted, r.Newcomer = s.Demoted, s.Newcomer
	r.Verdict, r.Reason, r.Bad = s.Verdict.Kind.String(), reason(s.Verdict), s.Verdict.Kind.Punitive()
	if f := s.Verdict.Latest; f.Outcome != audit.None {
		r.Last = &last{f.Outcome.String(), seconds(f.Claim), seconds(f.Actual), brief(f.Residual), brief(f.Threshold.Value), brief(f.Gross)}
	}
}

// reason is the verdict's, with the attribution if there is one.
func reason(v audit.Verdict) string {
	text := v.Reason()
	if v.EchoHolding {
		text += "; it holds its echoes, so that what looks like distance is its own doing"
	}
	return text
}

// relative is the standard error of a rate as a share of it.
func relative(e burst.Estimation) float64 {
	if e.Rate <= 0 {
		return 0
	}
	return brief(float64(e.StandardError / e.Rate))
}

// window is the burst window of one peer, for its own stream. Instants are in
// seconds since the connection began, not rounded to five digits, for they grow.
type window struct {
	At       float64           `json:"at"`
	Gate     string            `json:"gate"`
	Opened   float64           `json:"opened"`
	Last     float64           `json:"last"`
	Deadline float64           `json:"deadline"`
	Bytes    int64             `json:"bytes"`
	Covered  int64             `json:"covered"`
	Fetches  int               `json:"fetches"`
	Closed   map[string]uint64 `json:"closed"` // bursts by why they closed
	// All time since the first arrival, by whose it was.
	Tight   float64 `json:"tight"`
	Ours    float64 `json:"ours"`
	Peers   float64 `json:"peers"`
	Waiting float64 `json:"waiting"`
	// Cookies under way, and the age of the oldest.
	Outstanding int     `json:"outstanding"`
	FrontAge    float64 `json:"front"`
}

func newWindow(s mux.Snapshot) window {
	b := s.Burst
	w := window{
		At: s.At.Seconds(), Gate: b.Gate.String(), Opened: b.Opened.Seconds(), Last: b.Last.Seconds(), Deadline: b.Deadline.Seconds(),
		Bytes: b.Bytes, Covered: b.Covered, Fetches: s.Fetches, Closed: make(map[string]uint64, burst.Reasons),
		Tight: seconds(b.Tight), Ours: seconds(b.Ours), Peers: seconds(b.Peers), Waiting: seconds(b.Waiting),
		Outstanding: s.Outstanding, FrontAge: seconds(s.FrontAge),
	}
	for reason, n := range b.Bursts {
		w.Closed[burst.Reason(reason).String()] = n
	}
	return w
}
