package ranking

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// alike is a population of equals, each known by three completions of a size.
func alike(t *testing.T, size int64) *world {
	t.Helper()
	w := served(t, 8, size)
	w.now += time.Minute
	return w
}

// stranger adds a peer that nothing is known of but its round trip.
func (w *world) stranger(net, host int, rtt time.Duration) *actor {
	w.t.Helper()
	return w.add(&actor{id: fmt.Sprintf("stranger %d.%d", net, host), addr: in(net, host), rate: 1e7, rtt: rtt})
}

// A stranger is expected to be like the others, and not drawn in the place of one that is; but it
// is among its like.
func TestStrangersAreNotDrawn(t *testing.T) {
	w := alike(t, 16e6)
	var fresh []*actor
	for i := range 4 {
		fresh = append(fresh, w.stranger(90+i, 1, 20*ms))
	}
	if a, b := w.expect(fresh[0], 16e6), w.expect(w.order[0], 16e6); a > b*11/10 || a < b*10/11 {
		t.Fatalf("a stranger is expected in %v, others in %v: the test shows nothing", a, b)
	}
	drawn := func(q Query) (n int) {
		for range 500 {
			if p := w.choose(q); strings.HasPrefix(p.Primary.Peer, "stranger") {
				n++
			}
		}
		return n
	}
	if n := drawn(Query{Size: 16e6}); n != 0 {
		t.Errorf("strangers drawn %d times in 500", n)
	}
	var known []string
	for _, a := range w.order[:8] {
		known = append(known, a.id)
	}
	if n := drawn(Query{Size: 16e6, Exclude: known}); n != 500 {
		t.Errorf("drawn %d times in 500 where there are no others", n)
	}
}

// One completion and a stranger is none.
func TestOneCompletionIsEnough(t *testing.T) {
	w := alike(t, 1e6)
	a := w.stranger(90, 1, 20*ms)
	w.from(a, 1e6)
	w.now += time.Minute
	n := 0
	for range 900 {
		if w.choose(Query{Size: 1e6}).Primary.Peer == a.id {
			n++
		}
	}
	aboutShare(t, "choices of it", n, 900, 1.0/9)
}

// What those of a place did is expected of the next one from there, if it is worse than what anybody
// does; a good place makes no stranger better.
func TestStrangersOfASlowPlace(t *testing.T) {
	w := alike(t, 1e6)
	for host := range 2 {
		w.add(&actor{id: fmt.Sprint("slow ", host), addr: in(50, 1+host), rate: 1e5, rtt: 20 * ms})
		w.add(&actor{id: fmt.Sprint("fast ", host), addr: in(60, 1+host), rate: 1e8, rtt: 20 * ms})
	}
	for range 3 {
		for _, a := range w.order[8:] {
			w.from(a, 1e6)
			w.now += 10 * time.Second
		}
	}
	w.now += time.Minute
	slow, fast, other := w.stranger(50, 9, 20*ms), w.stranger(60, 9, 20*ms), w.stranger(70, 9, 20*ms)
	s, f, o := w.expect(slow, 1e6), w.expect(fast, 1e6), w.expect(other, 1e6)
	if s < 20*o || f != o {
		t.Errorf("strangers are expected in %v from a slow place, %v from a fast one, %v from an unknown one", s, f, o)
	}
	// Once something is known of it that is what counts.
	w.reads(slow, 1e7, 1e6)
	w.from(slow, 1e6)
	if got := w.expect(slow, 1e6); got > 2*o {
		t.Errorf("after a fast completion it is expected in %v", got)
	}
}

// A hedge goes to one that is known, of another place than those who were asked, though a stranger
// or a neighbour would be a hair sooner; and to whoever is left.
func TestHedgesGoToTheProven(t *testing.T) {
	w := alike(t, 1e6)
	neighbour := w.add(&actor{id: "neighbour", addr: in(0, 9), rate: 1.05e7, rtt: 18 * ms})
	for range 3 {
		w.from(neighbour, 1e6)
		w.now += 10 * time.Second
	}
	for i := range 4 {
		w.stranger(90+i, 1, 15*ms)
	}
	rescue := func() Pick {
		f := w.started(w.order[0], Query{Size: 1e6})
		f.Progress(w.now+20*ms, 1e4)
		silent(w.order[0], 2*time.Second, true)
		w.now += 2 * time.Second
		a := f.Advice(w.now)
		f.Abort(w.now)
		return a.To
	}
	if to := rescue(); !strings.HasPrefix(to.Peer, "peer") || to.Group == w.r.peers["neighbour"].group.name {
		t.Errorf("the hedge goes to %q", to.Peer)
	}
	for _, a := range w.order[1:8] {
		w.leave(a)
	}
	if to := rescue(); to.Peer == "" || strings.HasPrefix(to.Peer, "peer") {
		t.Errorf("where no other is left it goes to %q", to.Peer)
	}
}
