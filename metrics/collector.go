package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/assay-mux/assay/mux"
)

// Collector is a prometheus.Collector over the snapshots of a [Source]. Make
// one with [NewCollector]. It is safe for concurrent use; scrapes take turns.
//
// Two collectors fit into one registry if prometheus.WrapRegistererWith gives
// each a label of its own.
type Collector struct {
	src    Source
	tables *tables

	// Guards books, and lets scrapes take turns: snapshots older than those last
	// booked would look like connections that began anew. Held while the Source
	// lists its peers, never while metrics are handed over.
	mu    sync.Mutex
	books *books
}

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector returns a collector over the peers of src. A nil src has none.
func NewCollector(src Source, opts ...Option) *Collector {
	o := options{top: defaultTop}
	for _, opt := range opts {
		opt(&o)
	}
	t := newTables(o)
	return &Collector{src: src, tables: t, books: newBooks(t.counters, o.perPeer > 0)}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range c.tables.families() {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector. It asks the Source once.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, m := range c.scrape() {
		ch <- m
	}
}

// Retire adds what m has counted since the last scrape, or ever if no scrape
// saw it, to the totals. Without it the end of a connection, and all of one too
// short to be scraped, is missing from them. Call it once, after the connection
// has closed and the Source lists it no more, and not under a lock that the
// Source takes. A nil m is ignored.
func (c *Collector) Retire(m *mux.Meter) {
	if m == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := m.Snapshot()
	c.books.retire(m, &s)
}

// scrape returns the metrics of now.
func (c *Collector) scrape() []prometheus.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	var peers []Peer
	ranked := false
	if c.src != nil {
		peers = c.src.Peers()
		if r, ok := c.src.(Ranked); ok {
			ranked = r.Ranked()
		}
	}
	c.books.take(peers)
	out := c.tables.show(rank(peers, ranked), c.books)
	if c.tables.ranker != nil {
		out = append(out, c.tables.ranker.show(c.tables.options.ranker.Ranking())...)
	}
	if src := c.tables.options.campaign; src != nil {
		out = append(out, showCampaign(c.tables.campaign, src.Campaign())...)
	}
	return out
}
