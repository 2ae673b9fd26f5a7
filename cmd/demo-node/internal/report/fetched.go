package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// FetchSchema names the layout of Fetched, see Schema.
const FetchSchema = "assay-demo-fetch/1"

// Fetched is the document that `fetch --json` prints, in the units of Pair.
type Fetched struct {
	Schema string    `json:"schema"`
	Kept   int       `json:"already_there"` // files not fetched, because they were there
	Failed []Failure `json:"failed"`
	Peer   Peer      `json:"peer"`
}

// Failure is a file that could not be had.
type Failure struct {
	Hash    wire.Hash `json:"hash"`
	Bytes   int64     `json:"bytes"` // as advertised
	Seconds float64   `json:"seconds"`
	Error   string    `json:"error"`
}

// WriteJSON prints the document, the only one.
func (f *Fetched) WriteJSON(w io.Writer) error { return writeJSON(w, f) }

// WriteTable prints the document for people.
func (f *Fetched) WriteTable(w io.Writer) error {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	if len(f.Peer.Fetches) > 0 {
		f.table(t)
	}
	fetched := Run{Peers: []Peer{f.Peer}}
	t.line("%s fetched: %s. Already there: %d. Failed: %d.", count(len(f.Peer.Fetches), "file"), Decimal(fetched.bytes()), f.Kept, len(f.Failed))
	return t.flush()
}

func (f *Fetched) table(t *table) {
	t.row("hash", "size", "predicted", "actual", "")
	for _, one := range f.Peer.Fetches {
		t.row(append([]string{one.Hash.Short()}, one.cells()...)...)
	}
	t.line("")
	t.row("", f.Peer.Peer)
	for _, m := range measures(Link{}) {
		t.row(m.name, m.value(f.Peer))
	}
	t.line("")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
