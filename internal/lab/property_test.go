package lab

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// someLink draws a link of any kind, of at least 100 kbit/s where limited.
func someLink(t *rapid.T) Link {
	return Link{
		Rate:          BitRate(rapid.SampledFrom([]float64{0, 1e5, 3e6, 1e9}).Draw(t, "rate")),
		OneWay:        time.Duration(rapid.IntRange(0, 300).Draw(t, "delay")) * time.Millisecond,
		SlowStart:     rapid.Bool().Draw(t, "slow start"),
		IdleRestart:   rapid.Bool().Draw(t, "idle restart"),
		InitialWindow: rapid.IntRange(0, 20000).Draw(t, "window"),
		Buffer:        rapid.IntRange(0, 20000).Draw(t, "buffer"),
		MSS:           rapid.IntRange(0, 2000).Draw(t, "MSS"),
	}
}

// anyLink draws a link with all that a link can have, but for a bottleneck.
func anyLink(t *rapid.T) Link {
	l := someLink(t)
	l.MSS = max(l.MSS, 100)
	l.Seed = rapid.Uint64().Draw(t, "seed")
	l.Jitter = time.Duration(rapid.IntRange(0, 50).Draw(t, "jitter")) * time.Millisecond
	share := rapid.SampledFrom([]float64{0, 0, 0.01, 0.3})
	l.Loss = Loss{Rate: share.Draw(t, "loss"), Bursts: share.Draw(t, "bursts"), Length: 4, Within: 0.9}
	l.Burst = rapid.IntRange(0, 10000).Draw(t, "burst")
	l.Peak = BitRate(rapid.SampledFrom([]float64{0, 1e6, 1e9}).Draw(t, "peak"))
	for i := range rapid.IntRange(0, 3).Draw(t, "changes") {
		l.Changes = append(l.Changes, Change{
			At:     time.Duration(i) * time.Second,
			Rate:   BitRate(rapid.SampledFrom([]float64{0, 1e5, 1e7}).Draw(t, "new rate")),
			OneWay: time.Duration(rapid.IntRange(0, 300).Draw(t, "new delay")) * time.Millisecond,
		})
	}
	return l
}

// carryAll sends bytes over a link in writes and reads of given sizes, and checks
// that they are what is read.
func carryAll(rt *rapid.T, link Link, sent []byte, w, r int) {
	a, b := Pair(link)
	go func() {
		for p := range slices.Chunk(sent, w) {
			a.Write(p)
		}
		a.Close()
	}()
	var got bytes.Buffer
	_, err := io.CopyBuffer(&got, struct{ io.Reader }{b}, make([]byte, r))
	if err != nil || !bytes.Equal(got.Bytes(), sent) {
		rt.Fatalf("read %d bytes, %v; wrote %d", got.Len(), err, len(sent))
	}
}

// TestBytesArriveAsWritten: whatever the link and the chunking, what is read is
// what was written; at a bottleneck too, which up to three share.
func TestBytesArriveAsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var links []Link
		for range rapid.IntRange(1, 3).Draw(rt, "links") {
			links = append(links, anyLink(rt))
		}
		shared := rapid.Bool().Draw(rt, "bottleneck")
		sent := rapid.SliceOfN(rapid.Byte(), 0, 30000).Draw(rt, "bytes")
		w := rapid.IntRange(1, 9000).Draw(rt, "write size")
		r := rapid.IntRange(1, 9000).Draw(rt, "read size")
		synctest.Test(t, func(*testing.T) {
			pipe := NewBottleneck(3*Mbit, Change{At: time.Second, Rate: Mbit})
			var wg sync.WaitGroup
			for _, link := range links {
				if shared {
					link.Bottleneck = pipe
				}
				wg.Go(func() { carryAll(rt, link, sent, w, r) })
			}
			wg.Wait()
		})
	})
}
