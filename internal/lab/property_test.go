package lab

import (
	"bytes"
	"io"
	"math"
	"slices"
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

// TestBytesArriveAsWritten: whatever the link and the chunking, what is read is
// what was written.
func TestBytesArriveAsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		link := someLink(rt)
		link.MSS = max(link.MSS, 100)
		sent := rapid.SliceOfN(rapid.Byte(), 0, 30000).Draw(rt, "bytes")
		w := rapid.IntRange(1, 9000).Draw(rt, "write size")
		r := rapid.IntRange(1, 9000).Draw(rt, "read size")
		synctest.Test(t, func(*testing.T) {
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
		})
	})
}

// TestShaperKeepsItsLimits: arrivals are in order, none before the delay, no
// stretch faster than the rate, and a window's worth at most in each round trip.
func TestShaperKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := shaperOf(someLink(rt), 0)
		link := s.link
		var now, last time.Duration
		for range rapid.IntRange(1, 200).Draw(rt, "segments") {
			now += time.Duration(rapid.IntRange(0, 50).Draw(rt, "pause")) * time.Millisecond
			n := rapid.IntRange(1, link.MSS).Draw(rt, "size")
			arrive := s.send(now, n).at
			if least := max(now+link.OneWay, last) + link.Rate.Time(n); arrive < least {
				rt.Fatalf("segment of %d written at %v arrives at %v, before %v", n, now, arrive, least)
			}
			last = arrive
			if s.flight > max(s.cwnd, n) {
				rt.Fatalf("%d bytes in flight, window %d", s.flight, s.cwnd)
			}
			if s.cwnd < link.InitialWindow {
				rt.Fatalf("window %d fell below the first, %d", s.cwnd, link.InitialWindow)
			}
		}
		if end := s.fin(now); end < last {
			rt.Fatalf("the end arrives at %v, before the last segment at %v", end, last)
		}
	})
}

// TestIdleWindow: a window that is not used doesn't grow, and decays by halves.
func TestIdleWindow(t *testing.T) {
	s := shaperOf(Link{OneWay: 50 * time.Millisecond, SlowStart: true, IdleRestart: true}, 50*time.Millisecond)
	link := s.link
	for i := range 100 { // one segment per 150 ms uses no window
		s.send(time.Duration(i)*150*time.Millisecond, 1000)
	}
	if s.cwnd != link.InitialWindow {
		t.Errorf("window %d after a dribble, want the first, %d", s.cwnd, link.InitialWindow)
	}
	s.acks, s.flight, s.cwnd = fifo[ack]{}, 0, 160000
	for i, want := range []int{160000, 80000, 20000, DefaultInitialWindow} {
		const rto = 300 * time.Millisecond
		at := s.free + []time.Duration{rto - 1, rto, 2 * rto, time.Hour}[i]
		s.send(at, 1)
		if s.cwnd != want {
			t.Errorf("pause %d: window %d, want %d", i, s.cwnd, want)
		}
		s.free, s.acks, s.flight = at, fifo[ack]{}, 0
	}
}

func TestBitRate(t *testing.T) {
	if got := (8 * Mbit).Time(1e6); got != time.Second {
		t.Errorf("1 MB at 8 Mbit/s takes %v", got)
	}
	if got := (8 * Mbit).Bytes(time.Second); math.Abs(got-1e6) > 1e-6 {
		t.Errorf("8 Mbit/s moves %v bytes in a second", got)
	}
	if d, n := BitRate(0).Time(1e9), BitRate(0).Bytes(time.Hour); d != 0 || n != 0 {
		t.Errorf("no limit: %v, %v; want zeros", d, n)
	}
}

// TestFifoAgainstSlice holds both queues against plain slices.
func TestFifoAgainstSlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var q fifo[byte]
		var r byteRing
		var model []byte
		rt.Repeat(map[string]func(*rapid.T){
			"push": func(rt *rapid.T) {
				p := rapid.SliceOfN(rapid.Byte(), 0, 6000).Draw(rt, "bytes")
				model = append(model, p...)
				r.write(p)
				for _, b := range p {
					q.push(b)
				}
			},
			"pop": func(rt *rapid.T) {
				p := make([]byte, rapid.IntRange(0, len(model)).Draw(rt, "n"))
				r.read(p)
				if !bytes.Equal(p, model[:len(p)]) {
					rt.Fatal("the ring's bytes differ")
				}
				for _, want := range p {
					if front, got := *q.front(), q.pop(); got != want || front != want {
						rt.Fatalf("popped %d, front %d, want %d", got, front, want)
					}
				}
				model = model[len(p):]
			},
			"": func(rt *rapid.T) {
				if q.len() != len(model) || r.len() != len(model) {
					rt.Fatalf("lengths %d and %d, want %d", q.len(), r.len(), len(model))
				}
			},
		})
	})
}
