package lab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// script is a conn whose reads are given: bytes, or an error.
type script struct {
	reads []any
}

func (s *script) Read(p []byte) (int, error) {
	if len(s.reads) == 0 {
		return 0, io.EOF
	}
	switch r := s.reads[0].(type) {
	case error:
		s.reads = s.reads[1:]
		return 0, r
	case []byte:
		n := copy(p, r)
		if s.reads[0] = r[n:]; n == len(r) {
			s.reads = s.reads[1:]
		}
		return n, nil
	}
	return 0, errors.New("lab: a script holds bytes and errors")
}

func (*script) Write(p []byte) (int, error) { return len(p), nil }
func (*script) Close() error                { return nil }

// frame is a yamux frame: a body only if it is Data.
func frame(kind byte, length int) []byte {
	h := make([]byte, yamuxHeader)
	h[1] = kind
	binary.BigEndian.PutUint32(h[8:], uint32(length))
	if kind == yamuxData {
		h = append(h, bytes.Repeat([]byte{'d'}, length)...)
	}
	return h
}

// step is what one Read gives.
type step struct {
	n   int
	err error
}

func TestWholeFrames(t *testing.T) {
	data, ping := frame(yamuxData, 100), frame(2, 1<<31)
	gone := errors.New("gone")
	tests := []struct {
		name  string
		reads []any
		want  []step
	}{
		{"a body in parts", []any{data[:50], data[50:80], data[80:]}, []step{{112, nil}, {0, io.EOF}}},
		{"a header in parts", []any{data[:5], data[5:]}, []step{{112, nil}, {0, io.EOF}}},
		{"a length is no body", []any{ping, ping}, []step{{12, nil}, {12, nil}, {0, io.EOF}}},
		{"whole and part", []any{append(append(ping, ping...), data[:20]...), data[20:]}, []step{{24, nil}, {112, nil}, {0, io.EOF}}},
		{"part, then the end", []any{data[:20]}, []step{{20, nil}, {0, io.EOF}, {0, io.EOF}}},
		{"part, then an error", []any{data[:20], gone}, []step{{20, nil}, {0, gone}, {0, gone}}},
		{"part, then a deadline", []any{data[:20], os.ErrDeadlineExceeded, data[20:]}, []step{{0, os.ErrDeadlineExceeded}, {112, nil}, {0, io.EOF}}},
		{"an empty body", []any{frame(yamuxData, 0)}, []step{{12, nil}, {0, io.EOF}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := WholeFrames(&script{reads: tt.reads})
			for i, want := range tt.want {
				n, err := c.Read(make([]byte, 1000))
				if n != want.n || !errors.Is(err, want.err) {
					t.Errorf("read %d: %d, %v; want %d, %v", i, n, err, want.n, want.err)
				}
			}
		})
	}
}

// TestWholeFramesTooLong: a forged length holds nothing back, and the frame after it
// is found again.
func TestWholeFramesTooLong(t *testing.T) {
	const body = maxHeld + 1
	long := frame(yamuxData, body)
	tail := frame(yamuxData, 10)
	c := WholeFrames(&script{reads: []any{long[:20], long[20:], tail[:15], tail[15:]}})
	if n, err := c.Read(make([]byte, 100)); n != 20 || err != nil {
		t.Errorf("first read %d, %v; want 20", n, err)
	}
	if _, err := io.ReadFull(c, make([]byte, len(long)-20)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 100)); n != len(tail) || err != nil {
		t.Errorf("last read %d, %v; want %d", n, err, len(tail))
	}
}

func TestWholeFramesPassesThrough(t *testing.T) {
	a, b := Pair(Link{})
	w := WholeFrames(a)
	if w.LocalAddr() != a.LocalAddr() || w.RemoteAddr() != a.RemoteAddr() {
		t.Errorf("addresses %v, %v", w.LocalAddr(), w.RemoteAddr())
	}
	past := time.Now().Add(-time.Second)
	for _, set := range []func(time.Time) error{w.SetReadDeadline, w.SetDeadline} {
		if err := set(past); err != nil {
			t.Error(err)
		}
		if _, err := w.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v, want a timeout", err)
		}
		w.SetDeadline(time.Time{})
	}
	w.SetWriteDeadline(past)
	if _, err := w.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write: %v, want a timeout", err)
	}
	w.SetWriteDeadline(time.Time{})
	w.Write([]byte("xyz"))
	w.Close()
	if got, err := io.ReadAll(b); string(got) != "xyz" || err != nil {
		t.Errorf("peer read %q, %v", got, err)
	}
}

func TestWholeFramesWithoutNet(t *testing.T) {
	w := WholeFrames(&script{})
	if w.LocalAddr() == nil || w.RemoteAddr() == nil {
		t.Error("no address at all")
	}
	for _, err := range []error{w.SetDeadline(time.Time{}), w.SetReadDeadline(time.Time{}), w.SetWriteDeadline(time.Time{})} {
		if !errors.Is(err, os.ErrNoDeadline) {
			t.Errorf("deadline: %v, want ErrNoDeadline", err)
		}
	}
	if n, err := w.Read(nil); n != 0 || err != nil {
		t.Errorf("empty read: %d, %v", n, err)
	}
	var _ net.Conn = w
}

// TestWholeFramesAnyChunking: frames in any pieces come up complete, in order.
func TestWholeFramesAnyChunking(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all []byte
		ends := map[int]bool{}
		for range rapid.IntRange(1, 20).Draw(rt, "frames") {
			kind := byte(rapid.IntRange(0, 3).Draw(rt, "type"))
			all = append(all, frame(kind, rapid.IntRange(0, 5000).Draw(rt, "length"))...)
			ends[len(all)] = true
		}
		c := WholeFrames(&script{reads: chunks(all, rapid.SliceOfN(rapid.IntRange(1, 4000), 1, 20).Draw(rt, "cuts"))})
		got := 0
		for got < len(all) {
			p := make([]byte, len(all)+1)
			n, err := c.Read(p)
			if err != nil || !bytes.Equal(p[:n], all[got:got+n]) {
				rt.Fatalf("at %d: %d bytes, %v, or they differ", got, n, err)
			}
			if got += n; !ends[got] {
				rt.Fatalf("a read ended at %d, inside a frame", got)
			}
		}
	})
}

// chunks cuts p by the sizes, over and over.
func chunks(p []byte, sizes []int) (out []any) {
	for i := 0; len(p) > 0; i++ {
		n := min(len(p), sizes[i%len(sizes)])
		out = append(out, p[:n])
		p = p[n:]
	}
	return out
}

// FuzzWholeFrames: for any bytes in any pieces, what comes up is what went in.
func FuzzWholeFrames(f *testing.F) {
	f.Add(append(frame(yamuxData, 10), frame(2, 7)...), 5)        // across a header
	f.Add(frame(yamuxData, 300)[:100], 100)                       // cut short
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255}, 12) // forged length
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), 1)                    // not yamux at all
	f.Fuzz(func(t *testing.T, p []byte, size int) {
		if size < 1 {
			size = 1
		}
		got, err := io.ReadAll(WholeFrames(&script{reads: chunks(p, []int{size})}))
		if err != nil || !bytes.Equal(got, p) {
			t.Errorf("%d bytes, %v; want the %d that went in", len(got), err, len(p))
		}
	})
}
