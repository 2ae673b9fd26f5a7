package ranking

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// stopwatch measures the processor time of the benchmark's own thread, which says the same on a busy
// machine. Only what runs between start and stop counts.
type stopwatch struct{ at, sum time.Duration }

const rusageThread = 1

func threadTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (s *stopwatch) start() {
	runtime.LockOSThread()
	s.at = threadTime()
}

func (s *stopwatch) stop() {
	s.sum += threadTime() - s.at
	runtime.UnlockOSThread()
}

func (s *stopwatch) report(b *testing.B) {
	b.ReportMetric(float64(s.sum.Nanoseconds())/float64(b.N), "cpu-ns/op")
}
