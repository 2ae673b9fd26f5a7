package burst

import (
	"testing"
	"time"
)

func BenchmarkArrive(b *testing.B) {
	for _, c := range []struct {
		name string
		gap  time.Duration
	}{{"tight", 100 * time.Microsecond}, {"silent", 50 * ms}, {"closing", 2 * time.Second}} {
		b.Run(c.name, func(b *testing.B) {
			w := NewWindow(DefaultConfig(), &echoes{})
			w.SetPath(Path{BaseRTT: 40 * ms, Confirmed: true, Rate: 8e-8})
			w.Begin(0)
			at := 50 * ms
			b.ReportAllocs()
			for b.Loop() {
				at += c.gap
				w.Arrive(Arrival{At: at, Bytes: 1448})
			}
		})
	}
}

// BenchmarkBurst is a whole fetch: 12 MB in reads of 16 KiB, closed and folded.
func BenchmarkBurst(b *testing.B) {
	l := link{rtt: 69 * ms, speed: 100 * mbit}
	in := merge(l.cold(0, 12e6), 16<<10)
	w := NewWindow(DefaultConfig(), &echoes{})
	w.SetPath(l.path(true))
	est := NewEstimate(0)
	start := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		id, _, _ := w.Begin(start)
		for _, r := range in {
			w.Arrive(Arrival{At: start + r.at, Bytes: r.bytes})
		}
		start += in[len(in)-1].at
		s, _ := w.End(start, id, 0, true)
		est.Fold(s, start)
		start += time.Second
	}
	b.ReportMetric(float64(len(in)), "reads/op")
}

func BenchmarkEstimateFold(b *testing.B) {
	e := NewEstimate(0)
	s := sampled(1e6, 1e7)
	at := time.Duration(0)
	for b.Loop() {
		at += time.Second
		e.Fold(s, at)
	}
}
