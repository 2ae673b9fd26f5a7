package lab

import (
	"io"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestConcurrentReaders: readers that wait together share what comes, each byte
// once, and all of them see the end.
func TestConcurrentReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		var wg sync.WaitGroup
		got := make([]int, 3)
		for i := range got {
			wg.Go(func() {
				n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{b}, make([]byte, 700))
				if got[i] = int(n); err != nil {
					t.Error(err)
				}
			})
		}
		a.Write(make([]byte, 20000))
		a.Close()
		wg.Wait()
		if sum := got[0] + got[1] + got[2]; sum != 20000 {
			t.Errorf("read %v, in sum %d, want 20000", got, sum)
		}
	})
}

// TestDeadlineOfALineOfWriters: a Write that waits for its turn keeps the
// deadline too, and takes nothing.
func TestDeadlineOfALineOfWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := Pair(slow)
		start := time.Now()
		a.SetWriteDeadline(start.Add(time.Second))
		var wg sync.WaitGroup
		var sum [3]int
		for i := range sum {
			wg.Go(func() {
				var err error
				sum[i], err = a.Write(make([]byte, 9000))
				wantErr(t, "write", err, os.ErrDeadlineExceeded)
				wantAt(t, "timeout", start, time.Second)
			})
		}
		wg.Wait()
		if got := sum[0] + sum[1] + sum[2]; got != slow.Buffer {
			t.Errorf("wrote %v, in sum %d, want the buffer's %d", sum, got, slow.Buffer)
		}
	})
}

// TestMemoryIsBounded: however much is written, no more than the buffer is held.
func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const buffer = 100_000
		a, b := Pair(Link{Rate: 100 * Mbit, OneWay: 10 * time.Millisecond, Buffer: buffer, SlowStart: true})
		if _, last := fetch(t, b, a, 5e6); last < BitRate(100*Mbit).Time(5e6) {
			t.Errorf("5 MB came in %v", last)
		}
		h := a.w
		if got := len(h.bytes.ring); got > 2*buffer {
			t.Errorf("%d bytes of buffer, want at most %d", got, 2*buffer)
		}
		const product = 250_000 // what can be unacknowledged beyond the buffer
		most := 2 * (2*buffer + product) / DefaultMSS
		if got := len(h.segs.ring) + len(h.shape.acks.ring); got > most {
			t.Errorf("%d segments and acks held, want at most %d", got, most)
		}
	})
}

// TestSameRunTwice: the same writes arrive at the same instants.
func TestSameRunTwice(t *testing.T) {
	var runs [2][]time.Duration
	for i := range runs {
		synctest.Test(t, func(t *testing.T) {
			a, b := Pair(Link{Rate: 3 * Mbit, OneWay: 7 * time.Millisecond, SlowStart: true})
			start := time.Now()
			go func() {
				for n := 1; n < 20000; n *= 2 {
					a.Write(make([]byte, n))
					time.Sleep(time.Duration(n) * time.Microsecond)
				}
				a.Close()
			}()
			for p := make([]byte, 4096); ; {
				if _, err := b.Read(p); err != nil {
					return
				}
				runs[i] = append(runs[i], time.Since(start))
			}
		})
	}
	if len(runs[0]) == 0 || len(runs[0]) != len(runs[1]) {
		t.Fatalf("%d reads, then %d", len(runs[0]), len(runs[1]))
	}
	for i, at := range runs[0] {
		if (at - runs[1][i]).Abs() > time.Microsecond {
			t.Errorf("read %d at %v, then at %v", i, at, runs[1][i])
		}
	}
}

func TestNothing(t *testing.T) {
	a, b := Pair(Link{})
	if n, err := a.Write(nil); n != 0 || err != nil {
		t.Errorf("empty write: %d, %v", n, err)
	}
	if n, err := b.Read(nil); n != 0 || err != nil {
		t.Errorf("empty read: %d, %v", n, err)
	}
}
