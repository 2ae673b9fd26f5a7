// Package status serves what a running node can tell over HTTP: /metrics for
// Prometheus, /healthz, and /debug/pprof/ for profiles. All on a handler of its
// own, never the process's default one, which any imported package can add to.
package status

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/assay-mux/assay/metrics"
)

// headerLimit is how long a client may take over its request's head.
const headerLimit = 5 * time.Second

// Handler serves the figures of a source of peers, and of the process. What a
// peer of Peers did since the last scrape is counted when it leaves.
func Handler(src metrics.Source, opts ...metrics.Option) http.Handler {
	reg := prometheus.NewRegistry()
	c := metrics.NewCollector(src, append([]metrics.Option{metrics.WithNativeHistograms()}, opts...)...)
	if p, ok := src.(*Peers); ok {
		p.OnRemove(c.Retire)
	}
	reg.MustRegister(c, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// Server is a handler being served. Close ends it.
type Server struct {
	http http.Server
	addr net.Addr
	done chan struct{}
}

// Start serves a handler on an address.
func Start(ctx context.Context, addr string, h http.Handler) (*Server, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot serve HTTP on %s, choose another address with --http: %w", addr, reason(err))
	}
	s := &Server{http: http.Server{Handler: h, ReadHeaderTimeout: headerLimit}, addr: l.Addr(), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// Addr is the address it listens on.
func (s *Server) Addr() string { return s.addr.String() }

// Close cuts all requests and waits until the server has ended.
func (s *Server) Close() {
	s.http.Close()
	<-s.done
}

// reason is what the system says, without the address again.
func reason(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err
}
