package livepage

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// meter is that of a connection on which nothing is said.
func meter(t *testing.T) *mux.Meter {
	t.Helper()
	ours, theirs := net.Pipe()
	c := mux.Wrap(ours)
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	t.Cleanup(func() {
		c.Close()
		theirs.Close()
	})
	return c.Meter()
}

func names(v View) string {
	text := ""
	for _, p := range v.Peers {
		text += p.Name
		if p.ranked() {
			text += "*"
		}
		text += " "
	}
	return text
}

func TestFeed(t *testing.T) {
	var f Feed
	if v := f.View(); len(v.Peers) != 0 || v.Ranked {
		t.Errorf("of nothing: %+v", v)
	}
	a, b, again := meter(t), meter(t), meter(t)
	f.Add("b", b)
	f.Add("a", a)
	f.Add("b", again)
	if got := names(f.View()); got != "a b " {
		t.Errorf("peers %q", got)
	}
	f.Remove(b)
	if _, ok := f.Snapshot("b"); !ok {
		t.Error("b has a connection left, and no snapshot")
	}
	f.Remove(again)
	if _, ok := f.Snapshot("b"); ok {
		t.Error("a snapshot of b, that left")
	}
	f.Add("b", b)
	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Join(0, ranking.Peer{ID: "b", Addr: netip.MustParseAddr("192.0.2.1"), Meter: b}); err != nil {
		t.Fatal(err)
	}
	f.Tell(ranking.Event{Peer: "of another ranker"})
	f.Rank(r, func() time.Duration { return time.Second }, 77)
	v := f.View()
	if got := names(v); got != "b* a " || !v.Ranked || v.Size != 77 || v.Stats.Connected != 1 || len(v.FreeRates) == 0 || len(v.Events) != 0 {
		t.Errorf("peers %q, %+v", got, v)
	}
}

// TestFeedEvents: the newest are kept, with numbers that go on.
func TestFeedEvents(t *testing.T) {
	var f Feed
	for i := range 3 * mostEvents {
		f.Tell(ranking.Event{Peer: fmt.Sprint(i)})
	}
	v := f.View()
	if n := len(v.Events); n != mostEvents || v.Events[n-1].Peer != fmt.Sprint(3*mostEvents-1) || v.Events[0].Peer != fmt.Sprint(2*mostEvents) {
		t.Fatalf("%d events", n)
	}
	for i, e := range v.Events {
		if e.Number != uint64(2*mostEvents+i+1) {
			t.Errorf("event %d has number %d", i, e.Number)
		}
	}
	v.Events[0].Peer = "changed"
	if f.View().Events[0].Peer == "changed" {
		t.Error("a view holds the feed's own events")
	}
}

// TestFeedAtOnce is for the race detector.
func TestFeedAtOnce(t *testing.T) {
	var f Feed
	m := meter(t)
	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, do := range []func(){
		func() { f.Add("a", m) }, func() { f.Remove(m) }, func() { f.Tell(ranking.Event{}) }, func() { f.View() },
		func() { f.Snapshot("a") }, func() { f.Rank(r, func() time.Duration { return 0 }, 1) },
	} {
		wg.Go(func() {
			for range 50 {
				do()
			}
		})
	}
	wg.Wait()
}
