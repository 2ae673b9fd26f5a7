package cast

import (
	"net/netip"
	"slices"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/ranking"
)

// The sizes of the data, in bytes. Wanted is what a user fetches; fillers are
// what a padder serves fast so that its rate looks good.
const (
	wantedSize = 256_000
	fillerSize = 1_000_000
)

// Member is one peer of the cast, and the truth about it.
type Member struct {
	Name   string
	Kind   string // what it really is, for people
	Honest bool
	// Addr is the address it joins with, in a documentation range: each is a
	// group of its own.
	Addr   netip.Addr
	Rate   lab.BitRate // of its line
	RTT    time.Duration
	Behave behave.Behaviour
	// Verdicts may stand against it at the end, and Causes are the right ones.
	Verdicts []audit.Kind
	Causes   []Cause
}

// Members are the cast. Their true times are well apart, so that a busy machine
// does not reorder them.
func Members() []Member {
	sound := []audit.Kind{audit.Clear}
	disk := []audit.Kind{audit.Clear, audit.Overclaims, audit.SlowToStart}
	served := []Cause{Delivery, Overclaim}
	group := func(s string) netip.Addr { return netip.MustParseAddr(s) }
	ms := time.Millisecond
	return []Member{
		{Name: "fast", Kind: "honest, fast", Honest: true, Addr: group("192.0.2.1"), Rate: 40 * lab.Mbit, RTT: 20 * ms,
			Verdicts: sound, Causes: served},
		{Name: "far", Kind: "honest, far", Honest: true, Addr: group("198.51.100.1"), Rate: 20 * lab.Mbit, RTT: 120 * ms,
			Verdicts: sound, Causes: served},
		{Name: "slow", Kind: "honest, slow line", Honest: true, Addr: group("203.0.113.1"), Rate: 2.5 * lab.Mbit, RTT: 30 * ms,
			Verdicts: sound, Causes: served},
		{Name: "disk", Kind: "honest, slow disk", Honest: true, Addr: group("2001:db8:1::1"), Rate: 20 * lab.Mbit, RTT: 30 * ms,
			Behave: behave.Behaviour{Disk: 150e3}, Verdicts: disk, Causes: served},
		{Name: "pacer", Kind: "bursts and silences", Addr: group("2001:db8:2::1"), Rate: 40 * lab.Mbit, RTT: 20 * ms,
			Behave: behave.Behaviour{Pace: behave.Pace{Bytes: 50e3, Every: 1050 * ms}}, Causes: []Cause{Silences, Overclaim, Withheld}},
		{Name: "padder", Kind: "fast filler, slow data", Addr: group("2001:db8:3::1"), Rate: 40 * lab.Mbit, RTT: 20 * ms,
			Behave: behave.Behaviour{Pad: behave.Pad{Rate: 200e3, To: wantedSize}}, Causes: []Cause{Withheld, Overclaim}},
		{Name: "loris", Kind: "slow-loris", Addr: group("2001:db8:4::1"), Rate: 40 * lab.Mbit, RTT: 20 * ms,
			Behave: behave.Behaviour{Drip: 16e3}, Causes: []Cause{Trickle, Overclaim, Withheld}},
		{Name: "liar", Kind: "understates sizes", Addr: group("2001:db8:5::1"), Rate: 30 * lab.Mbit, RTT: 20 * ms,
			Behave: behave.Behaviour{Understate: 4}, Causes: []Cause{Lie}},
	}
}

// link is the member's path.
func (m Member) link() lab.Link {
	return lab.Link{Rate: m.Rate, OneWay: m.RTT / 2, SlowStart: true, IdleRestart: true}
}

// Takes is how long a wanted datum takes from it in truth, on a warm connection.
func (m Member) Takes() time.Duration {
	path := ranking.Path{BaseRTT: m.RTT, Rate: burst.SecondsPerByte(8 / float64(m.Rate)), LastWindow: 1 << 20}
	return max(ranking.Predict(wantedSize, path).Total, m.RTT+m.Behave.Takes(wantedSize))
}

func (m Member) right(c Cause) bool { return slices.Contains(m.Causes, c) }
