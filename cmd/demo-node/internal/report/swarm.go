package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// SwarmSchema names the layout of Swarm, see Schema.
const SwarmSchema = "assay-demo-fetch-peers/1"

// Swarm is the document that `fetch --peers --json` prints, in the units of Pair.
type Swarm struct {
	Schema string     `json:"schema"`
	Kept   int        `json:"already_there"` // data not fetched, because they were there
	Data   []Datum    `json:"data"`
	Bytes  int64      `json:"bytes"` // the size of datum that the peers are ranked for
	Peers  []Standing `json:"peers"` // the best first, then those that have left
}

// Datum is one datum and how it came.
type Datum struct {
	Hash             wire.Hash `json:"hash"`
	Bytes            int64     `json:"bytes"` // verified
	Seconds          float64   `json:"seconds"`
	PredictedSeconds *float64  `json:"predicted_seconds"` // by the first plan; null if there was none
	From             string    `json:"from"`              // who completed it
	Why              string    `json:"why"`
	Error            *string   `json:"error"` // null if it came
	Parts            []Part    `json:"parts"`
}

// Part is one peer's part in a datum.
type Part struct {
	Peer     string   `json:"peer"`
	Role     string   `json:"role"`
	Offset   int64    `json:"offset"`
	Bytes    int64    `json:"bytes"`
	Seconds  float64  `json:"seconds"`
	Troubles []string `json:"troubles"`
	Error    *string  `json:"error"` // null if it brought what was wanted
}

// WriteJSON prints the document, the only one.
func (s *Swarm) WriteJSON(w io.Writer) error { return writeJSON(w, s) }

// Came is how many files came.
func (s *Swarm) Came() int {
	n, _ := s.came()
	return n
}

func (s *Swarm) came() (files int, bytes int64) {
	for _, d := range s.Data {
		if d.Error == nil {
			files++
			bytes += d.Bytes
		}
	}
	return files, bytes
}

// WriteTable prints the document for people.
func (s *Swarm) WriteTable(w io.Writer) error {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	came, bytes := s.came()
	if len(s.Data) > 0 {
		t.row("hash", "size", "predicted", "actual", "", "from")
		for _, d := range s.Data {
			d.rows(t)
		}
		t.line("")
	}
	s.standings(t)
	t.line("%s fetched: %s. Already there: %d. Failed: %d.", count(came, "file"), Decimal(bytes), s.Kept, len(s.Data)-came)
	return t.flush()
}

// rows are the datum, and the parts that did not go smoothly.
func (d Datum) rows(t *table) {
	f := Fetch{Hash: d.Hash, Bytes: d.Bytes, PredictedSeconds: d.PredictedSeconds, ActualSeconds: d.Seconds}
	if d.PredictedSeconds != nil {
		f.ErrorPercent = off(&d.Seconds, *d.PredictedSeconds)
	}
	from := d.From
	if d.Error != nil {
		from = "failed"
	}
	t.row(append(append([]string{d.Hash.Short()}, f.cells()...), from)...)
	for _, p := range d.Parts {
		if p.Error == nil && len(p.Troubles) == 0 && p.Role == "primary" {
			continue
		}
		t.row("", Decimal(p.Bytes), "", sec(p.Seconds), p.Role, strings.Join(append([]string{p.Peer}, p.Troubles...), " "))
	}
}

func (s *Swarm) standings(t *table) {
	if len(s.Peers) == 0 {
		return
	}
	t.row("rank", "peer", fmt.Sprintf("expected for %s", Decimal(s.Bytes)), "Mbit/s", "RTT", "picked", "failed", "standing", "verdict")
	for i, p := range s.Peers {
		t.row(strconv.Itoa(i+1), p.Peer, sec(p.ExpectedSeconds), number(p.MbitPerSecond), ms(p.BaseRTTSeconds),
			strconv.Itoa(p.Picked), strconv.Itoa(p.Failures), p.state(), p.Verdict)
	}
	t.line("")
}
