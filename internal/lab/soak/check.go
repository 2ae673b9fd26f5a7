package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"
)

// mostCookies is how many may be outstanding on a connection.
const mostCookies = 8

// check holds a connection to what must hold at any time.
func (w *world) check(c *conn) {
	s := c.session.Meter().Snapshot()
	if s.Outstanding > mostCookies {
		w.fault("%d cookies are outstanding, at most %d may be", s.Outstanding, mostCookies)
	}
	if n := s.RTT.Samples + s.RTT.LoadedSamples; n > s.Cookies.Echoed {
		w.fault("%d round trips of %d echoes", n, s.Cookies.Echoed)
	}
	if s.Cookies.Forged > 0 || s.Cookies.Replayed > 0 {
		w.fault("a %v peer forged %d and replayed %d cookies, which none did", c.how, s.Cookies.Forged, s.Cookies.Replayed)
	}
	// The path's own round trip is 5 ms at the least.
	if s.RTT.Base > 0 && s.RTT.Base < 5*time.Millisecond {
		w.fault("a base round trip of %v, on paths of 5 ms and more", s.RTT.Base)
	}
	if s.Burst.Ours < 0 || s.Burst.Peers < 0 || s.Fetches < 0 {
		w.fault("negative: %+v, %d fetches", s.Burst, s.Fetches)
	}
	if s.Counts.TransparentIn || s.Counts.TransparentOut {
		w.fault("the shim found frames that nobody sent")
	}
}

// state is what may leak.
type state struct {
	goroutines, files int
	heap              uint64
}

func (s state) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %.1f MB", s.goroutines, s.files, float64(s.heap)/1e6)
}

// take looks at the process.
func take() state {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return state{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// linger is how long a closed connection's end may take, as package mux says.
const linger = 10 * time.Second

// settled waits for what ends by itself.
func settled(before state) state {
	now := take()
	for end := time.Now().Add(2 * linger); time.Now().Before(end) && len(now.left(before)) > 0; now = take() {
		time.Sleep(100 * time.Millisecond)
	}
	return now
}

// left is what is there now and was not before. Descriptors of Go's own poller
// come with the first connection.
func (s state) left(before state) (faults []string) {
	const poller = 3
	if s.goroutines > before.goroutines {
		faults = append(faults, fmt.Sprintf("%d goroutines are left of %d", s.goroutines, before.goroutines))
	}
	if s.files > before.files+poller {
		faults = append(faults, fmt.Sprintf("%d descriptors are left of %d", s.files, before.files))
	}
	return faults
}

// trail is the states over time.
type trail []state

// looks is how often it is looked.
const looks = 30

// watch looks at all connections every so often, and at the process.
func (w *world) watch(out io.Writer) (t trail) {
	every := w.o.length / looks
	for n := 1; w.rest(every); n++ {
		w.mu.Lock()
		conns := make([]*conn, 0, len(w.conns))
		for c := range w.conns {
			conns = append(conns, c)
		}
		w.mu.Unlock()
		for _, c := range conns {
			w.check(c)
		}
		s := take()
		t = append(t, s)
		fmt.Fprintf(out, "%8v  %2d peers, %v; %d fetches, %d failed, %d stays\n", (time.Duration(n) * every).Round(time.Second),
			len(conns), s, w.fetched.Load(), w.failed.Load(), w.stays.Load())
	}
	return t
}

// growth compares the last third with the middle one: in the first the records
// of all identities come about.
func (t trail) growth() (faults []string) {
	third := len(t) / 3
	if third < 3 {
		return []string{fmt.Sprintf("it was looked only %d times, too few to tell", len(t))}
	}
	for _, x := range []struct {
		what  string
		of    func(state) float64
		slack float64 // beyond a tenth
	}{
		{"goroutines", func(s state) float64 { return float64(s.goroutines) }, 20},
		{"descriptors", func(s state) float64 { return float64(s.files) }, 10},
		{"bytes of heap", func(s state) float64 { return float64(s.heap) }, 4e6},
	} {
		middle, last := median(t[third:2*third], x.of), median(t[2*third:], x.of)
		if last > 1.1*middle+x.slack {
			faults = append(faults, fmt.Sprintf("%s grew from %.0f to %.0f", x.what, middle, last))
		}
	}
	return faults
}

func median(states []state, of func(state) float64) float64 {
	var all []float64
	for _, s := range states {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
