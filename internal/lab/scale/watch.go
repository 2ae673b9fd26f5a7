//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
	"github.com/assay-mux/assay/metrics"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// watch scrapes and chooses while others fetch.
type watch struct {
	end     chan struct{}
	wg      sync.WaitGroup
	scrapes []time.Duration
	choices []time.Duration
}

// source lists the peers, with snapshots of the moment it is asked.
type source struct {
	host  *kernelstudy.Host
	peers []metrics.Peer // those of the last scrape, whose place the next takes
}

func (s *source) Peers() []metrics.Peer {
	for i := range s.peers {
		p := &s.peers[i]
		p.Snapshot = p.Meter.Snapshot()
	}
	return s.peers
}

func (s *source) Ranking() metrics.Ranking {
	return metrics.OfRanker(s.host.Ranker, s.host.Now(), 64<<10, 10)
}

func startWatch(h *kernelstudy.Host, all []*mux.Session) *watch {
	w := &watch{end: make(chan struct{})}
	handler := newHandler(h, all)
	w.wg.Go(func() { w.run(h, handler) })
	return w
}

// newHandler is a node's page of metrics.
func newHandler(h *kernelstudy.Host, all []*mux.Session) http.Handler {
	src := &source{host: h}
	for i, s := range all {
		src.peers = append(src.peers, metrics.Peer{Name: name(i), Meter: s.Meter()})
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(metrics.NewCollector(src, metrics.WithRanker(src)))
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.PanicOnError})
}

// run scrapes once a second and makes choices in between.
func (w *watch) run(h *kernelstudy.Host, handler http.Handler) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-w.end:
			return
		case <-t.C:
		}
		began := time.Now()
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
		w.scrapes = append(w.scrapes, time.Since(began))
		for i := range 50 {
			began := time.Now()
			_, err := h.Ranker.Choose(h.Now(), ranking.Query{Datum: "7", Size: int64(i+1) << 14})
			if err == nil {
				w.choices = append(w.choices, time.Since(began))
			}
		}
	}
}

// stop prints how long scrapes and choices took and returns the median of each.
// What is beyond that is mostly waiting for a turn on a processor that the fetches
// keep busy: BenchmarkScrape shows a scrape's own part.
func (w *watch) stop() (scrape, choice time.Duration) {
	close(w.end)
	w.wg.Wait()
	slices.Sort(w.scrapes)
	slices.Sort(w.choices)
	if len(w.scrapes) == 0 || len(w.choices) == 0 {
		return time.Hour, time.Hour // nothing was seen: no bar is met by that
	}
	for _, of := range []struct {
		what  string
		times []time.Duration
	}{{"scrapes", w.scrapes}, {"choices", w.choices}} {
		n := len(of.times)
		fmt.Printf("%d %s while fetching: %v by the median, %v at the 95th percentile, %v at the worst\n",
			n, of.what, of.times[n/2], of.times[n*95/100], of.times[n-1])
	}
	return w.scrapes[len(w.scrapes)/2], w.choices[len(w.choices)/2]
}
