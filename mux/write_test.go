package mux

import (
	"bytes"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var errBroken = errors.New("test: the conn broke")

// failAfter lets the first n bytes through and then fails with err.
func failAfter(n int, err error) func(p []byte) (int, error) {
	return func(p []byte) (int, error) {
		if len(p) <= n {
			n -= len(p)
			return len(p), nil
		}
		k := n
		n = 0
		return k, err
	}
}

func TestPartialWriteMakesItsErrorSticky(t *testing.T) {
	for _, after := range []int{1, 11, 12, 13, 4000} {
		c, f := wrapFake(t, WithoutCookies())
		f.setOnWrite(failAfter(after, errBroken))
		mustWrite(t, c, wireHead(wireData, 0, 1, 5000))
		if _, err := c.Write(pattern(5000, 1)); !errors.Is(err, errBroken) {
			t.Fatalf("after %d bytes: %v", after, err)
		}
		f.setOnWrite(nil)
		for range 2 {
			if n, err := c.Write(wireHead(wirePing, wireSYN, 0, 1)); n != 0 || !errors.Is(err, errBroken) {
				t.Fatalf("later write: %d, %v", n, err)
			}
		}
		if got := len(f.wire()); got != after {
			t.Errorf("%d bytes on the wire, want the first %d and no more", got, after)
		}
	}
}

func TestPartialWriteIsStickyEvenForATimeout(t *testing.T) {
	c, f := wrapFake(t, WithoutCookies())
	f.setOnWrite(failAfter(5, os.ErrDeadlineExceeded))
	mustWriteFails(t, c, wireHead(wirePing, wireSYN, 0, 1), os.ErrDeadlineExceeded)
	f.setOnWrite(nil)
	mustWriteFails(t, c, wireHead(wirePing, wireSYN, 0, 2), os.ErrDeadlineExceeded)
	if got := len(f.wire()); got != 5 {
		t.Errorf("%d bytes on the wire, want 5", got)
	}
}

func mustWriteFails(t *testing.T, c *Conn, p []byte, want error) {
	t.Helper()
	if n, err := c.Write(p); n >= len(p) || !errors.Is(err, want) {
		t.Fatalf("wrote %d of %d: %v, want %v", n, len(p), err, want)
	}
}

// hostBytes is how many of the host's bytes are out when n bytes of the wire
// are: all but the headers that only splitting made.
func hostBytes(host []byte, n, sdu, limit int) int {
	frames, _ := parseWire(host)
	out := 0
	pass := func(k int) bool { // the next k bytes of the wire are the host's own
		out += min(k, n)
		n -= k
		return n > 0
	}
	for _, f := range frames {
		if !pass(12) {
			return out
		}
		for from := 0; from < len(f.body); {
			if from > 0 {
				n -= 12 // a header of ours
			}
			k := min(sduAfter(from, sdu, limit), len(f.body)-from)
			if n <= 0 || !pass(k) {
				return out
			}
			from += k
		}
	}
	return out
}

func TestWriteReportsTheCallersBytesUpToAnError(t *testing.T) {
	const sdu = minSDU
	rapid.Check(t, func(rt *rapid.T) {
		var host []byte
		for i := range rapid.IntRange(1, 12).Draw(rt, "frames") {
			size := rapid.SampledFrom([]int{0, 1, 500, 1024, 1025, 3000, 70_000}).Draw(rt, "body")
			host = append(host, wireFrame(0, uint32(i), pattern(size, uint32(i)))...)
		}
		f := newFake()
		c := Wrap(f, WithoutCookies(), WithSDU(sdu))
		defer c.Close()
		c.vector = rapid.Bool().Draw(rt, "vector")
		after := rapid.IntRange(0, len(host)+12*len(host)/sdu).Draw(rt, "after")
		f.setOnWrite(failAfter(after, errBroken))
		n, err := c.Write(host)
		wire := f.wire()
		if err == nil {
			if n != len(host) || checkWire(host, wire, sdu, false) != nil {
				rt.Fatalf("%d of %d bytes and no error", n, len(host))
			}
			return
		}
		if want := hostBytes(host, len(wire), sdu, c.limit); !errors.Is(err, errBroken) || n != want {
			rt.Fatalf("reported %d bytes, want %d with %d on the wire: %v", n, want, len(wire), err)
		}
	})
}

func TestWriteOfABodyReportsNoneOfTheHeaderBefore(t *testing.T) {
	for after, want := range map[int]int{0: 0, 11: 0, 12: 0, 13: 1, 30: 18} {
		c, f := wrapFake(t, WithoutCookies())
		f.setOnWrite(failAfter(after, errBroken))
		mustWrite(t, c, wireHead(wireData, 0, 1, 100))
		if n, err := c.Write(pattern(100, 1)); n != want || !errors.Is(err, errBroken) {
			t.Errorf("after %d bytes: reported %d (%v), want %d", after, n, err, want)
		}
	}
}

func TestWriteTimeoutWithNothingWrittenIsNotSticky(t *testing.T) {
	for name, opts := range map[string][]Option{"sync": nil, "async": {WithAsyncWrites()}} {
		t.Run(name, func(t *testing.T) {
			c, f := wrapFake(t, append(opts, eager())...)
			body := pattern(100, 1)
			mustWrite(t, c, wireHead(wireData, wireACK, 1, 100))
			f.setOnWrite(failAfter(0, os.ErrDeadlineExceeded))
			if n, err := c.Write(body); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("%d, %v", n, err)
			}
			if s := c.Meter().Snapshot(); s.Outstanding != 0 || s.Cookies.Withdrawn != 1 {
				t.Errorf("%d cookies outstanding, %d withdrawn; want 0, 1", s.Outstanding, s.Cookies.Withdrawn)
			}
			f.setOnWrite(nil)
			mustWrite(t, c, body)
			c.Close()
			host := join(wireHead(wireData, wireACK, 1, 100), body)
			if err := checkWire(host, f.wire(), defaultSDU, true); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWriteTimeoutBetweenTwoWritesKeepsTheFrame(t *testing.T) {
	// Longer than one write of a conn without vectors: the second one times out.
	c, f := wrapFake(t, WithoutCookies())
	host := wireFrame(wireSYN|wireFIN, 1, pattern(150_000, 1))
	var calls int
	f.setOnWrite(func(p []byte) (int, error) {
		if calls++; calls == 2 {
			return 0, os.ErrDeadlineExceeded
		}
		return len(p), nil
	})
	n, err := c.Write(host)
	if !errors.Is(err, os.ErrDeadlineExceeded) || n <= 0 || n >= len(host) {
		t.Fatalf("%d, %v", n, err)
	}
	mustWrite(t, c, host[n:])
	if err := checkWire(host, f.wire(), defaultSDU, false); err != nil {
		t.Error(err)
	}
}

func TestWriteTakesNothing(t *testing.T) {
	c, f := wrapFake(t)
	if n, err := c.Write(nil); n != 0 || err != nil || f.written() != 0 {
		t.Errorf("%d, %v, %d writes", n, err, f.written())
	}
}

func TestHeaderAndBodyGoOutInOneWrite(t *testing.T) {
	for _, size := range []int{1, 64, 5000, 40_000} {
		c, f := wrapFake(t, eager())
		mustWrite(t, c, wireHead(wireData, 0, 1, uint32(size)))
		if f.written() != 0 {
			t.Fatal("the header went out alone")
		}
		mustWrite(t, c, pattern(size, 1))
		if f.written() != 1 || len(f.cookies()) != 1 {
			t.Errorf("%d bytes: %d writes with %d cookies, want one of each", size, f.written(), len(f.cookies()))
		}
	}
}

func TestNothingOfTheCallersIsKept(t *testing.T) {
	for name, opts := range map[string][]Option{"sync": nil, "async": {WithAsyncWrites()}} {
		t.Run(name, func(t *testing.T) {
			c, f := wrapFake(t, opts...)
			gate := make(chan struct{})
			if opts != nil {
				f.setOnWrite(func(p []byte) (int, error) { <-gate; return len(p), nil })
			} else {
				close(gate)
			}
			var host []byte
			for i := range uint32(6) {
				frame := wireFrame(0, i, pattern(6000, i))
				host = append(host, frame...)
				head, body := frame[:12:12], frame[12:]
				mustWrite(t, c, head)
				clear(head) // held, not yet written
				mustWrite(t, c, body)
				clear(body) // queued, not yet written
			}
			if opts != nil {
				close(gate)
			}
			c.Close()
			if err := checkWire(host, f.wire(), defaultSDU, true); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestConcurrentWritesKeepWholeFrames(t *testing.T) {
	for name, opts := range map[string][]Option{"sync": nil, "async": {WithAsyncWrites()}} {
		t.Run(name, func(t *testing.T) {
			c, f := wrapFake(t, append(opts, eager())...)
			const writers, each = 8, 50
			var wg sync.WaitGroup
			for w := range uint32(writers) {
				wg.Go(func() {
					for range each {
						mustWrite(t, c, wireFrame(0, w, bytes.Repeat([]byte{byte(w)}, 300)))
					}
				})
			}
			wg.Wait()
			c.Close()
			frames, rest := parseWire(f.wire())
			count := 0
			for _, p := range frames {
				if p.kind != wireData {
					continue
				}
				count++
				if len(p.body) != 300 || bytes.Count(p.body, []byte{byte(p.stream)}) != 300 {
					t.Fatalf("stream %d has bytes of another", p.stream)
				}
			}
			if count != writers*each || len(rest) > 0 {
				t.Errorf("%d frames and %d bytes more", count, len(rest))
			}
		})
	}
}

func TestAsyncErrorIsReportedOneWriteLateAndForEver(t *testing.T) {
	c, f := wrapFake(t, WithAsyncWrites(), WithoutCookies())
	f.setOnWrite(failAfter(0, errBroken))
	frame := wireFrame(0, 1, pattern(8000, 1)) // too large for the direct way
	mustWrite(t, c, frame)
	eventually(t, "the queue's error comes up", func() bool {
		_, err := c.Write(frame)
		return errors.Is(err, errBroken)
	})
	f.setOnWrite(nil)
	mustWriteFails(t, c, frame, errBroken)
}

func TestAsyncQueueIsBounded(t *testing.T) {
	c, f := wrapFake(t, WithAsyncWrites(), WithoutCookies())
	gate := make(chan struct{})
	f.setOnWrite(func(p []byte) (int, error) { <-gate; return len(p), nil })
	frame := wireFrame(0, 1, pattern(16<<10, 1))
	took := make(chan int)
	go func() {
		total := 0
		for range 100 {
			n, err := c.Write(frame)
			if total += n; err != nil {
				break
			}
			select {
			case took <- total:
			case <-gate:
			}
		}
		close(took)
	}()
	total := 0
	for blocked := false; !blocked; {
		select {
		case total = <-took:
		case <-time.After(300 * time.Millisecond):
			blocked = true
		}
	}
	// One flight under way, one queue behind it.
	if limit := 2*asyncLimit + len(frame); total > limit || total < asyncLimit/2 {
		t.Errorf("%d bytes taken with the conn blocked, want at most %d", total, limit)
	}
	close(gate)
	for range took {
	}
}

func TestAsyncTimeoutLeavesNoLoneCookieBehind(t *testing.T) {
	// Part of a frame is out: whatever came after it would be read as its body.
	c, f := wrapFake(t, WithAsyncWrites(), eager())
	mustWrite(t, c, wireFrame(0, 1, []byte("abc")))
	eventually(t, "first frame", func() bool { return f.written() == 1 })
	f.setOnWrite(failAfter(100, os.ErrDeadlineExceeded))
	mustWrite(t, c, wireFrame(0, 1, pattern(8000, 1)))
	eventually(t, "second write", func() bool { return f.written() == 2 })
	f.setOnWrite(nil)
	eventually(t, "the writer has ended", func() bool {
		select {
		case <-c.async.done:
			return true
		default:
			return false
		}
	})
	before := f.written()
	c.loneCookie(c.meter.now())
	if f.written() != before {
		t.Error("a cookie was written after part of a frame")
	}
}

func TestWriteAfterCloseIsRefused(t *testing.T) {
	for name, opts := range map[string][]Option{"sync": nil, "async": {WithAsyncWrites()}} {
		c, _ := wrapFake(t, opts...)
		c.Close()
		if n, err := c.Write(wireHead(wirePing, wireSYN, 0, 1)); n != 0 || !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}
