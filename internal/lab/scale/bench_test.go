//go:build unix

package main

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
	"github.com/assay-mux/assay/ranking"
)

// BenchmarkScrape scrapes 1,000 connections that have been used and do nothing
// now.
func BenchmarkScrape(b *testing.B) {
	addr, stop, err := startServing()
	if err != nil {
		b.Fatal(err)
	}
	defer stop()
	h, err := kernelstudy.NewHost(ranking.DefaultConfig())
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	o := options{conns: 1000, workers: 8, length: 3 * time.Second}
	all, err := joinAll(o, addr, h)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range all {
		defer s.Close()
	}
	if _, err := load(o, ranked(h, o)); err != nil {
		b.Fatal(err)
	}
	handler := newHandler(h, all)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
	}
}
