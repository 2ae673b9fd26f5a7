package report

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// CastSchema names the layout of Cast, see Schema.
const CastSchema = "assay-demo-cast/1"

// Cast is the document that `cast --json` prints, in the units of Pair.
type Cast struct {
	Schema  string     `json:"schema"`
	Seconds float64    `json:"seconds"`
	Bytes   int64      `json:"bytes"`  // the size of datum that is ranked for
	Failed  *string    `json:"failed"` // what is not as it must be; null if all is
	Peers   []CastPeer `json:"peers"`  // the best first
}

// CastPeer is a peer at the end, beside the truth about it.
type CastPeer struct {
	Rank int `json:"rank"`
	Standing
	Kind        string  `json:"kind"` // the truth
	Honest      bool    `json:"honest"`
	TrueSeconds float64 `json:"true_seconds"` // that such a datum takes from it
	UserFetches int     `json:"user_fetches"`
	Cause       string  `json:"cause"`
	Reason      string  `json:"reason"`
}

// WriteJSON prints the document, the only one.
func (c *Cast) WriteJSON(w io.Writer) error { return writeJSON(w, c) }

// WriteTable prints the document for people.
func (c *Cast) WriteTable(w io.Writer) error {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.line("")
	t.ragged("rank", "peer", "what it is", "truly", "expected", "rate", "picked", "users", "standing", "verdict")
	for _, p := range c.Peers {
		t.ragged(strconv.Itoa(p.Rank), p.Peer, p.Kind, sec(p.TrueSeconds), sec(p.ExpectedSeconds), number(p.MbitPerSecond)+" Mbit/s",
			strconv.Itoa(p.Picked), strconv.Itoa(p.UserFetches), p.state(), p.Verdict)
	}
	t.line("")
	for _, p := range c.Peers {
		t.ragged(p.Peer, fmt.Sprintf("%s: %s", p.Cause, p.Reason))
	}
	t.line("")
	if c.Failed == nil {
		t.line("Honest peers are in order of their true times for %s, bad ones below all that are faster, for the right reasons.", Decimal(c.Bytes))
	}
	return t.flush()
}
