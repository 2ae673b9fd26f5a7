package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-mux/assay/audit/speedtest/passive"
)

// Columns of a CSV file, by name and in any order. The first three must be there; the name may also
// be called relay, as in Tor's study. Others are ignored.
const (
	columnName         = "peer"
	columnBefore       = "advertised_before_bytes_per_second"
	columnAfter        = "advertised_after_bytes_per_second"
	columnWeightBefore = "weight_before"
	columnWeightAfter  = "weight_after"
)

// ReadCSV reads what peers advertised before and after somebody's speed test, one peer a row below a
// row of names. What a peer advertises after it is taken for its capacity. A row that has one of the
// two figures 0 stays, and its peer is pending: it has no error. The error is ErrEmpty, ErrFormat or
// the reader's.
func ReadCSV(r io.Reader) (*Document, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return nil, csvError(err)
	}
	// Spreadsheets put a byte order mark before the first name.
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	columns, err := findColumns(head)
	if err != nil {
		return nil, err
	}
	doc := &Document{Format: Format, CapacityFrom: FromPublished}
	seen := map[string]bool{}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return doc.finish()
		}
		if err != nil {
			return nil, csvError(err)
		}
		p, err := columns.peer(record)
		if err == nil && seen[p.Name] {
			err = fmt.Errorf("peer %q is there twice", p.Name)
		}
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("%w: line %d: %w", ErrFormat, line, err)
		}
		seen[p.Name] = true
		doc.Peers = append(doc.Peers, p)
	}
}

func csvError(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrEmpty
	}
	if errors.As(err, new(*csv.ParseError)) {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return err
}

// columns are where the fields of a row are, -1 for one that is not there.
type columns struct{ name, before, after, weightBefore, weightAfter int }

func findColumns(head []string) (columns, error) {
	find := func(name string) int { return slices.Index(head, name) }
	c := columns{find(columnName), find(columnBefore), find(columnAfter), find(columnWeightBefore), find(columnWeightAfter)}
	if c.name < 0 {
		c.name = find("relay")
	}
	if min(c.name, c.before, c.after) < 0 {
		return c, fmt.Errorf("%w: the first line has to name the columns %s, %s and %s", ErrFormat, columnName, columnBefore, columnAfter)
	}
	return c, nil
}

func (c columns) peer(record []string) (Peer, error) {
	var values [4]float64
	for i, at := range []int{c.before, c.after, c.weightBefore, c.weightAfter} {
		if at < 0 {
			continue
		}
		v, err := strconv.ParseFloat(record[at], 64)
		if err != nil || v < 0 || v > most || math.IsNaN(v) {
			return Peer{}, fmt.Errorf("%q is no figure", record[at])
		}
		values[i] = v
	}
	p := Peer{Name: record[c.name], Outcome: Measured, Capacity: values[1], Published: []Published{
		{Phase: Before, Weight: values[2], Figures: passive.Figures{Advertised: int64(values[0])}},
		{Phase: After, Weight: values[3], Figures: passive.Figures{Advertised: int64(values[1])}},
	}}
	if values[0] == 0 || values[1] == 0 {
		p.Outcome, p.Capacity = Pending, 0
	}
	return p, p.check()
}
