//go:build !race

package passive

import (
	"runtime"
	"testing"
	"time"
)

func TestAddAllocs(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	at := time.Duration(0)
	if n := testing.AllocsPerRun(1000, func() {
		at += 700 * time.Millisecond
		m.Add(at, Traffic{Read: 1000, Written: 1000, Test: true})
		m.Figures(at)
	}); n != 0 {
		t.Errorf("%g allocations a read", n)
	}
}

// What a meter holds does not grow with what it has seen.
func TestMeterMemory(t *testing.T) {
	heap := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	const n = 100
	before := heap()
	meters := make([]*Meter, n)
	for i := range meters {
		meters[i] = newMeter(t, DefaultConfig(), 0)
		feed(meters[i], 0, 2000, Traffic{Read: int64(2000 - i), Written: 1})
	}
	each := float64(heap()-before) / n
	runtime.KeepAlive(meters)
	if each > 8<<10 {
		t.Errorf("a meter holds %.0f bytes, want at most 8 KiB", each)
	}
	t.Logf("a meter holds %.0f bytes", each)
}
