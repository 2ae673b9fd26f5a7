package metrics

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/mux"
)

const payload = `assay_received_payload_bytes_total{counted="yes"}`

// TestCountersOutliveConnections walks through what may become of a
// connection; after each step the total is what ever came.
func TestCountersOutliveConnections(t *testing.T) {
	first, second := new(mux.Meter), new(mux.Meter)
	steps := []struct {
		name  string
		peers []Peer
		want  float64
	}{
		{"none yet", nil, 0},
		{"first", []Peer{{Name: "a", Meter: first, Snapshot: counting(1, 100)}}, 100},
		{"it counts on", []Peer{{Name: "a", Meter: first, Snapshot: counting(2, 150)}}, 150},
		{"an old snapshot of it", []Peer{{Name: "a", Meter: first, Snapshot: counting(1, 100)}}, 150},
		{"and a newer", []Peer{{Name: "a", Meter: first, Snapshot: counting(3, 160)}}, 160},
		{"listed twice", []Peer{{Meter: first, Snapshot: counting(4, 170)}, {Meter: first, Snapshot: counting(4, 170)}}, 170},
		{"another comes", []Peer{{Name: "a", Meter: first, Snapshot: counting(5, 180)}, {Name: "b", Meter: second, Snapshot: counting(1, 1000)}}, 1180},
		{"the first goes", []Peer{{Name: "b", Meter: second, Snapshot: counting(2, 1001)}}, 1181},
		{"all go", nil, 1181},
		{"one without a meter", []Peer{{Name: "c", Snapshot: counting(1, 10)}}, 1191},
		{"it reconnects and has counted less", []Peer{{Name: "c", Snapshot: counting(2, 7)}}, 1198},
		{"it reconnects and time shows it", []Peer{{Name: "c", Snapshot: counting(1, 8)}}, 1206},
		{"it reconnects under a meter", []Peer{{Name: "c", Meter: new(mux.Meter), Snapshot: counting(1, 9)}}, 1215},
		{"two of one name", []Peer{{Name: "d", Snapshot: counting(1, 1)}, {Name: "d", Snapshot: counting(1, 2)}}, 1218},
		{"both count on", []Peer{{Name: "d", Snapshot: counting(2, 2)}, {Name: "d", Snapshot: counting(2, 4)}}, 1221},
	}
	src := new(crowd)
	c := NewCollector(src)
	for _, s := range steps {
		src.set(s.peers...)
		if got := gather(t, c).series()[payload]; got != s.want {
			t.Errorf("%s: %s = %v, want %v", s.name, payload, got, s.want)
		}
	}
}

// link is a connection of the model below.
type link struct {
	peer Peer
	sent uint64
}

// TestTotalsAreExact lets connections come, count, reconnect and go in any
// order, with and without a meter, and compares each scrape with a plain sum.
func TestTotalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := new(crowd)
		c := NewCollector(src, WithPerPeer(3))
		var links []*link
		var want uint64
		names := rapid.SampledFrom([]string{"a", "b", "", "\xff"})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				links = append(links, &link{peer: Peer{Name: names.Draw(t, "name"), Meter: new(mux.Meter)}})
			case 1:
				if len(links) > 0 {
					links = links[1:]
				}
			case 2:
				if len(links) > 0 {
					links[0].peer.Meter, links[0].sent, links[0].peer.Snapshot.At = new(mux.Meter), 0, 0
				}
			}
			var peers []Peer
			for _, l := range links {
				grown := rapid.Uint64Range(0, 1000).Draw(t, "grown")
				want += grown
				l.sent += grown
				l.peer.Snapshot = counting(l.peer.Snapshot.At+time.Second, l.sent)
				peers = append(peers, l.peer)
			}
			src.set(peers...)
			c.scrape()
			if got := c.books.total[c.payloadIndex()]; got != want {
				t.Fatalf("total %d, want %d", got, want)
			}
			if len(c.books.entries) != len(links) || len(c.books.names) > len(links) {
				t.Fatalf("%d entries and %d names for %d connections", len(c.books.entries), len(c.books.names), len(links))
			}
		}
	})
}

// payloadIndex is where the counted payload stands in the books.
func (c *Collector) payloadIndex() int {
	n := 0
	for _, k := range c.tables.counters {
		if k.Name == "assay_received_payload_bytes_total" {
			break
		}
		n += len(k.series)
	}
	return n
}

// TestNoCounterFalls scrapes arbitrary snapshots of few names without meters,
// where what happened can't always be known: still nothing may fall.
func TestNoCounterFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := new(crowd)
		c := NewCollector(src)
		last := make([]uint64, len(c.books.total))
		for range rapid.IntRange(1, 10).Draw(t, "scrapes") {
			var peers []Peer
			for range rapid.IntRange(0, 4).Draw(t, "peers") {
				s := full()
				s.At = time.Duration(rapid.Int64Range(-5, 5).Draw(t, "at"))
				s.Counts.PayloadIn = rapid.Uint64().Draw(t, "payload") >> 8
				s.Gaps.Credit = time.Duration(rapid.Int64().Draw(t, "credit") >> 8)
				s.Cookies.Forged = rapid.Uint64Range(0, 3).Draw(t, "forged")
				peers = append(peers, Peer{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), Snapshot: s})
			}
			src.set(peers...)
			c.scrape()
			for i, v := range c.books.total {
				if v < last[i] {
					t.Fatalf("counter %d fell from %d to %d", i, last[i], v)
				}
				last[i] = v
			}
		}
	})
}

// TestBooksStayBounded runs far more connections through than are there at
// once.
func TestBooksStayBounded(t *testing.T) {
	src := new(crowd)
	c := NewCollector(src, WithPerPeer(10))
	for i := range 2000 {
		src.set(
			Peer{Name: string(rune('a' + i%26)), Meter: new(mux.Meter), Snapshot: counting(1, 1)},
			Peer{Name: string(rune('a' + i%7)), Snapshot: counting(time.Duration(i), uint64(i))},
		)
		c.scrape()
		if e, n := len(c.books.entries), len(c.books.names); e > 2 || n > 2 {
			t.Fatalf("scrape %d: %d entries and %d names for 2 connections", i, e, n)
		}
	}
}
