package mux

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"
)

func TestLongFramesAreHandedUpAsTheyCome(t *testing.T) {
	c, f := wrapFake(t)
	const length = sduGrowth*defaultSDU + 1
	body := pattern(length, 1)
	read := func(want []byte) {
		t.Helper()
		p := make([]byte, 2*length)
		n, err := c.Read(p)
		if err != nil || !bytes.Equal(p[:n], want) {
			t.Fatalf("%v; %d bytes that begin %x, want %d that begin %x", err, n, p[:min(n, 16)], len(want), want[:min(len(want), 16)])
		}
	}
	f.feed(wirePong(1), wireHead(wireData, wireSYN, 2, length), body[:1000])
	read(join(wirePong(1), wireFrame(wireSYN, 2, body[:1000])))
	f.feed(body[1000:1001])
	read(wireFrame(0, 2, body[1000:1001]))
	f.feed(body[1001:4000])
	read(wireFrame(0, 2, body[1001:4000]))
	next := wireFrame(wireFIN, 2, []byte("next"))
	for rest := body[4000:]; len(rest) > 0; {
		// Each goes into the small buffer, behind a header.
		n := min(len(rest), 3000)
		piece := wireFrame(0, 2, rest[:n])
		if rest = rest[n:]; len(rest) == 0 {
			f.feed(piece[headerSize:], next)
			read(join(piece, next))
			break
		}
		f.feed(piece[headerSize:])
		read(piece)
	}
	s := c.Meter().Snapshot().Counts
	if s.Cuts != 1 || s.FramesIn != 3 || s.PayloadIn != length+4 {
		t.Errorf("%+v", s)
	}
}

// A header of a long frame alone is kept until there is a piece to put it on.
func TestLongFrameBeginsWithItsFirstByte(t *testing.T) {
	c, f := wrapFake(t)
	f.feed(wireHead(wireData, wireACK, 1, 1<<30))
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := c.Read(make([]byte, 100)); n != 0 || !isTimeout(err) {
		t.Fatalf("%d, %v", n, err)
	}
	c.SetReadDeadline(time.Time{})
	f.feed([]byte("a"))
	want := wireFrame(wireACK, 1, []byte("a"))
	if got := mustRead(t, c, len(want)); !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// Whether a frame is cut follows from how fast those before it came.
func TestFramesThatComeAtOnceAreLeftWhole(t *testing.T) {
	const above, length, us = 64 << 10, 256 << 10, time.Microsecond
	type arrival struct {
		length uint32
		took   time.Duration
		cut    bool
	}
	repeat := func(n int, a arrival) []arrival { return slices.Repeat([]arrival{a}, n) }
	quick := repeat(6, arrival{length, 20 * us, true}) // until 256 KiB in a millisecond are trusted
	for _, tt := range []struct {
		name   string
		frames []arrival
	}{
		{"quick ones", append(quick, repeat(3, arrival{length, 20 * us, false})...)},
		{"all in one read", append(repeat(6, arrival{length, 0, true}), arrival{length, 0, false})},
		{"100 Mbit/s", repeat(30, arrival{length, 21 * time.Millisecond, true})},
		{"just too slow", repeat(30, arrival{length, 1001 * us, true})},
		{"a longer one", append(quick, arrival{2 * length, 40 * us, true}, arrival{2 * length, 40 * us, false})},
		{"short ones tell nothing", append(quick, arrival{above, time.Second, false}, arrival{length, 20 * us, false})},
		{
			"a path that slows down",
			append(quick, arrival{length, 20 * time.Millisecond, false}, arrival{length, 20 * us, true}, arrival{length, 20 * us, true}),
		},
		{"a slow path, and one that waited for us", append(repeat(20, arrival{length, 20 * time.Millisecond, true}), arrival{length, 20 * us, true}, arrival{length, 20 * us, true})},
	} {
		var p pieces
		now := time.Second
		for i, a := range tt.frames {
			if cut := p.begin(header{kind: kindData, length: a.length}, above, now); cut != a.cut {
				t.Errorf("%s: frame %d: cut is %v", tt.name, i, cut)
			}
			now += a.took
			p.end(now)
			now += time.Second // is nobody's
		}
	}
}

// A frame is timed from the read that brought its header to the one that brought its
// last byte, cut or read straight; how long we waited in a read is not the frame's.
func TestLongFramesAreTimed(t *testing.T) {
	const chunks, length, took = 20, 20 * 4000, 100 * time.Millisecond
	for _, trusted := range []float64{0, 1e9} {
		c, _ := wrapFake(t)
		in := &c.in
		in.pieces.rate = trusted
		now := time.Second
		arrive := func(b []byte) {
			in.makeRoom()
			copy(in.buf[in.w+in.lead():], b)
			c.absorb(len(b), in.straight(2*length) > 0, now-time.Second, now)
			in.r = in.ready
		}
		arrive(wireHead(wireData, 0, 2, length))
		for range chunks {
			now += took / chunks
			arrive(pattern(length/chunks, 1))
		}
		if got, want := in.pieces.rate, length/took.Seconds(); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%.0f bytes per second, want %.0f", got, want)
		}
	}
}

func TestWhatIsNotCut(t *testing.T) {
	const most = sduGrowth * defaultSDU
	for _, tt := range []struct {
		name  string
		sdu   int
		rate  float64
		flags uint16
		size  uint32
	}{
		{"as long as we send", defaultSDU, 0, 0, most},
		{"the stream's end", defaultSDU, 0, wireFIN, most + 1},
		{"a reset", defaultSDU, 0, wireRST, most + 1},
		{"with splitting off", 0, 0, 0, 1 << 31},
		{"with larger SDUs", 2 * defaultSDU, 0, 0, 2 * most},
		{"what comes at once", defaultSDU, 1e9, 0, 4 * most},
	} {
		c, f := wrapFake(t, WithSDU(tt.sdu))
		c.in.pieces.rate = tt.rate
		want := join(wireHead(wireData, tt.flags, 2, tt.size), pattern(100, 1))
		f.feed(want)
		if got := mustRead(t, c, len(want)); !bytes.Equal(got, want) {
			t.Errorf("%s: the header became %x", tt.name, got[:headerSize])
		}
	}
}

// What an unwrapped peer writes in one frame is read, and its credit given back,
// while the frame's end has not been sent.
func TestReaderNeedNotWaitForTheEndOfAFrame(t *testing.T) {
	a, b := loopback(t)
	client, err := Client(a, config(&journal{}), WithoutCookies())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	st, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	const window = 256 << 10
	body := pattern(window*3/4, 1)
	mustWrite(t, b, join(wireHead(wireData, wireACK, st.StreamID(), window), body))
	within(t, soon, "the first three quarters", func() {
		if got := mustRead(t, st, len(body)); !bytes.Equal(got, body) {
			t.Error("the bytes differ")
		}
	})
	within(t, soon, "the credit", func() {
		for granted := uint32(0); granted < window/2; {
			frames, _ := parseWire(mustRead(t, b, headerSize))
			if len(frames) == 1 && frames[0].kind == wireWindow && frames[0].stream == st.StreamID() {
				granted += frames[0].length
			}
		}
	})
}
