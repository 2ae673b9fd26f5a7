//go:build !race

package cookie

import (
	"runtime"
	"testing"
	"time"
)

// mustNotAllocate fails if f allocates.
func mustNotAllocate(t *testing.T, what string, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(1000, f); n != 0 {
		t.Errorf("%s: %v allocations a run, want 0", what, n)
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	rtt := NewRTT(DefaultRTTConfig())
	q := NewQueue(DefaultConfig(), testKey, rtt)
	var now time.Duration
	roundTrip := func() {
		now += time.Millisecond
		v, ok := q.Issue(now, 0)
		if !ok {
			t.Fatal("no cookie")
		}
		if got := q.Echo(v, now+jitter(now), 0).Outcome; got != Sample {
			t.Fatal(got)
		}
	}
	// Past the first use of each part, the two staggered digests included.
	for range int(DefaultRTTConfig().HalfSpan/time.Millisecond) + 2*ringSize {
		roundTrip()
	}
	mustNotAllocate(t, "issue and echo", roundTrip)
	mustNotAllocate(t, "reading", func() { roundTrip(); rtt.Reading(now) })
	mustNotAllocate(t, "forged echo", func() { q.Echo(Marker|1, now, 0) })
	mustNotAllocate(t, "withdrawn", func() {
		now += time.Millisecond
		v, _ := q.Issue(now, 0)
		q.MarkLoaded(v)
		q.Withdraw(v)
	})
	mustNotAllocate(t, "skipped", func() {
		now += DefaultConfig().MaxAge
		q.Issue(now, 0)
	})
}

// heapPer returns the heap bytes that each of n values made by f keeps alive.
func heapPer(n int, f func() any) uint64 {
	keep := make([]any, n)
	var before, after runtime.MemStats
	// Twice: what the first one finds in sync.Pools is freed by the second.
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range keep {
		keep[i] = f()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(keep)
	return (after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)) / uint64(n)
}

func TestMemoryStaysWithinItsBounds(t *testing.T) {
	cfg := DefaultRTTConfig()
	newQueue := func() *Queue { return NewQueue(DefaultConfig(), testKey, nil) }
	digestOf := func(n int, value func(i int) time.Duration) any {
		r := NewRTT(cfg)
		for i := range n {
			// Half of them fall after the younger digest has begun.
			r.Observe(time.Duration(i)*2*cfg.HalfSpan/time.Duration(n+1), value(i), false)
		}
		return r
	}
	tests := []struct {
		name  string
		bound uint64 // bytes
		make  func() any
	}{
		{"queue before its first cookie", 1 << 10, func() any { return newQueue() }},
		{"queue in use", 3 << 10, func() any { q := newQueue(); q.Issue(0, 0); return q }},
		{"RTT before its first sample", 1 << 10, func() any { return NewRTT(cfg) }},
		{"RTT with few samples", 2 << 10, func() any { return digestOf(ringSize, jitterOf) }},
		{"RTT with many samples", 10 << 10, func() any { return digestOf(20_000, jitterOf) }},
		// The order that makes most centroids.
		{"RTT with rising samples", 10 << 10, func() any {
			return digestOf(5000, func(i int) time.Duration { return time.Duration(i) * time.Microsecond })
		}},
	}
	for _, tt := range tests {
		got := heapPer(64, tt.make)
		t.Logf("%s: %d B", tt.name, got)
		if got > tt.bound {
			t.Errorf("%s: %d B, want at most %d", tt.name, got, tt.bound)
		}
	}
}

// jitterOf is jitter by number.
func jitterOf(i int) time.Duration { return jitter(time.Duration(i)) }
