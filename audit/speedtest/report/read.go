package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Errors of reading. What wraps them says where, and what was expected.
var (
	ErrEmpty  = errors.New("report: no results in it")
	ErrFormat = errors.New("report: not the results of a speed test")
)

// Read reads results: documents, or peers one a line, in any mixture. Several results of one peer, by
// name, are put together; what is there twice counts once. Fields that are not known are refused, for
// what a misspelt field says would be lost. The error is ErrEmpty, ErrFormat or the reader's.
func Read(r io.Reader) (*Document, error) {
	doc := &Document{Format: Format, CapacityFrom: FromTest}
	dec := json.NewDecoder(r)
	for n := 1; ; n++ {
		var raw json.RawMessage
		switch err := dec.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return doc.finish()
		case errors.As(err, new(*json.SyntaxError)), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("%w: value %d: %w", ErrFormat, n, err)
		case err != nil:
			return nil, err
		}
		if err := doc.take(raw); err != nil {
			return nil, fmt.Errorf("%w: value %d: %w", ErrFormat, n, err)
		}
	}
}

// Merge puts the results of another document into d, as Read does with several in a file.
func (d *Document) Merge(other *Document) {
	d.Shortened = d.Shortened || other.Shortened
	if d.Tester == "" {
		d.Tester = other.Tester
	}
	d.Peers = append(d.Peers, other.Peers...)
	d.Peers = joinPeers(d.Peers)
}

func (d *Document) finish() (*Document, error) {
	if len(d.Peers) == 0 {
		return nil, ErrEmpty
	}
	d.Peers = joinPeers(d.Peers)
	return d, nil
}

// take adds one JSON value, a document or a peer.
func (d *Document) take(raw json.RawMessage) error {
	var probe struct {
		Format *int              `json:"format"`
		Peers  []json.RawMessage `json:"peers"`
	}
	if err := json.Unmarshal(raw, &probe); err != nil {
		return err
	}
	if probe.Format == nil {
		var p Peer
		if err := strictly(raw, &p); err != nil {
			return err
		}
		d.Peers = append(d.Peers, p)
		return p.check()
	}
	if *probe.Format != Format {
		return fmt.Errorf("its format is %d, this program reads %d", *probe.Format, Format)
	}
	var other Document
	if err := strictly(raw, &other); err != nil {
		return err
	}
	for i := range other.Peers {
		if err := other.Peers[i].check(); err != nil {
			return err
		}
	}
	if other.CapacityFrom != "" {
		d.CapacityFrom = other.CapacityFrom
	}
	d.Shortened = d.Shortened || other.Shortened
	d.Tester = other.Tester
	d.Peers = append(d.Peers, other.Peers...)
	return nil
}

func strictly(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// most bounds every figure, far beyond any link and any clock, so that no sum overflows.
const most = 1e15

// check refuses what cannot be: a peer without a name, and figures below zero or beyond most.
func (p *Peer) check() error {
	if p.Name == "" {
		return errors.New("a peer without a name")
	}
	for _, v := range p.figures() {
		if !(v >= 0 && v <= most) {
			return fmt.Errorf("peer %q has a figure of %g, it must be from 0 to %g", p.Name, v, most)
		}
	}
	return nil
}

// figures are all that is computed with.
func (p *Peer) figures() []float64 {
	all := []float64{p.Capacity, p.KnownCapacity}
	for _, f := range p.Published {
		all = append(all, f.At, f.Weight, float64(f.Advertised), float64(f.Observed), float64(f.ObservedWithoutTests))
	}
	for _, r := range p.Runs {
		all = append(all, r.Started, r.Capacity, r.Seconds, float64(r.Bytes))
	}
	if p.Passive != nil {
		all = append(all, p.Passive.Rate)
	}
	return all
}

// joinPeers puts the results of each peer together, in the order in which the peers first came.
func joinPeers(all []Peer) []Peer {
	at := make(map[string]int, len(all))
	var joined []Peer
	for _, p := range all {
		i, seen := at[p.Name]
		if !seen {
			at[p.Name] = len(joined)
			joined = append(joined, p)
			continue
		}
		joined[i] = join(joined[i], p)
	}
	for i := range joined {
		joined[i].sort()
		joined[i].Settle()
	}
	return joined
}

// join returns what two results say of one peer. The one that begins later decides what can change,
// but what was estimated passively is that from before the first test.
func join(a, b Peer) Peer {
	if b.began() < a.began() {
		a, b = b, a
	}
	if b.KnownCapacity == 0 {
		b.KnownCapacity = a.KnownCapacity
	}
	if a.Passive != nil {
		b.Passive = a.Passive
	}
	b.Published = append(slices.Clone(a.Published), b.Published...)
	b.Runs = append(slices.Clone(a.Runs), b.Runs...)
	return b
}

// began is the first instant that a result knows of, infinite if it knows none.
func (p *Peer) began() float64 {
	first := math.Inf(1)
	for _, f := range p.Published {
		first = min(first, f.At)
	}
	for _, r := range p.Runs {
		first = min(first, r.Started)
	}
	return first
}

// sort brings runs and figures in order of time, and drops what is there twice.
func (p *Peer) sort() {
	slices.SortStableFunc(p.Published, func(a, b Published) int { return compareFloats(a.At, b.At) })
	p.Published = slices.CompactFunc(p.Published, func(a, b Published) bool { return a == b })
	slices.SortStableFunc(p.Runs, func(a, b Run) int { return compareFloats(a.Started, b.Started) })
	p.Runs = slices.CompactFunc(p.Runs, func(a, b Run) bool {
		return a.Started == b.Started && a.Round == b.Round && a.Setup == b.Setup && a.Bytes == b.Bytes
	})
}
