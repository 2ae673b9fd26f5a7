package speed

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// A Reading is one measurement.
type Reading struct {
	Value float64       // in the workload's unit: microseconds, or MiB/s
	CPU   float64       // processor seconds per unit of work, both ends
	Took  time.Duration // of the whole
}

// Measure times one connection of its own. The amount is the number of round
// trips, or of chunks on all streams together; an eighth of it goes ahead
// untimed.
func Measure(m Mode, w Workload, amount int) (r Reading, err error) {
	client, server, err := m.Dial()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, client.Close(), server.Close()) }()
	n := w.Streams
	if m.Streams > 0 {
		n = min(n, m.Streams)
	}
	streams, err := open(client, server, n)
	if err != nil {
		return r, err
	}
	if w.RoundTrip {
		return roundTrips(streams[0], w.Chunk, amount)
	}
	return bulk(streams, w.Chunk, amount)
}

func bulk(streams []ends, chunk, chunks int) (Reading, error) {
	each := max(chunks/len(streams), 1)
	if err := download(streams, chunk, each/8+1); err != nil {
		return Reading{}, err
	}
	stop := start()
	err := download(streams, chunk, each)
	took, cpu := stop()
	mebibytes := float64(each*len(streams)*chunk) / (1 << 20)
	return Reading{Value: mebibytes / took.Seconds(), CPU: cpu.Seconds() / mebibytes, Took: took}, err
}

// roundTrips reads the median of many: one that was held up by something else
// on the machine tells nothing.
func roundTrips(e ends, chunk, n int) (Reading, error) {
	done := make(chan error, 1)
	total := n + n/8
	go func() { done <- echo(e.server, chunk, total) }()
	b := make([]byte, chunk)
	if _, err := trips(e.client, b, make([]time.Duration, n/8)); err != nil {
		return Reading{}, err
	}
	stop := start()
	each, err := trips(e.client, b, make([]time.Duration, n))
	took, cpu := stop()
	if err != nil {
		return Reading{}, err
	}
	slices.Sort(each)
	return Reading{
		Value: float64(each[n/2].Nanoseconds()) / 1e3,
		CPU:   cpu.Seconds() / float64(n),
		Took:  took,
	}, <-done
}

func trips(s io.ReadWriter, b []byte, each []time.Duration) ([]time.Duration, error) {
	for i := range each {
		began := time.Now()
		if _, err := s.Write(b); err != nil {
			return nil, fmt.Errorf("speed: round trip: %w", err)
		}
		if _, err := io.ReadFull(s, b); err != nil {
			return nil, fmt.Errorf("speed: round trip: %w", err)
		}
		each[i] = time.Since(began)
	}
	return each, nil
}

func echo(s io.ReadWriter, chunk, n int) error {
	b := make([]byte, chunk)
	for range n {
		if _, err := io.ReadFull(s, b); err != nil {
			return fmt.Errorf("speed: echo: %w", err)
		}
		if _, err := s.Write(b); err != nil {
			return fmt.Errorf("speed: echo: %w", err)
		}
	}
	return nil
}

// start starts both clocks, after a collection, so that no mode pays for the
// garbage of the one before.
func start() (stop func() (took, cpu time.Duration)) {
	runtime.GC()
	cpu, began := processorTime(), time.Now()
	return func() (time.Duration, time.Duration) {
		took := time.Since(began)
		return took, processorTime() - cpu
	}
}

// Calibrate returns the amount that takes about so long in the given mode.
func Calibrate(m Mode, w Workload, target time.Duration) (int, error) {
	amount := 4
	for {
		r, err := Measure(m, w, amount)
		if err != nil {
			return 0, err
		}
		if r.Took >= target/4 || amount >= 1<<26 {
			return max(int(float64(amount)*float64(target)/float64(r.Took)), 1), nil
		}
		amount *= 4
	}
}
