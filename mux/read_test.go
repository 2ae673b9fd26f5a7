package mux

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestReadNeverReturnsNothing(t *testing.T) {
	c, f := wrapFake(t)
	f.feed(wirePong(0x80000001))
	f.feed(wirePong(0x80000002), wirePong(0x80000003))
	f.feed(wirePong(0x80000004)[:7])
	go func() {
		time.Sleep(10 * time.Millisecond)
		f.feed(wirePong(0x80000004)[7:])
		f.feed(wirePong(5))
	}()
	b := make([]byte, 100)
	if n, err := c.Read(b); n != 12 || err != nil || !bytes.Equal(b[:n], wirePong(5)) {
		t.Errorf("%d, %v, %x; want the one answer that is not a cookie's", n, err, b[:n])
	}
}

func TestReadIntoNothing(t *testing.T) {
	c, _ := wrapFake(t)
	if n, err := c.Read(nil); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// bothConn returns bytes and an error in one Read, then another error.
type bothConn struct {
	*fake
	b    []byte
	err  error
	then error
	done bool
}

func (b *bothConn) Read(p []byte) (int, error) {
	if b.done {
		return 0, b.then
	}
	b.done = true
	return copy(p, b.b), b.err
}

func TestReadDeliversBytesBeforeTheErrorTheyCameWith(t *testing.T) {
	frame := wireFrame(0, 1, pattern(500, 1))
	c := Wrap(&bothConn{fake: newFake(), b: frame, err: errBroken, then: io.EOF})
	defer c.Close()
	if got := mustRead(t, c, len(frame)); !bytes.Equal(got, frame) {
		t.Error("bytes differ")
	}
	for range 3 {
		if n, err := c.Read(make([]byte, 9)); n != 0 || !errors.Is(err, errBroken) {
			t.Errorf("%d, %v; want the first error, for good", n, err)
		}
	}
}

func TestReadDeliversBytesThatCameWithATimeout(t *testing.T) {
	frame := wireFrame(0, 1, pattern(50, 1))
	c := Wrap(&bothConn{fake: newFake(), b: frame, err: os.ErrDeadlineExceeded, then: io.EOF})
	defer c.Close()
	mustRead(t, c, len(frame))
	if _, err := c.Read(make([]byte, 9)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestReadTimeoutIsNotSticky(t *testing.T) {
	c, f := wrapFake(t)
	for range 3 {
		c.SetReadDeadline(time.Now().Add(time.Millisecond))
		if n, err := c.Read(make([]byte, 9)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d, %v", n, err)
		}
	}
	c.SetReadDeadline(time.Time{})
	f.feed(wirePong(1))
	mustRead(t, c, 12)
}

func TestHeaderCutShortByTheEndIsHandedUp(t *testing.T) {
	for n := range 12 {
		c, f := wrapFake(t)
		want := join(wireFrame(0, 1, []byte("abc")), wirePong(0x80000001)[:n])
		f.feed(want)
		f.finish(io.EOF)
		got, err := io.ReadAll(struct{ io.Reader }{c})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes of a header: got %d of %d, %v", n, len(got), len(want), err)
		}
	}
}

// mute reads nothing and reports no error, as a Reader may.
type mute struct {
	*fake
	times int
}

func (m *mute) Read(p []byte) (int, error) {
	if m.times > 0 {
		m.times--
		return 0, nil
	}
	return m.fake.Read(p)
}

func TestReadsThatBringNothingArePutUpWithForAWhile(t *testing.T) {
	m := &mute{fake: newFake(), times: 50}
	m.feed(wirePong(1))
	c := Wrap(m)
	defer c.Close()
	mustRead(t, c, 12)

	m = &mute{fake: newFake(), times: 1 << 30}
	c = Wrap(m)
	defer c.Close()
	if _, err := c.Read(make([]byte, 9)); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

// gauge notes how large the buffers are that it reads into.
type gauge struct {
	*fake
	sizes []int
}

func (g *gauge) Read(p []byte) (int, error) {
	g.sizes = append(g.sizes, len(p))
	return g.fake.Read(p)
}

func TestReadBufferGrowsOnlyWhenFullAndShrinksAgain(t *testing.T) {
	g := &gauge{fake: newFake()}
	c := Wrap(g, WithSDU(0))
	defer c.Close()
	read := func(n int) int {
		g.feed(pattern(n, 1))
		mustRead(t, c, n)
		return g.sizes[len(g.sizes)-1]
	}
	// A body without end, so that the bytes are nobody's header.
	g.feed(wireHead(wireData, 0, 1, 1<<30))
	mustRead(t, c, 12)
	for _, step := range []struct{ n, buffer int }{
		{100, idleBuffer}, {idleBuffer - 1, idleBuffer}, {idleBuffer, idleBuffer},
		{20_000, len(chunk{})}, {20_000, len(chunk{})}, {100, len(chunk{})}, {100, idleBuffer},
	} {
		if got := read(step.n); got != step.buffer {
			t.Errorf("a read of %d went into a buffer of %d, want %d", step.n, got, step.buffer)
		}
	}
	if c.in.chunk != nil {
		t.Error("the large buffer is still held")
	}
}

// A bare yamux writes a header by itself: giving the large buffer back for it
// cost the reader of 256 KiB frames a tenth of its processor time.
func TestLargeBufferOutlastsAHeader(t *testing.T) {
	g := &gauge{fake: newFake()}
	c := Wrap(g)
	defer c.Close()
	const body = straightLeast - 1
	for range 3 {
		g.feed(wireHead(wireData, 0, 1, body))
		mustRead(t, c, headerSize)
		g.feed(pattern(body, 1))
		mustRead(t, c, body)
	}
	// All but the first body came in one read.
	last := g.sizes[len(g.sizes)-4:]
	for _, n := range last {
		if n != len(chunk{}) {
			t.Fatalf("reads into %v", g.sizes)
		}
	}
	// A frame that is announced and dribbled keeps nothing.
	g.feed(wireHead(wireData, 0, 1, body))
	mustRead(t, c, headerSize)
	for range 2 {
		g.feed(pattern(100, 1))
		mustRead(t, c, 100)
	}
	if c.in.chunk != nil {
		t.Error("the large buffer is held for a dribble")
	}
}

// What is large and the host's alone is not copied: it is read into the host's own slice, up to the end of
// its frame, and counted like any other.
func TestLargeBodiesAreReadStraight(t *testing.T) {
	g := &gauge{fake: newFake()}
	c := Wrap(g, WithSDU(0))
	defer c.Close()
	const body = 3 * straightLeast // within the window
	next := wireFrame(0, 1, pattern(100, 2))
	mustWrite(t, c, wireHead(wireWindow, wireSYN, 1, 0))
	g.feed(wireHead(wireData, 0, 1, body))
	mustRead(t, c, headerSize)
	g.feed(pattern(body, 1), next)
	p := make([]byte, 2*body)
	got := 0
	for got < body {
		n, err := c.Read(p[got:])
		if err != nil {
			t.Fatal(err)
		}
		if into := g.sizes[len(g.sizes)-1]; body-got >= straightLeast && into != body-got {
			t.Errorf("with %d bytes of the body to come, it read into %d", body-got, into)
		}
		got += n
	}
	if !bytes.Equal(p[:body], pattern(body, 1)) {
		t.Error("the body is not what was sent")
	}
	if rest := mustRead(t, c, len(next)); !bytes.Equal(rest, next) {
		t.Errorf("after it came %x", rest)
	}
	if n := c.Meter().Snapshot().Counts.PayloadIn; n != body+100 {
		t.Errorf("%d bytes of payload were counted", n)
	}
	if c.in.chunk != nil {
		t.Error("a large buffer is held that nothing was read into")
	}
}

// However reads and frames meet, the host sees the peer's bytes.
func TestReadsOfAnySizeSeeTheSameBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFake()
		c := Wrap(f, WithSDU(rapid.SampledFrom(cuttings).Draw(rt, "SDU")))
		defer c.Close()
		var want []byte
		for i := range rapid.IntRange(1, 5).Draw(rt, "frames") {
			size := rapid.SampledFrom([]int{0, 1, 5000, straightLeast - 1, straightLeast, 3*straightLeast + 7}).Draw(rt, "body")
			want = append(want, wireFrame(0, 1, pattern(size, uint32(i)))...)
		}
		for rest := want; len(rest) > 0; {
			n := min(rapid.SampledFrom([]int{1, 12, 4096, 70_000, 1 << 20}).Draw(rt, "chunk"), len(rest))
			f.feed(rest[:n])
			rest = rest[n:]
		}
		f.finish(io.EOF)
		var got []byte
		p := make([]byte, 1<<20)
		for {
			n, err := c.Read(p[:rapid.SampledFrom([]int{1, 12, 4096, straightLeast, 1 << 20}).Draw(rt, "read")])
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			got = append(got, p[:n]...)
		}
		if !bytes.Equal(uncut(got, want, c.cutAbove), want) {
			rt.Fatal("the bytes differ")
		}
	})
}

