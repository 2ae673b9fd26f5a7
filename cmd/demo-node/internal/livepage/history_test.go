package livepage

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// columnsOf reads what a history writes.
func columnsOf(t interface{ Fatal(...any) }, text []byte) map[string][]*float64 {
	var c map[string][]*float64
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err, string(text))
	}
	return c
}

// TestHistoryRing: however many points came, the newest are there in order, all
// columns alike.
func TestHistoryRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3*historyLength).Draw(t, "points")
		most := rapid.IntRange(1, 2*historyLength).Draw(t, "most")
		var h history
		p := judged("a", time.Second)
		for i := range n {
			h.add(time.Duration(i)*time.Second, &p)
		}
		c := columnsOf(t, h.appendJSON(nil, most))
		want := min(n, most, historyLength)
		for name, values := range c {
			if len(values) != want {
				t.Fatalf("%s has %d points, want %d", name, len(values), want)
			}
		}
		for i, at := range c["at"] {
			if *at != float64(n-want+i) {
				t.Fatalf("point %d is at %g, want %d", i, *at, n-want+i)
			}
		}
	})
}

// TestHistoryFetches: each fetch shows in the second in which it was seen, and in
// no other.
func TestHistoryFetches(t *testing.T) {
	var h history
	a, b := judged("a", time.Second), judged("a", 3*time.Second)
	stranger := Peer{Name: "a"}
	for i, p := range []*Peer{&stranger, &a, &a, &b, &b, &a} {
		h.add(time.Duration(i)*time.Second, p)
	}
	c := columnsOf(t, h.appendJSON(nil, historyLength))
	for i, want := range []float64{0, 1, 0, 3, 0, 1} {
		got := c["actual"][i]
		if (got == nil) != (want == 0) || got != nil && *got != want {
			t.Errorf("second %d: actual %v, want %g", i, got, want)
		}
		if (c["residual"][i] == nil) != (want == 0) || (c["threshold"][i] == nil) != (want == 0) {
			t.Errorf("second %d: residual %v", i, c["residual"][i])
		}
	}
	if c["rate"][0] != nil || c["base"][0] != nil || *c["rate"][1] != 1e6 || *c["base"][1] < 0.0399 || *c["expected"][1] != 1 {
		t.Errorf("rates %v", c["rate"])
	}
}

// TestPastForgets: what is kept is bounded by the peers that are there.
func TestPastForgets(t *testing.T) {
	p := make(past)
	v := View{Peers: []Peer{judged("a", time.Second), judged("b", time.Second)}}
	p.add(0, &v)
	p.add(time.Second, &v)
	v.Peers = v.Peers[:1]
	p.add(2*time.Second, &v)
	if len(p) != 1 || len(p["a"].points) != 3 {
		t.Errorf("%v", p)
	}
	v.Peers = make([]Peer, mostPeers+5)
	for i := range v.Peers {
		v.Peers[i].Name = string(rune('A' + i))
	}
	p.add(3*time.Second, &v)
	if len(p) != mostPeers {
		t.Errorf("%d histories", len(p))
	}
}
