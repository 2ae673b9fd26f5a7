package report

import (
	"encoding/json"
	"io"
	"math"
	"time"

	speed "github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/mux"
)

// Schema names the document's layout; it changes only with the meaning of a
// field. Fields may be added.
const Schema = "assay-demo-pair/1"

// Pair is the document that `pair --json` prints. Times are in seconds, sizes
// in bytes, rates in 10^6 bits a second, errors in percent of the truth, signed.
// What is unknown is null.
type Pair struct {
	Schema      string `json:"schema"`
	Link        Link   `json:"link"` // the truth
	TLS         bool   `json:"tls"`
	HTTPAddress string `json:"http_address"`
	Bytes       int64  `json:"bytes"` // of all runs and both ways
	Files       int    `json:"files"` // transfers, of all runs and both ways
	Runs        []Run  `json:"runs"`
	// Speedtest is what a found when it tested b, nil if it did not.
	Speedtest *speed.Peer `json:"speedtest,omitempty"`
}

// Link is what the relay was set to.
type Link struct {
	MbitPerSecond float64 `json:"mbit_per_second"` // each way, headers included
	RTTSeconds    float64 `json:"rtt_seconds"`
	SlowStart     bool    `json:"slow_start"`
}

// Run is one connection, on which both nodes fetched.
type Run struct {
	Name              string  `json:"name"`
	StreamWindowBytes int64   `json:"stream_window_bytes"`
	Seconds           float64 `json:"seconds"`
	Peers             []Peer  `json:"peers"`
}

// Peer is what a node makes of its peer.
type Peer struct {
	Node string `json:"node"` // who measured; empty where it is this node
	Peer string `json:"peer"` // whom
	RTT  RTT    `json:"rtt"`
	Rate Rate   `json:"rate"`
	Time Time   `json:"time"`

	Fetches []Fetch `json:"fetches"` // those that succeeded, in order
}

// RTT is the round trip, by mux.RTT.
type RTT struct {
	BaseSeconds      *float64 `json:"base_seconds"`
	BaseErrorPercent *float64 `json:"base_error_percent"` // against the link's
	P50Seconds       *float64 `json:"p50_seconds"`
	P95Seconds       *float64 `json:"p95_seconds"`
	LoadedP50Seconds *float64 `json:"loaded_p50_seconds"` // of echoes that waited in a send queue
	LoadedP95Seconds *float64 `json:"loaded_p95_seconds"`
	Samples          uint64   `json:"samples"`
	LoadedSamples    uint64   `json:"loaded_samples"`
	Unanswered       uint64   `json:"unanswered"`
}

// Rate is the burst rate of payload, by burst.Estimation.
type Rate struct {
	MbitPerSecond              *float64 `json:"mbit_per_second"`
	ErrorPercent               *float64 `json:"error_percent"` // against the link's
	StandardErrorMbitPerSecond *float64 `json:"standard_error_mbit_per_second"`
	CoverageBytes              int64    `json:"coverage_bytes"`
	Bursts                     uint64   `json:"bursts"`
}

// Time is all time since the first payload, by whose it was, and our own part
// by cause. A moment with two causes counts under both.
type Time struct {
	TightSeconds   float64 `json:"tight_seconds"`
	OursSeconds    float64 `json:"ours_seconds"`
	PeersSeconds   float64 `json:"peers_seconds"`
	WaitingSeconds float64 `json:"waiting_seconds"`

	CreditSeconds float64 `json:"ours_credit_seconds"`
	AbsentSeconds float64 `json:"ours_absent_seconds"`
	FrozenSeconds float64 `json:"ours_frozen_seconds"`
}

// Fetch is one file.
type Fetch struct {
	Hash             wire.Hash `json:"hash"`
	Bytes            int64     `json:"bytes"`
	PredictedSeconds *float64  `json:"predicted_seconds"` // null before there is a rate
	ActualSeconds    float64   `json:"actual_seconds"`
	FirstByteSeconds float64   `json:"first_byte_seconds"`
	ErrorPercent     *float64  `json:"error_percent"` // actual against predicted
}

// Seconds is a duration in seconds, to the microsecond.
func Seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e6 }

// known is a duration in seconds, nil for 0.
func known(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	s := Seconds(d)
	return &s
}

// NewFetch reports a fetch; a prediction of 0 is none.
func NewFetch(o wire.Offer, predicted, first, whole time.Duration) Fetch {
	f := Fetch{Hash: o.Hash, Bytes: o.Size, ActualSeconds: Seconds(whole), FirstByteSeconds: Seconds(first)}
	if predicted > 0 {
		f.PredictedSeconds = known(predicted)
		f.ErrorPercent = off(&f.ActualSeconds, *f.PredictedSeconds)
	}
	return f
}

// NewPeer reports what a meter has seen. The errors are filled in by Pair.Add.
func NewPeer(node, peer string, s mux.Snapshot, fetches []Fetch) Peer {
	if fetches == nil {
		fetches = []Fetch{} // a list in the document, though empty
	}
	return Peer{
		Node: node, Peer: peer, Fetches: fetches, Rate: newRate(s),
		RTT: RTT{
			BaseSeconds: known(s.RTT.Base), P50Seconds: known(s.RTT.P50), P95Seconds: known(s.RTT.P95),
			LoadedP50Seconds: known(s.RTT.LoadedP50), LoadedP95Seconds: known(s.RTT.LoadedP95),
			Samples: s.RTT.Samples, LoadedSamples: s.RTT.LoadedSamples, Unanswered: s.RTT.Censored,
		},
		Time: Time{
			TightSeconds: Seconds(s.Burst.Tight), OursSeconds: Seconds(s.Burst.Ours),
			PeersSeconds: Seconds(s.Burst.Peers), WaitingSeconds: Seconds(s.Burst.Waiting),
			CreditSeconds: Seconds(s.Gaps.Credit), AbsentSeconds: Seconds(s.Gaps.Absent), FrozenSeconds: Seconds(s.Gaps.Frozen),
		},
	}
}

func newRate(s mux.Snapshot) Rate {
	e := s.Estimate
	r := Rate{CoverageBytes: e.Coverage, Bursts: e.Bursts}
	if e.Rate > 0 {
		mbit := round(8 / float64(e.Rate) / 1e6)
		// The slope's relative error is the rate's, as long as it is small.
		se := round(mbit * float64(e.StandardError/e.Rate))
		r.MbitPerSecond, r.StandardErrorMbitPerSecond = &mbit, &se
	}
	return r
}

// Add appends a run, holding its readings against the link's truth.
func (p *Pair) Add(r Run) {
	for i := range r.Peers {
		peer := &r.Peers[i]
		peer.RTT.BaseErrorPercent = off(peer.RTT.BaseSeconds, p.Link.RTTSeconds)
		peer.Rate.ErrorPercent = off(peer.Rate.MbitPerSecond, p.Link.MbitPerSecond)
		for _, f := range peer.Fetches {
			p.Bytes += f.Bytes
			p.Files++
		}
	}
	p.Runs = append(p.Runs, r)
}

// off is by how many percent a value is off the truth; nil where either is
// unknown.
func off(value *float64, truth float64) *float64 {
	if value == nil || truth == 0 {
		return nil
	}
	e := round((*value/truth - 1) * 100)
	return &e
}

func round(v float64) float64 { return math.Round(v*1e3) / 1e3 }

// WriteJSON prints the document, the only one.
func (p *Pair) WriteJSON(w io.Writer) error { return writeJSON(w, p) }

func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
