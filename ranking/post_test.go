package ranking

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Of equals the one that served is kept.
func TestWhoServedIsKept(t *testing.T) {
	w := alike(t, 1e6)
	for _, a := range w.order {
		a.answer = exact
	}
	first := w.fetch(1e6).plan
	if first.Why.Kept || first.Why.Band < 8 {
		t.Fatalf("%+v: the test shows nothing", first.Why)
	}
	for i := range 300 {
		w.now += 10 * time.Second
		if p := w.fetch(1e6).plan; p.Primary.Peer != first.Primary.Peer || !p.Why.Kept {
			t.Fatalf("fetch %d from %s: %s", i, p.Primary.Peer, p.Why)
		}
	}
}

// A plan that is not carried out, or that left no choice, keeps nobody, nor does a copy.
func TestWhoIsNotKept(t *testing.T) {
	w := alike(t, 1e6)
	held := func() (out []string) {
		for id, p := range w.r.peers {
			if p.post.held {
				out = append(out, id)
			}
		}
		return out
	}
	w.choose(Query{Size: 1e6})
	w.from(w.order[2], 1e6)
	if got := held(); len(got) > 0 {
		t.Errorf("%q is kept", got)
	}
	for range 20 {
		primary := w.fetch(1e6, func(q *Query) { q.Critical = true }).plan.Primary.Peer
		for _, id := range held() {
			if id != primary {
				t.Errorf("%s is kept where %s was chosen", id, primary)
			}
			w.r.peers[id].post = post{}
		}
		w.now += time.Second
	}
}

// Who is kept must go on serving as well as the best: what equals differ by is all it may take.
func TestWhoSlackensIsNotKept(t *testing.T) {
	for _, c := range []struct {
		slower float64
		kept   bool
	}{{1.005, true}, {1.3, false}} {
		w := alike(t, 1e6)
		a := w.actors[w.fetch(1e6).plan.Primary.Peer]
		was := w.r.peers[a.id].waits
		for i := range was.class {
			was.class[i].time *= c.slower
		}
		w.r.peers[a.id].waits = was
		w.r.touch(w.r.peers[a.id])
		n := 0
		for range 50 {
			if p := w.choose(Query{Size: 1e6}); p.Primary.Peer == a.id {
				n++
			}
		}
		if (n == 50) != c.kept {
			t.Errorf("%v times slower it is chosen %d times of 50", c.slower, n)
		}
	}
}

// Of two that were kept, one for small data and one for large, each keeps its own.
func TestEachSizeHasItsOwn(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.add(&actor{id: fmt.Sprint("near ", i), addr: in(40+i, 1), rate: 2.5e6, rtt: 10 * ms, answer: exact})
		w.add(&actor{id: fmt.Sprint("fast ", i), addr: in(50+i, 1), rate: 2e7, rtt: 80 * ms, answer: exact})
	}
	for range 4 {
		for _, a := range w.order {
			w.from(a, 8e3)
			w.from(a, 8e6)
			w.now += time.Second
		}
	}
	last := map[int64]string{}
	for i := range 40 {
		for _, size := range []int64{8e3, 8e6} {
			w.now += time.Second
			p := w.fetch(size).plan
			if i > 0 && p.Primary.Peer != last[size] {
				t.Fatalf("of %d bytes %s, then %s: %s", size, last[size], p.Primary.Peer, p.Why)
			}
			last[size] = p.Primary.Peer
		}
	}
	if last[8e3][:4] != "near" || last[8e6][:4] != "fast" {
		t.Errorf("%v: the test shows nothing", last)
	}
}

// exact serves as its link does when it has been idle.
func exact(a *actor, n int64, _ *rand.Rand) reply {
	return reply{first: a.rtt, last: Predict(n, a.path()).Total}
}

// What it may slacken by shrinks with time, to no less than what is chance.
func TestThePostWearsOut(t *testing.T) {
	var p post
	p.served(time.Hour, false)
	last := 0.025 + 1e-9
	for age := time.Duration(0); age < 3*time.Hour; age += time.Minute {
		x := p.within(time.Hour+age, 0.1)
		if x > last || x < 0.005-1e-9 {
			t.Fatalf("%v after %v, %v before", x, age, last)
		}
		if age == tenure && (x < 0.0124 || x > 0.0126) {
			t.Errorf("%v after a tenure", x)
		}
		last = x
		p.served(time.Hour+age, true)
	}
	if last > 0.005+1e-9 {
		t.Errorf("%v in the end", last)
	}
	if p.served(5*time.Hour, false); p.within(5*time.Hour, 0.1) != 0.025 {
		t.Error("a new draw is a new post")
	}
}
