package lab

import (
	"io"
	"os"
	"slices"
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
		if got := h.bytes.Cap(); got > 2*buffer {
			t.Errorf("%d bytes of buffer, want at most %d", got, 2*buffer)
		}
		if got, most := h.segs.Cap(), 2*2*buffer/DefaultMSS; got > most {
			t.Errorf("room for %d segments, want at most %d", got, most)
		}
	})
}

// reads are the instants at which what is written in steps over a link is read,
// while another such link shares its bottleneck.
func reads(t *testing.T, l Link) (at []time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		if l.Bottleneck != nil {
			l.Bottleneck = NewBottleneck(2 * Mbit)
		}
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 2 {
			a, b := Pair(l)
			wg.Go(func() {
				for n := 1; n < 20000; n *= 2 {
					a.Write(make([]byte, n))
					time.Sleep(time.Duration(n) * time.Microsecond)
				}
				a.Close()
			})
			wg.Go(func() {
				for p := make([]byte, 4096); ; {
					if _, err := b.Read(p); err != nil {
						return
					}
					if i == 0 {
						at = append(at, time.Since(start))
					}
				}
			})
		}
		wg.Wait()
	})
	return at
}

// TestSameRunTwice: the same writes arrive at the same instants, and with
// another seed at others if something is random.
func TestSameRunTwice(t *testing.T) {
	plain := Link{Rate: 3 * Mbit, OneWay: 7 * time.Millisecond, SlowStart: true}
	random, shared := plain, plain
	random.Loss, random.Jitter = Loss{Rate: 0.05, Bursts: 0.02}, 5*time.Millisecond
	shared.Bottleneck = NewBottleneck(Mbit)
	all := random
	all.Bottleneck = shared.Bottleneck
	for i, link := range []Link{plain, random, shared, all} {
		first := reads(t, link)
		for range 3 {
			if again := reads(t, link); len(first) == 0 || !slices.Equal(first, again) {
				t.Errorf("link %d: reads at %v, then at %v", i, first, again)
			}
		}
		link.Seed = 1
		if other := reads(t, link); slices.Equal(first, other) != (link.Jitter == 0) {
			t.Errorf("link %d: with another seed reads at %v, before at %v", i, other, first)
		}
	}
}

// TestDirectionsDrawApart: the two directions of a path have luck of their own.
func TestDirectionsDrawApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(Link{Jitter: time.Second, Seed: 9})
		start := time.Now()
		a.Write([]byte{1})
		b.Write([]byte{1})
		b.Read(make([]byte, 1))
		there := time.Since(start)
		a.Read(make([]byte, 1))
		if back := time.Since(start); there == back {
			t.Errorf("%v both ways", there)
		}
	})
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
