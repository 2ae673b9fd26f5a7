package mux

import (
	"bufio"
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

// echoing is an in-memory conn: a cookie written is answered by a later read,
// and reads repeat one batch of frames.
type echoing struct {
	chunked
	batch []byte
	next  int
	pong  [12]byte
	due   bool
}

func (e *echoing) Write(p []byte) (int, error) {
	if len(p) >= 12 && p[1] == wirePing {
		e.pong = [12]byte{1: wirePing, 3: wireACK}
		copy(e.pong[8:], p[8:12])
		e.due = true
	}
	return len(p), nil
}

func (e *echoing) Read(p []byte) (int, error) {
	if e.due && e.next == 0 {
		e.due = false
		return copy(p, e.pong[:]), nil
	}
	n := copy(p, e.batch[e.next:])
	if e.next += n; e.next == len(e.batch) {
		e.next = 0
	}
	return n, nil
}

const smallBody = 64

// writeFrame writes as hashicorp/yamux does: header and body by themselves.
func writeFrame(b *testing.B, w io.Writer, frame []byte) {
	if _, err := w.Write(frame[:12]); err != nil {
		b.Fatal(err)
	}
	if _, err := w.Write(frame[12:]); err != nil {
		b.Fatal(err)
	}
}

// readFrames reads n frames of smallBody bytes as hashicorp/yamux does: a
// buffered header, then the body.
func readFrames(b *testing.B, r io.Reader, n int, buf []byte) {
	for range n {
		if _, err := io.ReadFull(r, buf[:12+smallBody]); err != nil {
			b.Fatal(err)
		}
	}
}

// onConn runs f on the bare conn and on a wrapped one with default options.
// The difference is what the shim adds.
func onConn(b *testing.B, f func(b *testing.B, c net.Conn)) {
	b.Run("bare", func(b *testing.B) { f(b, busy()) })
	b.Run("shim", func(b *testing.B) {
		c := wrapBusy(b)
		defer c.Close()
		f(b, c)
	})
}

// busy is a conn whose reads bring fifty frames.
func busy() *echoing {
	e := &echoing{}
	for range 50 {
		e.batch = append(e.batch, wireFrame(0, 1, pattern(smallBody, 1))...)
	}
	return e
}

// wrapBusy wraps it, with a stream open that has credit for all.
func wrapBusy(b *testing.B) *Conn {
	c := Wrap(busy())
	if _, err := c.Write(wireHead(wireWindow, wireSYN, 1, 1<<31)); err != nil {
		b.Fatal(err)
	}
	return c
}

// newReader is the buffer that yamux reads through.
func newReader(c net.Conn) io.Reader { return bufio.NewReader(c) }

// BenchmarkWrite64 is a 64 B frame written, cookies included.
func BenchmarkWrite64(b *testing.B) {
	onConn(b, func(b *testing.B, c net.Conn) {
		frame := wireFrame(0, 1, pattern(smallBody, 1))
		b.ReportAllocs()
		for b.Loop() {
			writeFrame(b, c, frame)
		}
	})
}

// BenchmarkRead64 is a 64 B frame read, through the 4 KiB buffer that yamux
// has and the conn under it; fifty of them come at a time, as on a busy path.
func BenchmarkRead64(b *testing.B) {
	onConn(b, func(b *testing.B, c net.Conn) {
		r, buf := newReader(c), make([]byte, 99)
		b.ReportAllocs()
		for b.Loop() {
			readFrames(b, r, 1, buf)
		}
	})
}

// BenchmarkWrite is larger frames written: what splitting costs.
func BenchmarkWrite(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1 << 10, "16KiB": 16 << 10, "256KiB": 256 << 10} {
		b.Run(name, func(b *testing.B) {
			onConn(b, func(b *testing.B, c net.Conn) {
				frame := wireFrame(0, 1, pattern(size, 1))
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					writeFrame(b, c, frame)
				}
			})
		})
	}
}

// BenchmarkSnapshot is a snapshot of a connection in use.
func BenchmarkSnapshot(b *testing.B) {
	f := newFake()
	c := Wrap(f)
	defer c.Close()
	c.Write(opening)
	for range 200 {
		f.feed(wireFrame(0, 1, pattern(1000, 1)))
		io.ReadFull(c, make([]byte, 1012))
	}
	defer c.Meter().Begin()()
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Meter().Snapshot()
	}
}

// BenchmarkCookie is a frame written with a cookie on it and its echo read.
func BenchmarkCookie(b *testing.B) {
	e := &echoing{batch: wirePong(1)}
	c := Wrap(e, eager())
	defer c.Close()
	buf := make([]byte, 99)
	b.ReportAllocs()
	for b.Loop() {
		c.Write(opening)
		c.Read(buf)
	}
	if n := c.Meter().Snapshot().Cookies.Echoed; n < uint64(b.N)/2 {
		b.Fatalf("%d echoes of %d", n, b.N)
	}
}

// BenchmarkAdded is the figure that has a bar: the median over ten alternating
// rounds of what the shim adds to a 64 B frame, each way.
func BenchmarkAdded(b *testing.B) {
	const rounds, frames = 10, 50_000
	for name, step := range map[string]func(b *testing.B, c net.Conn) func(){
		"write": func(b *testing.B, c net.Conn) func() {
			frame := wireFrame(0, 1, pattern(smallBody, 1))
			return func() { writeFrame(b, c, frame) }
		},
		"read": func(b *testing.B, c net.Conn) func() {
			r, buf := newReader(c), make([]byte, 99)
			return func() { readFrames(b, r, 1, buf) }
		},
	} {
		b.Run(name, func(b *testing.B) {
			var added []float64
			for b.Loop() {
				added = added[:0]
				for range rounds {
					c := wrapBusy(b)
					bare := perFrame(frames, step(b, busy()))
					added = append(added, perFrame(frames, step(b, c))-bare)
					c.Close()
				}
			}
			slices.Sort(added)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric((added[rounds/2-1]+added[rounds/2])/2, "ns-added/frame")
		})
	}
}

// perFrame is how many nanoseconds one of n calls takes.
func perFrame(n int, do func()) float64 {
	began := time.Now()
	for range n {
		do()
	}
	return float64(time.Since(began)) / float64(n)
}
