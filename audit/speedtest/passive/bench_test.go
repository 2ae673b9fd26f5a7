package passive

import (
	"testing"
	"time"
)

func BenchmarkAdd(b *testing.B) {
	m := newMeter(b, DefaultConfig(), 0)
	at := time.Duration(0)
	for b.Loop() {
		at += 100 * time.Microsecond
		m.Add(at, Traffic{Read: 1400, Written: 1400})
	}
}
