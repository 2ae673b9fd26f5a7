package lab

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a link on which a Read waits for long enough to be disturbed.
var slow = Link{Rate: 80 * Kbit, OneWay: time.Second, Buffer: 4000, MSS: 1000}

// wantErr checks an error and that it looks like one of net's.
func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	var op *net.OpError
	if !errors.Is(err, want) || !errors.As(err, &op) {
		t.Errorf("%s: %v, want a *net.OpError around %v", what, err, want)
	}
}

// wantAt checks how much virtual time has passed.
func wantAt(t *testing.T, what string, start time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(start); (got - want).Abs() > time.Microsecond {
		t.Errorf("%s after %v, want %v", what, got, want)
	}
}

// TestWakes disturbs a Read and a Write that wait: the one it is meant for must
// end at that instant, with that error, the other when the conn is closed.
func TestWakes(t *testing.T) {
	past := func() time.Time { return time.Now().Add(-1) }
	closed, late := net.ErrClosed, os.ErrDeadlineExceeded
	tests := []struct {
		name        string
		disturb     func(*Conn)
		read, write error
	}{
		{"close", func(c *Conn) { c.Close() }, closed, closed},
		{"past deadline", func(c *Conn) { c.SetDeadline(past()) }, late, late},
		{"read deadline", func(c *Conn) { c.SetReadDeadline(past()) }, late, nil},
		{"write deadline", func(c *Conn) { c.SetWriteDeadline(past()) }, nil, late},
		{"close write", func(c *Conn) { c.CloseWrite() }, nil, closed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := Pair(slow)
				time.AfterFunc(100*time.Millisecond, func() { tt.disturb(c) })
				time.AfterFunc(200*time.Millisecond, func() { c.Close() })
				var wg sync.WaitGroup
				wg.Go(func() { wantWake(t, "read", c.Read, tt.read) })
				wg.Go(func() { wantWake(t, "write", c.Write, tt.write) })
				wg.Wait()
			})
		})
	}
}

// wantWake checks that f ends with an error after 100 ms, or, without one, as
// closed after 200.
func wantWake(t *testing.T, what string, f func([]byte) (int, error), want error) {
	start, at := time.Now(), 100*time.Millisecond
	if want == nil {
		want, at = net.ErrClosed, 200*time.Millisecond
	}
	_, err := f(make([]byte, 9000))
	wantErr(t, what, err, want)
	wantAt(t, what, start, at)
}

// TestWakeBetweenArrivals: a Read that waits for bytes on the wire is disturbed
// too, and finds them later.
func TestWakeBetweenArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		start := time.Now()
		a.Write(make([]byte, 1000))
		b.SetReadDeadline(start.Add(300 * time.Millisecond))
		_, err := b.Read(make([]byte, 10))
		wantErr(t, "read", err, os.ErrDeadlineExceeded)
		wantAt(t, "timeout", start, 300*time.Millisecond)
		b.SetReadDeadline(time.Time{})
		n, err := b.Read(make([]byte, 9000))
		if n != 1000 || err != nil {
			t.Errorf("read %d, %v; want all 1000 bytes", n, err)
		}
		wantAt(t, "arrival", start, 1100*time.Millisecond)
	})
}

// TestDeadlineMoved: a later deadline takes the place of an earlier one while a
// Read waits.
func TestDeadlineMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := Pair(slow)
		start := time.Now()
		a.SetReadDeadline(start.Add(time.Second))
		time.AfterFunc(time.Second/2, func() { a.SetReadDeadline(start.Add(3 * time.Second)) })
		_, err := a.Read(make([]byte, 1))
		wantErr(t, "read", err, os.ErrDeadlineExceeded)
		wantAt(t, "timeout", start, 3*time.Second)
	})
}

func TestReadReturnsAllThatArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		a.Write(make([]byte, 3500))
		time.Sleep(1250 * time.Millisecond) // two segments of 100 ms each are in
		for _, want := range []int{1500, 500, 1000, 500} {
			if n, err := b.Read(make([]byte, 1500)); n != want || err != nil {
				t.Errorf("read %d, %v; want %d", n, err, want)
			}
		}
	})
}

func TestWriteWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		var wg sync.WaitGroup
		wg.Go(func() { io.Copy(io.Discard, b) })
		defer wg.Wait()
		defer a.Close()
		start := time.Now()
		n, err := a.Write(make([]byte, 6000))
		if n != 6000 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
		// The buffer holds four segments; the sixth is in when the second has
		// arrived.
		wantAt(t, "write", start, 1200*time.Millisecond)
	})
}

func TestWritesAreContiguous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		for _, c := range []byte("xyz") {
			go func() {
				p := make([]byte, 5000)
				for i := range p {
					p[i] = c
				}
				a.Write(p)
			}()
		}
		all := make([]byte, 15000)
		io.ReadFull(b, all)
		for i, c := range all {
			if first := all[i/5000*5000]; c != first {
				t.Fatalf("byte %d is %c, inside a write of %c", i, c, first)
			}
		}
	})
}

func TestHalfClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		start := time.Now()
		a.Write(make([]byte, 2000))
		a.CloseWrite()
		wantErr(t, "second CloseWrite", a.CloseWrite(), net.ErrClosed)
		if all, err := io.ReadAll(b); len(all) != 2000 || err != nil {
			t.Errorf("read %d bytes, %v", len(all), err)
		}
		wantAt(t, "EOF", start, 1200*time.Millisecond)
		b.Write([]byte("answer"))
		b.Close()
		if all, err := io.ReadAll(a); string(all) != "answer" || err != nil {
			t.Errorf("read %q, %v", all, err)
		}
		wantAt(t, "answer", start, 2200*time.Millisecond+600*time.Microsecond)
	})
}

func TestCloseDeliversWhatWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		a.Write(make([]byte, 3000))
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		wantErr(t, "second Close", a.Close(), net.ErrClosed)
		wantErr(t, "deadline", a.SetDeadline(time.Time{}), net.ErrClosed)
		_, err := a.Read(make([]byte, 1))
		wantErr(t, "read", err, net.ErrClosed)
		_, err = a.Write(make([]byte, 1))
		wantErr(t, "write", err, net.ErrClosed)
		if all, err := io.ReadAll(b); len(all) != 3000 || err != nil {
			t.Errorf("peer read %d bytes, %v", len(all), err)
		}
	})
}

// TestWriteToClosedPeer: the first write after the peer closed succeeds, and is
// refused one round trip later.
func TestWriteToClosedPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		b.Close()
		start := time.Now()
		for range 20 {
			if _, err := a.Write(make([]byte, 1000)); err != nil {
				t.Fatalf("after %v: %v", time.Since(start), err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond) // 2.2 s: segment, there and back are 2.1 s
		_, err := a.Write([]byte{1})
		wantErr(t, "write", err, syscall.EPIPE)
	})
}

// TestCloseUnread: a peer that closes on bytes it has not read refuses them.
func TestCloseUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(slow)
		start := time.Now()
		time.AfterFunc(2*time.Second, func() { b.Close() })
		n, err := a.Write(make([]byte, 9000)) // blocked until the close throws away
		wantAt(t, "write", start, 2*time.Second)
		if n != 9000 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
		time.Sleep(1001 * time.Millisecond)
		_, err = a.Write([]byte{1})
		wantErr(t, "write", err, syscall.EPIPE)
	})
}

func TestAddresses(t *testing.T) {
	a, b := Pair(Link{})
	if a.LocalAddr() != b.RemoteAddr() || a.RemoteAddr() != b.LocalAddr() || a.LocalAddr() == a.RemoteAddr() {
		t.Errorf("a %v to %v, b %v to %v", a.LocalAddr(), a.RemoteAddr(), b.LocalAddr(), b.RemoteAddr())
	}
	if got := a.LocalAddr().Network() + " " + a.LocalAddr().String(); got != "lab a" {
		t.Errorf("address %q, want %q", got, "lab a")
	}
}

// TestRealTime runs the pair outside a bubble: nothing is early.
func TestRealTime(t *testing.T) {
	a, b := Pair(Link{Rate: 10 * Mbit, OneWay: 5 * time.Millisecond})
	if _, last := fetch(t, a, b, 20e3); last < 26*time.Millisecond {
		t.Errorf("took %v, 26 ms is the least", last)
	}
}
