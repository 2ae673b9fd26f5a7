package ranking

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// Whatever is said and done, no more is kept than is promised; and what has ended is not kept.
func TestKeptWithinBounds(t *testing.T) {
	cfg := DefaultConfig()
	cfg.MaxPeers = 20
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Hour
	for i := range 3000 {
		now += time.Second
		name := fmt.Sprint("p", i)
		id, err := r.Join(now, Peer{ID: name, Meter: &gauge{}})
		if err != nil {
			t.Fatal(err)
		}
		datum := fmt.Sprint("d", i)
		_ = r.Offer(now, name, datum, Size{Bytes: 1e6})
		_ = r.Offer(now, name, "everybody's", Size{Bytes: int64(1e6 + i)})
		plan, err := r.Choose(now, Query{Datum: datum, Size: 1e6})
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.Begin(now, plan)
		if err != nil {
			t.Fatal(err)
		}
		if k := r.Kept(); k.Fetches != 1 || k.Conns != 1 {
			t.Fatalf("%+v with one fetch over one connection", k)
		}
		f.Fail(now+time.Millisecond, Reset)
		if err := r.Leave(now, id); err != nil {
			t.Fatal(err)
		}
		k, most := r.Kept(), cfg.MostKept()
		if k.Records > most.Records || k.Audited > k.Records || k.Sized > most.Sized || k.Claims > most.Claims ||
			k.Held > most.Held || k.Holders > most.Holders || k.Events > most.Events || k.Debts > most.Debts ||
			k.Pending > most.Pending || k.Fetches != 0 || k.Conns != 0 {
			t.Fatalf("after %d peers %+v, of %+v", i, k, most)
		}
	}
	if k := r.Kept(); k.Records != 20 || k.Sized == 0 || k.Claims == 0 {
		t.Errorf("%+v: the bounds were not put to the test", k)
	}
}

// The record of a peer whose fetch has not ended yet is kept: what that says would be said of nobody.
func TestNobodyIsForgottenInMidFetch(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.MaxPeers = 1 })
	a := w.add(&actor{id: "a", addr: in(1, 1), rate: 1e6, rtt: 20 * ms})
	f := w.started(a, Query{Size: 1e6})
	w.leave(a)
	b := Peer{ID: "b", Addr: in(1, 2), Meter: &gauge{}}
	if _, err := w.r.Join(w.now, b); !errors.Is(err, ErrFull) {
		t.Fatalf("in mid-fetch: %v", err)
	}
	f.Progress(w.now+time.Second, 1e6)
	f.Done(w.now+time.Second, 1e6)
	if _, err := w.r.Join(w.now+time.Second, b); err != nil {
		t.Fatal(err)
	}
	if k, g := w.r.Kept(), w.r.peers["b"].group; k.Records != 1 || k.Audited > 1 || g.proven != 0 {
		t.Errorf("%+v, %d proven", k, g.proven)
	}
}
