package speed

import (
	"errors"
	"fmt"
	"io"

	"github.com/assay-mux/assay/bench/peers"
)

// A Workload is something to time. It is a value.
type Workload struct {
	Name    string
	Streams int // that carry it at the same time
	Chunk   int // bytes of one Write
	// RoundTrip sends one chunk to and fro, where otherwise the server sends
	// chunks as fast as they are taken.
	RoundTrip bool
}

// Workloads returns all workloads.
func Workloads() []Workload {
	return []Workload{
		{Name: "64 B round trip", Streams: 1, Chunk: 64, RoundTrip: true},
		{Name: "16 KiB writes", Streams: 1, Chunk: 16 << 10},
		{Name: "64 KiB writes", Streams: 1, Chunk: 64 << 10},
		{Name: "256 KiB writes", Streams: 1, Chunk: 256 << 10},
		{Name: "8 streams x 1 KiB", Streams: 8, Chunk: 1 << 10},
	}
}

// Unit is the unit of the workload's readings.
func (w Workload) Unit() string {
	if w.RoundTrip {
		return "us"
	}
	return "MiB/s"
}

// ends are the two ends of one stream.
type ends struct{ client, server peers.Stream }

// open makes the streams, each shown to the server by a first byte.
func open(client, server peers.Session, n int) ([]ends, error) {
	all := make([]ends, n)
	for i := range all {
		c, err := client.Open()
		if err != nil {
			return nil, fmt.Errorf("speed: opening a stream: %w", err)
		}
		if _, err := c.Write([]byte{1}); err != nil {
			return nil, fmt.Errorf("speed: opening a stream: %w", err)
		}
		s, err := server.Accept()
		if err != nil {
			return nil, fmt.Errorf("speed: accepting a stream: %w", err)
		}
		if _, err := io.ReadFull(s, make([]byte, 1)); err != nil {
			return nil, fmt.Errorf("speed: accepting a stream: %w", err)
		}
		all[i] = ends{c, s}
	}
	return all, nil
}

// download sends chunks over all streams at once, from server to client.
func download(streams []ends, chunk, chunks int) error {
	done := make(chan error, 2*len(streams))
	for _, e := range streams {
		go func() { done <- upstream(e.server, chunk, chunks) }()
		go func() { done <- downstream(e.client, chunk*chunks) }()
	}
	var all error
	for range cap(done) {
		all = errors.Join(all, <-done)
	}
	return all
}

func upstream(w io.Writer, chunk, chunks int) error {
	b := make([]byte, chunk)
	for range chunks {
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("speed: sending: %w", err)
		}
	}
	return nil
}

func downstream(r io.Reader, n int) error {
	b := make([]byte, 64<<10)
	for n > 0 {
		k, err := r.Read(b[:min(n, len(b))])
		n -= k
		if err != nil && n > 0 {
			return fmt.Errorf("speed: receiving: %w", err)
		}
	}
	return nil
}