func TestReadAfterCloseIsRefused(t *testing.T) {
	c, f := wrapFake(t)
	f.feed(wirePong(1))
	c.Close()
	if n, err := c.Read(make([]byte, 99)); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%d, %v", n, err)
	}
}

func TestBytesGoUpPerReadNotPerFrame(t *testing.T) {
	// A large frame of a peer that does not split, coming slowly, is progress.
	c, f := wrapFake(t)
	f.feed(wireHead(wireWindow, wireSYN, 2, 0))
	mustRead(t, c, 12)
	f.feed(wireHead(wireData, 0, 2, 60_000), pattern(1000, 1))
	mustRead(t, c, 1012)
	for i := range 5 {
		f.feed(pattern(1000, 1))
		mustRead(t, c, 1000)
		if got, want := c.Meter().Snapshot().Counts.PayloadIn, uint64(1000*(i+2)); got != want {
			t.Fatalf("%d payload bytes counted, want %d", got, want)
		}
	}
}

// A connection on which the peer has ended all that it sent waits for its next
// read with the small buffer, however large the last read was.
func TestLargeBufferGoesBackWithTheEnd(t *testing.T) {
	reply := func(c *Conn, f *fake, end bool) {
		mustWrite(t, c, wireHead(wireWindow, wireSYN, 1, 0))
		f.feed(wireFrame(0, 1, pattern(10_000, 1)))
		mustRead(t, c, 10_012)
		var last []byte
		if end {
			last = wireHead(wireWindow, wireFIN, 1, 0)
		}
		f.feed(wireFrame(0, 1, pattern(5000, 1)), last)
		mustRead(t, c, 5012+len(last))
		c.in.makeRoom() // as the next read does first
	}
	for _, end := range []bool{false, true} {
		c, f := wrapFake(t)
		reply(c, f, end)
		if held := c.in.chunk != nil; held == end {
			t.Errorf("the peer has ended: %v; the large buffer is held: %v", end, held)
		}
	}
}
