package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// WriteTable prints the document for people.
func (p *Pair) WriteTable(w io.Writer) error {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	for i, r := range p.Runs {
		if i > 0 {
			t.row()
		}
		p.run(t, i, r)
	}
	t.line("")
	for i, r := range p.Runs {
		t.line("%s", r.verdict(i+1))
	}
	if p.Speedtest != nil {
		t.line("%s", tested(p.Speedtest))
	}
	return t.flush()
}

// table gathers rows and the first error.
type table struct {
	w   *tabwriter.Writer
	err error
}

// row writes cells, the last of which ends its column too.
func (t *table) row(cells ...string) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.w, strings.Join(append(cells, ""), "\t"))
	}
}

// ragged writes cells, the last of which is as wide as it is.
func (t *table) ragged(cells ...string) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.w, strings.Join(cells, "\t"))
	}
}

// line writes a line across all columns.
func (t *table) line(format string, args ...any) {
	if t.flush() == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

func (t *table) flush() error {
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}

// measure is a row of the upper table: a name, the truth, and what each peer's
// meter says.
type measure struct {
	name, truth string
	value       func(Peer) string
}

func (p *Pair) run(t *table, i int, r Run) {
	t.line("Run %d: %s, %s a stream. %s in %.1f s.", i+1, r.Name, Binary(r.StreamWindowBytes), Decimal(r.bytes()), r.Seconds)
	t.line("")
	head := []string{"", "truth"}
	for _, peer := range r.Peers {
		head = append(head, fmt.Sprintf("%s, seen by %s", peer.Peer, peer.Node))
	}
	t.row(head...)
	for _, m := range measures(p.Link) {
		cells := []string{m.name, m.truth}
		for _, peer := range r.Peers {
			cells = append(cells, m.value(peer))
		}
		t.row(cells...)
	}
	t.line("")
	fetches(t, r)
}

func measures(truth Link) []measure {
	return []measure{
		{"RTT base", ms(&truth.RTTSeconds), func(p Peer) string { return ms(p.RTT.BaseSeconds) + percent(p.RTT.BaseErrorPercent) }},
		{"RTT p50, p95", "", func(p Peer) string { return ms(p.RTT.P50Seconds) + ", " + ms(p.RTT.P95Seconds) }},
		{"RTT loaded p50, p95", "", func(p Peer) string { return ms(p.RTT.LoadedP50Seconds) + ", " + ms(p.RTT.LoadedP95Seconds) }},
		{"burst rate, Mbit/s", fmt.Sprintf("%.4g", truth.MbitPerSecond), func(p Peer) string { return number(p.Rate.MbitPerSecond) + percent(p.Rate.ErrorPercent) }},
		{"standard error", "", func(p Peer) string { return number(p.Rate.StandardErrorMbitPerSecond) }},
		{"coverage", "", func(p Peer) string { return Decimal(p.Rate.CoverageBytes) }},
		{"time: tight", "", func(p Peer) string { return sec(p.Time.TightSeconds) }},
		{"the peer's", "", func(p Peer) string { return sec(p.Time.PeersSeconds) }},
		{"ours", "", func(p Peer) string { return sec(p.Time.OursSeconds) }},
		{"of it window full", "", func(p Peer) string { return sec(p.Time.CreditSeconds) }},
		{"not reading", "", func(p Peer) string { return sec(p.Time.AbsentSeconds + p.Time.FrozenSeconds) }},
	}
}

func fetches(t *table, r Run) {
	t.row("fetched by", "size", "predicted", "actual", "")
	for _, peer := range r.Peers {
		for _, f := range peer.Fetches {
			t.row(append([]string{peer.Node}, f.cells()...)...)
		}
	}
}

// cells are the size and the times.
func (f Fetch) cells() []string {
	predicted := "-"
	if f.PredictedSeconds != nil {
		predicted = fmt.Sprintf("%.3f s", *f.PredictedSeconds)
	}
	return []string{Decimal(f.Bytes), predicted, fmt.Sprintf("%.3f s", f.ActualSeconds), strings.TrimSpace(percent(f.ErrorPercent))}
}

// verdict is what a run came to, in a line.
func (r Run) verdict(i int) string {
	var rtt, rate, credit float64
	for _, p := range r.Peers {
		if p.RTT.BaseErrorPercent == nil || p.Rate.ErrorPercent == nil {
			return fmt.Sprintf("Run %d: too little was carried to tell.", i)
		}
		rtt = max(rtt, math.Abs(*p.RTT.BaseErrorPercent))
		rate = max(rate, math.Abs(*p.Rate.ErrorPercent))
		credit = max(credit, p.Time.CreditSeconds)
	}
	return fmt.Sprintf("Run %d: base RTT within %.1f %% of the truth, burst rate within %.1f %%; our own full window held a peer up for %.1f s.",
		i, rtt, rate, credit)
}

func (r Run) bytes() (total int64) {
	for _, p := range r.Peers {
		for _, f := range p.Fetches {
			total += f.Bytes
		}
	}
	return total
}
