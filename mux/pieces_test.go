package mux

import (
	"bytes"
	"testing"
	"time"
)

// longest is the longest frame that is not cut.
const longest = sduGrowth * defaultSDU

func TestLongFramesAreHandedUpAsTheyCome(t *testing.T) {
	c, f := wrapFake(t)
	const length = longest + 1
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

func TestWhatIsNotCut(t *testing.T) {
	const most = longest
	for _, tt := range []struct {
		name  string
		sdu   int
		flags uint16
		size  uint32
	}{
		{"as long as we send", defaultSDU, 0, most},
		{"the stream's end", defaultSDU, wireFIN, most + 1},
		{"a reset", defaultSDU, wireRST, most + 1},
		{"with splitting off", 0, 0, 1 << 31},
		{"with larger SDUs", 2 * defaultSDU, 0, 2 * most},
	} {
		c, f := wrapFake(t, WithSDU(tt.sdu))
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
