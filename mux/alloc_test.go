//go:build !race

package mux

import (
	"encoding/binary"
	"testing"
)

// mirror is an in-memory conn whose reads repeat a batch of frames for ever,
// the answers to cookies written meanwhile among them. It allocates nothing.
type mirror struct {
	chunked
	batch   []byte
	answers [16][headerSize]byte
	waiting int
}

func (m *mirror) Write(p []byte) (int, error) {
	// A cookie is always first in its write.
	if len(p) >= headerSize && p[1] == wirePing && p[3] == wireSYN && p[8]&0x80 != 0 && m.waiting < len(m.answers) {
		a := &m.answers[m.waiting]
		*a = [headerSize]byte{1: wirePing, 3: wireACK}
		copy(a[8:], p[8:headerSize])
		m.waiting++
	}
	return len(p), nil
}

func (m *mirror) Read(p []byte) (int, error) {
	n := 0
	for i := range m.waiting {
		n += copy(p[n:], m.answers[i][:])
	}
	m.waiting = 0
	return n + copy(p[n:], m.batch), nil
}

// mustNotAllocate fails if f allocates in the long run. What happens once, or
// once a minute, does not count: the average is rounded down.
func mustNotAllocate(t *testing.T, what string, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(2000, f); n != 0 {
		t.Errorf("%s: %v allocations a run, want 0", what, n)
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	for _, size := range []int{64, 1 << 10, 16 << 10, 200 << 10} {
		for _, vector := range []bool{false, true} {
			frame := wireFrame(0, 1, pattern(size, 1))
			// Whole frames, for answers come between them.
			m := &mirror{batch: wireFrame(0, 1, pattern(min(size, 2<<10), 1))}
			c := Wrap(m, eager())
			c.vector = vector
			mustWrite(t, c, wireHead(wireWindow, wireSYN, 1, 0))
			// Credit without end, in steps as yamux grants it.
			grant := wireHead(wireWindow, 0, 1, 1<<30)
			buf := make([]byte, 64<<10)
			both := func() {
				mustWrite(t, c, frame[:headerSize])
				mustWrite(t, c, frame[headerSize:])
				mustWrite(t, c, grant)
				for range 3 {
					if _, err := c.Read(buf); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 200 {
				both()
			}
			before := c.Meter().Snapshot()
			mustNotAllocate(t, "frames both ways", both)
			s := c.Meter().Snapshot()
			if s.Cookies.Echoed == before.Cookies.Echoed || s.Counts.PayloadIn == before.Counts.PayloadIn {
				t.Errorf("%d bytes: no cookies echoed, or no payload counted", size)
			}
			if s.Cookies.Forged+s.Cookies.Replayed != 0 {
				t.Errorf("%d bytes: %+v", size, s.Cookies)
			}
			c.Close()
		}
	}
}

func TestAsyncWriteDoesNotAllocate(t *testing.T) {
	c := Wrap(&mirror{}, WithAsyncWrites())
	defer c.Close()
	frame := wireFrame(0, 1, pattern(16<<10, 1))
	write := func() {
		mustWrite(t, c, frame[:headerSize])
		mustWrite(t, c, frame[headerSize:])
	}
	for range 500 {
		write()
	}
	mustNotAllocate(t, "asynchronous write", write)
}

func TestSnapshotAndFetchDoNotAllocateMuch(t *testing.T) {
	c := Wrap(&mirror{})
	defer c.Close()
	var s Snapshot
	mustNotAllocate(t, "snapshot", func() { s = c.Meter().Snapshot() })
	if s.At <= 0 {
		t.Error("no time has passed")
	}
	// The closure, and what makes it work once.
	if n := testing.AllocsPerRun(500, func() { c.Meter().Begin()() }); n > 3 {
		t.Errorf("a fetch: %v allocations", n)
	}
}

func TestIdleConnectionHoldsLittle(t *testing.T) {
	c, f := wrapFake(t)
	mustWrite(t, c, wireHead(wireWindow, wireSYN, 1, 0))
	f.feed(wireHead(wireData, 0, 1, 100_000), pattern(100_000, 1))
	mustRead(t, c, 100_012)
	f.feed(wirePong(1))
	f.feed(wirePong(1))
	mustRead(t, c, 24)
	f.feed(wirePong(1))
	mustRead(t, c, 12)
	if c.in.chunk != nil || len(c.in.buf) != idleBuffer {
		t.Errorf("a buffer of %d bytes is held", len(c.in.buf))
	}
}

// The answers must be what wirePong makes, or the tests above measure nothing.
func TestMirrorAnswersCookies(t *testing.T) {
	m := &mirror{}
	m.Write(wireHead(wirePing, wireSYN, 0, 1<<31+77))
	b := make([]byte, 99)
	n, _ := m.Read(b)
	if n != 12 || string(b[:n]) != string(wirePong(1<<31+77)) || binary.BigEndian.Uint32(b[8:]) != 1<<31+77 {
		t.Errorf("%x", b[:n])
	}
}
