package lab

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestBucketGivesItsBurst: so many bytes at the peak, and what the bucket gets
// meanwhile; all beyond at the rate; after a pause what has come back.
func TestBucketGivesItsBurst(t *testing.T) {
	const burst = 1e6
	tests := []struct {
		name  string
		peak  BitRate
		n     int
		first time.Duration // the transfer from a full bucket
		pause time.Duration // after it
		again time.Duration // the transfer after the pause
	}{
		// The rate is 8 Mbit/s, a byte a microsecond.
		{"less than the burst, at once", 0, 1e6, 0, 2 * time.Second, 0},
		{"one and a half, at once", 0, 1.5e6, 500 * time.Millisecond, 0, 1500 * time.Millisecond},
		{"half refilled", 0, 1e6, 0, 500 * time.Millisecond, 500 * time.Millisecond},
		{"at a peak of ten times", 80 * Mbit, 1e6, 100 * time.Millisecond, time.Hour, 100 * time.Millisecond},
		// With a peak of P the burst lasts for burst x P/(P-R) bytes.
		{"until the bucket is empty", 80 * Mbit, 1.111e6, 111100 * time.Microsecond, time.Hour, 111100 * time.Microsecond},
		{"beyond it", 80 * Mbit, 3e6, 2 * time.Second, 0, 3 * time.Second},
		{"peak below the rate", 4 * Mbit, 1e6, 2 * time.Second, 0, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := Pair(Link{Rate: 8 * Mbit, Burst: burst, Peak: tt.peak})
				defer a.Close()
				start := time.Now()
				go a.Write(make([]byte, tt.n))
				io.ReadFull(b, make([]byte, tt.n))
				wantAt(t, "transfer", start, tt.first)
				time.Sleep(tt.pause)
				start = time.Now()
				go a.Write(make([]byte, tt.n))
				io.ReadFull(b, make([]byte, tt.n))
				if got := time.Since(start); (got - tt.again).Abs() > 3*time.Microsecond {
					t.Errorf("after %v, another took %v, want %v", tt.pause, got, tt.again)
				}
			})
		})
	}
}
