package metrics

import (
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestConcurrentScrapes scrapes from several registries while real sessions
// work and go. Whatever the order, no registry may see a counter fall, which it
// would if an old snapshot were booked after a newer one.
func TestConcurrentScrapes(t *testing.T) {
	const size, fetches = 50_000, 20
	src := new(crowd)
	staying, leaving := served(t, size), served(t, size)
	c := NewCollector(SourceFunc(func() []Peer {
		peers := []Peer{Of("staying", staying.Meter())}
		return append(peers, src.Peers()...)
	}), WithPerPeer(1))
	src.set(Of("leaving", leaving.Meter()))

	stop := make(chan struct{})
	var scrapers sync.WaitGroup
	for range 4 {
		scrapers.Go(func() { watch(t, c, stop) })
	}
	for i := range fetches {
		fetch(t, staying)
		if i == fetches/2 {
			fetch(t, leaving)
			src.set()
			leaving.Close()
			c.Retire(leaving.Meter())
		}
	}
	close(stop)
	scrapers.Wait()
	check(t, gather(t, c).series(), map[string]float64{payload: (fetches + 1) * size})
}

// watch scrapes until stopped, and once more, and reports a counter that fell.
func watch(t *testing.T, c *Collector, stop <-chan struct{}) {
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(c)
	last := 0.0
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		got, err := reg.Gather()
		if err != nil {
			t.Error(err)
			return
		}
		now := families(got).series()[payload]
		if now < last {
			t.Errorf("%s fell from %v to %v", payload, last, now)
		}
		last = now
	}
}

// TestSlowReader: a scrape whose reader has stopped holds up no other, nor the
// retiring of a connection.
func TestSlowReader(t *testing.T) {
	session := served(t, 1)
	c := NewCollector(of(Of("a", session.Meter())))
	stuck := make(chan prometheus.Metric)
	handed := make(chan struct{})
	go func() {
		c.Collect(stuck)
		close(stuck)
		close(handed)
	}()
	<-stuck // it is handing over now
	c.Retire(session.Meter())
	gather(t, c)
	for range stuck { // the rest, so that it ends
	}
	<-handed
}
