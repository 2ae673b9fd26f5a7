package bench_test

import (
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/assay-mux/assay/bench/peers"
	"github.com/assay-mux/assay/mux"
)

// Connections of other kinds than bare TCP, one end wrapped.
var transports = []struct {
	name string
	pair func(t *testing.T) (client, server net.Conn)
}{
	{"TLS", tlsPair},
	{"unix socket", unixPair},
	{"pipe", func(*testing.T) (net.Conn, net.Conn) { return net.Pipe() }},
}

func TestTransports(t *testing.T) {
	for _, tt := range transports {
		for _, v := range variants[:2] {
			for _, p := range unmodified {
				t.Run(tt.name+"/"+v.name+"/"+p.name, func(t *testing.T) {
					c, s := tt.pair(t)
					log := new(peers.Log)
					wrapped := mux.Wrap(c, v.opts...)
					near, err := peers.Hashicorp(wrapped, peers.Client, io.Discard)
					if err != nil {
						t.Fatal(err)
					}
					defer near.Close()
					far, err := p.start(s, peers.Server, log)
					if err != nil {
						t.Fatal(err)
					}
					defer far.Close()
					a, b, err := open(near, far)
					if err != nil {
						t.Fatal(err)
					}
					if err := exchange(a, b, 11, 1<<20); err != nil {
						t.Error(err)
					}
					got := settled(t, wrapped.Meter())
					if got.Cookies.Echoed == 0 || got.Counts.PayloadIn != 1<<20 {
						t.Errorf("%d echoes, %d payload bytes", got.Cookies.Echoed, got.Counts.PayloadIn)
					}
					if lines := log.Lines(); len(lines) > 0 {
						t.Errorf("the peer logged %d lines, first: %s", len(lines), lines[0])
					}
				})
			}
		}
	}
}

func unixPair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Skipf("no unix sockets here: %v", err)
	}
	defer l.Close()
	// Connecting succeeds before the other end accepts.
	if client, err = net.Dial("unix", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

func tlsPair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	client, server, err := peers.TLS()
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// Two wrapped ends must not answer each other's cookies without end: after a
// while of traffic an idle pair is silent.
func TestTwoWrappedEndsFallSilent(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			c, s, err := peers.TCP()
			if err != nil {
				t.Fatal(err)
			}
			near, nearMeter, err := hosts[0].start(c, peers.Client, io.Discard, v.opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			far, farMeter, err := hosts[0].start(s, peers.Server, io.Discard, v.opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			a, b, err := open(near, far)
			if err != nil {
				t.Fatal(err)
			}
			if err := exchange(a, b, 13, 1<<20); err != nil {
				t.Fatal(err)
			}
			settled(t, nearMeter)
			settled(t, farMeter)
			before := nearMeter.Snapshot().Counts
			time.Sleep(50 * time.Millisecond)
			after := nearMeter.Snapshot().Counts
			// The last answers may still be under way; an endless exchange makes
			// thousands of frames in that time.
			if n := after.FramesIn + after.FramesOut - before.FramesIn - before.FramesOut; n > 32 {
				t.Errorf("%d frames on an idle connection", n)
			}
		})
	}
}
