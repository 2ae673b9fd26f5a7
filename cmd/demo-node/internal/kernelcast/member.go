package main

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/ranking"
)

// member is one peer of the cast, and the truth about it.
type member struct {
	name    string
	kind    string // what it really is, for people
	honest  bool
	rtt     time.Duration
	rate    lab.BitRate
	loss    float64
	control string // empty is the kernel's default
	behave  behave.Behaviour
	reasons []string // the right ones, of a bad peer
}

const ms = time.Millisecond

// The words for why a peer is where it is: a verdict of the audit, or what was
// seen of its fetches.
const (
	silent   = "silences"
	trickles = "trickle"
	claims   = "overclaims"
	withhold = "withholding"
	lies     = "proven lie"
	delivers = "delivery"
)

// members are the cast. The bad ones are on the near one's path, so that it is
// what they do that is found. All but the one that lies about sizes are truly
// slower than the honest.
func members() []member {
	return []member{
		{name: "near", kind: "honest, near", honest: true, rtt: 20 * ms, rate: 40 * lab.Mbit},
		{name: "far", kind: "honest, far", honest: true, rtt: 150 * ms, rate: 40 * lab.Mbit},
		{name: "slow", kind: "honest, slow line", honest: true, rtt: 30 * ms, rate: 4 * lab.Mbit},
		{name: "lossy", kind: "honest, loses 1 %, CUBIC", honest: true, rtt: 40 * ms, rate: 20 * lab.Mbit, loss: 0.01, control: "cubic"},
		{name: "disk", kind: "honest, cold cache", honest: true, rtt: 20 * ms, rate: 40 * lab.Mbit, behave: behave.Behaviour{Disk: 600e3, Delay: 10 * ms}},
		{name: "pacer", kind: "bursts and silences", rtt: 20 * ms, rate: 40 * lab.Mbit,
			behave: behave.Behaviour{Pace: behave.Pace{Bytes: 50e3, Every: 1050 * ms}}, reasons: []string{silent, claims, withhold}},
		{name: "padder", kind: "fast filler, slow data", rtt: 20 * ms, rate: 40 * lab.Mbit,
			behave: behave.Behaviour{Pad: behave.Pad{Rate: 150e3, To: largest}}, reasons: []string{claims, withhold}},
		{name: "loris", kind: "slow-loris", rtt: 20 * ms, rate: 40 * lab.Mbit,
			behave: behave.Behaviour{Drip: 30e3}, reasons: []string{trickles, claims, withhold}},
		{name: "liar", kind: "understates sizes", rtt: 20 * ms, rate: 40 * lab.Mbit,
			behave: behave.Behaviour{Understate: 4}, reasons: []string{lies}},
	}
}

func (m member) path() kernelpath.Path {
	return kernelpath.Symmetric(m.rtt, m.rate).WithLoss(kernelpath.Loss{Random: m.loss})
}

// addr is in a group of its own.
func addr(i int) netip.Addr { return netip.AddrFrom4([4]byte{198, 18, byte(i), 1}) }

// takes is how long a datum takes from it in truth, on a warm connection. CUBIC
// under loss sends what Mathis and others found (CCR 27(3), 1997).
func (m member) takes(size int64) time.Duration {
	rate := float64(m.rate) / 8
	if m.loss > 0 {
		rate = min(rate, 1448*1.22/(m.rtt.Seconds()*math.Sqrt(m.loss)))
	}
	path := ranking.Path{BaseRTT: m.rtt, Rate: burst.SecondsPerByte(1 / rate), LastWindow: 1 << 20}
	return max(ranking.Predict(size, path).Total, m.rtt+m.behave.Takes(size))
}

func (m member) right(reason string) bool { return slices.Contains(m.reasons, reason) }
