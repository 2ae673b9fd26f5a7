package cookie

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkIssueEcho is a whole cookie: the permutation both ways, the ring, and
// the RTT with its digests, amortised.
func BenchmarkIssueEcho(b *testing.B) {
	rtt := NewRTT(DefaultRTTConfig())
	q := NewQueue(DefaultConfig(), testKey, rtt)
	b.ReportAllocs()
	var now time.Duration
	for b.Loop() {
		now += time.Millisecond
		v, _ := q.Issue(now, 0)
		q.Echo(v, now+jitter(now), 0)
	}
}

// BenchmarkIssueEchoQueueAlone leaves the RTT out.
func BenchmarkIssueEchoQueueAlone(b *testing.B) {
	q := NewQueue(DefaultConfig(), testKey, nil)
	b.ReportAllocs()
	var now time.Duration
	for b.Loop() {
		now += time.Millisecond
		v, _ := q.Issue(now, 0)
		q.Echo(v, now, 0)
	}
}

// BenchmarkEchoForged is what an attacker's made-up echo costs us.
func BenchmarkEchoForged(b *testing.B) {
	q := NewQueue(DefaultConfig(), testKey, nil)
	q.Issue(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		q.Echo(Marker|12345, 0, 0)
	}
}

// BenchmarkDue is the question asked of every outbound frame.
func BenchmarkDue(b *testing.B) {
	q := NewQueue(DefaultConfig(), testKey, nil)
	q.Issue(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		q.Due(0)
	}
}

// BenchmarkObserve is one sample through the ring into both t-digests.
func BenchmarkObserve(b *testing.B) {
	for _, compression := range []float64{20, 25, 50, 100} {
		b.Run(fmt.Sprintf("compression=%v", compression), func(b *testing.B) {
			cfg := DefaultRTTConfig()
			cfg.Compression = compression
			r := NewRTT(cfg)
			b.ReportAllocs()
			var now time.Duration
			for b.Loop() {
				now += time.Millisecond
				r.Observe(now, jitter(now), false)
			}
		})
	}
}

// BenchmarkReading is a snapshot with one sample pending.
func BenchmarkReading(b *testing.B) {
	r := NewRTT(DefaultRTTConfig())
	var now time.Duration
	for range 100_000 {
		now += 10 * time.Millisecond
		r.Observe(now, jitter(now), false)
	}
	b.ReportAllocs()
	for b.Loop() {
		now += 10 * time.Millisecond
		r.Observe(now, jitter(now), false)
		r.Reading(now)
	}
}

// jitter spreads instants over 20 to 30 ms, without a pattern that a digest could
// profit from.
func jitter(now time.Duration) time.Duration {
	x := uint64(now) * 0x9E3779B97F4A7C15
	return 20*time.Millisecond + time.Duration(x>>32)*10*time.Millisecond/(1<<32)
}
