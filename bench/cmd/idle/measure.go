package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/mux"
)

// load is what the connections do.
type load struct {
	Conns    int
	Bytes    int // that each fetches
	Together int // how many do at a time
	Silence  time.Duration
}

// cost is memory for each connection, in bytes, beyond the empty process's.
type cost struct {
	InUse float64 `json:"in_use_bytes"` // spans of heap and stacks
	Live  float64 `json:"live_bytes"`   // objects and stacks
}

// measurement is the cost of one end of a connection.
type measurement struct {
	Fresh cost `json:"fresh"` // before any traffic
	Used  cost `json:"used"`  // after the fetch and the silence
}

// session is one near end. A fetch is declared where there is a meter.
type session struct {
	*yamux.Session
	meter *mux.Meter
}

// measure opens the connections and weighs the process three times.
func measure(addr string, wrapped bool, l load) (measurement, error) {
	sessions := make([]session, l.Conns)
	empty := weigh()
	err := each(l.Conns, l.Together, func(i int) error {
		var err error
		sessions[i], err = connect(addr, wrapped)
		return err
	})
	if err != nil {
		return measurement{}, fmt.Errorf("idle: connecting (each connection needs a file descriptor in this process and one in the peers'): %w", err)
	}
	time.Sleep(time.Second) // the last handshakes' goroutines end
	var m measurement
	m.Fresh = weigh().perConn(empty, l.Conns)
	if err := each(l.Conns, l.Together, func(i int) error { return sessions[i].fetch(l.Bytes) }); err != nil {
		return m, fmt.Errorf("idle: fetching: %w", err)
	}
	time.Sleep(l.Silence)
	m.Used = weigh().perConn(empty, l.Conns)
	return m, each(l.Conns, l.Together, func(i int) error { return sessions[i].Close() })
}

func connect(addr string, wrapped bool) (session, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return session{}, err
	}
	config := mux.DefaultConfig()
	config.LogOutput = io.Discard
	if !wrapped {
		s, err := yamux.Client(conn, config)
		return session{Session: s}, err
	}
	s, err := mux.Client(conn, config)
	if err != nil {
		return session{}, err
	}
	return session{s.Session, s.Meter()}, nil
}

func (s session) fetch(n int) error {
	if s.meter != nil {
		defer s.meter.Begin()()
	}
	stream, err := s.OpenStream()
	if err != nil {
		return err
	}
	if _, err := stream.Write(binary.BigEndian.AppendUint32(nil, uint32(n))); err != nil {
		return err
	}
	got, err := io.Copy(io.Discard, stream)
	if err == nil && got != int64(n) {
		err = fmt.Errorf("got %d bytes of %d", got, n)
	}
	return errors.Join(err, stream.Close())
}

// each calls f for 0 to n-1, so many at a time, and returns all errors.
func each(n, together int, f func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	slots := make(chan struct{}, max(together, 1))
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = f(i)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// weight is the memory of the process in bytes, after a collection.
type weight struct{ inUse, live uint64 }

func weigh() weight {
	// The first empties the pools' main cache, the second their victim cache,
	// the third frees what that kept alive.
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return weight{m.HeapInuse + m.StackInuse, m.HeapAlloc + m.StackInuse}
}

func (w weight) perConn(empty weight, conns int) cost {
	n := float64(conns)
	return cost{
		InUse: (float64(w.inUse) - float64(empty.inUse)) / n,
		Live:  (float64(w.live) - float64(empty.live)) / n,
	}
}
