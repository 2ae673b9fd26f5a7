package ranking

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func names(d []Departure) []string {
	var out []string
	for _, x := range d {
		out = append(out, x.Peer)
	}
	return out
}

// The worst fifth in an hour, withholders and liars first, then the slowest.
func TestChurn(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.add(&actor{id: fmt.Sprintf("peer %02d", i), addr: in(i, 1), rate: 1e7 * math.Pow(0.8, float64(i)), rtt: 20 * ms})
	}
	for range 2 {
		for _, a := range w.order {
			w.from(a, 1e6)
		}
	}
	w.order[0].lies = 5
	w.run(w.fetchPlan(1e6), 1e6)
	got := names(w.r.Churn(w.now))
	if fmt.Sprint(got) != "[peer 00 peer 19 peer 18 peer 17]" {
		t.Errorf("%v", got)
	}
	if again := w.r.Churn(w.now + time.Minute); len(again) != 0 {
		t.Errorf("%v within the hour", names(again))
	}
	later := w.r.Churn(w.now + 2*time.Hour)
	if len(later) != 4 || !strings.Contains(later[0].Reason, "proven lie") || !strings.Contains(later[1].Reason, "slowest") {
		t.Errorf("%+v", later)
	}
}

func TestChurnSparesAndTies(t *testing.T) {
	w := newWorld(t)
	for i := range 10 { // all alike; the last four of one group
		g := i
		if i >= 6 {
			g = 77
		}
		w.add(&actor{id: fmt.Sprint("peer ", i), addr: in(g, i), rate: 1e7, rtt: 20 * ms})
	}
	for range 2 {
		for _, a := range w.order {
			w.now += 10 * time.Second
			w.from(a, 1e6)
		}
	}
	newcomer := w.add(&actor{id: "newcomer", addr: in(90, 1), rate: 1e4, rtt: 500 * ms})
	if err := w.r.Pin(w.now, "peer 9", true); err != nil {
		t.Fatal(err)
	}
	got := names(w.r.Churn(w.now))
	if len(got) != 2 {
		t.Fatalf("%v", got)
	}
	for _, id := range got {
		if w.r.peers[id].group.name != w.r.peers["peer 8"].group.name {
			t.Errorf("%s is not of the crowded group", id)
		}
		if id == "peer 9" || id == newcomer.id {
			t.Errorf("%s is pinned, or too new", id)
		}
	}
}

// What was dropped at once counts in the fifth, not beyond it; and a dry run proposes and counts
// nothing.
func TestChurnCountsDrops(t *testing.T) {
	for _, dry := range []bool{false, true} {
		w := served(t, 10, 1e6, func(c *Config) { c.Dry = dry })
		f := w.started(w.order[3], Query{Size: 1e6})
		f.Fail(w.now+time.Minute, TimedOut)
		want := 1
		if dry {
			want = 2
		}
		if got := w.r.Churn(w.now); len(got) != want || got[0].Dry != dry {
			t.Errorf("dry %v: %+v", dry, got)
		}
		if got := w.r.Churn(w.now); (len(got) > 0) != dry {
			t.Errorf("dry %v, again: %+v", dry, got)
		}
	}
}

func TestChurnOfFew(t *testing.T) {
	w := newWorld(t)
	if got := w.r.Churn(0); got != nil {
		t.Errorf("%v", got)
	}
	w = served(t, 1, 1e6)
	if got := w.r.Churn(w.now); got != nil {
		t.Errorf("the only one: %v", got)
	}
	w = served(t, 3, 1e6)
	if got := w.r.Churn(w.now); len(got) != 1 {
		t.Errorf("of three: %v", got)
	}
	w = served(t, 3, 1e6, func(c *Config) { c.ChurnShare = 0 })
	if got := w.r.Churn(w.now); got != nil {
		t.Errorf("none is wanted: %v", got)
	}
}
