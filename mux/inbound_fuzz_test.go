package mux

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// chunked is a conn that reads its bytes in pieces of given sizes and then
// ends. Its writes go nowhere.
type chunked struct {
	rest  []byte
	sizes []byte // of the pieces, in turn; 0 stands for 256
	next  int
	joint bool // the end comes with the last bytes
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	size := len(c.rest)
	if len(c.sizes) > 0 {
		if size = int(c.sizes[c.next%len(c.sizes)]); size == 0 {
			size = 256
		}
		c.next++
	}
	n := copy(p, c.rest[:min(size, len(c.rest))])
	c.rest = c.rest[n:]
	if c.joint && len(c.rest) == 0 {
		return n, io.EOF
	}
	return n, nil
}

func (*chunked) Write(p []byte) (int, error)      { return len(p), nil }
func (*chunked) Close() error                     { return nil }
func (*chunked) LocalAddr() net.Addr              { return nil }
func (*chunked) RemoteAddr() net.Addr             { return nil }
func (*chunked) SetDeadline(time.Time) error      { return nil }
func (*chunked) SetReadDeadline(time.Time) error  { return nil }
func (*chunked) SetWriteDeadline(time.Time) error { return nil }

// stripped is the naive reference: the bytes less each answer to a ping whose
// bit 31 is set.
func stripped(b []byte) []byte {
	frames, rest := parseWire(b)
	var out []byte
	for _, f := range frames {
		if f.kind == wirePing && f.flags&wireACK != 0 && marked(f.length) {
			continue
		}
		out = append(out, f.bytes()...)
	}
	return append(out, rest...)
}

// readAllIn reads to the end with buffers of the given sizes, in turn.
func readAllIn(t testing.TB, r io.Reader, sizes []byte) []byte {
	t.Helper()
	var got []byte
	for i := 0; ; i++ {
		size := 4096
		if len(sizes) > 0 {
			size = 1 + int(sizes[i%len(sizes)])
		}
		b := make([]byte, size)
		n, err := r.Read(b)
		got = append(got, b[:n]...)
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatalf("after %d bytes: %v", len(got), err)
		}
		if n == 0 {
			t.Fatalf("after %d bytes: 0 bytes and no error", len(got))
		}
	}
}

// uncut puts the frames of got together again that want has whole, but for those
// that were not to be cut: up to a size, and with an end of their stream; and those
// left whole because they come at once. Pieces that are not right stay what they are.
func uncut(got, want []byte, above uint32) []byte {
	frames, rest := parseWire(got)
	whole, _ := parseWire(want)
	var out []byte
	for _, w := range whole {
		if w.kind != wireData || w.length <= above || w.flags&(wireFIN|wireRST) != 0 {
			if len(frames) > 0 {
				out, frames = append(out, frames[0].bytes()...), frames[1:]
			}
			continue
		}
		if len(frames) > 0 && bytes.Equal(frames[0].bytes(), w.bytes()) {
			out, frames = append(out, w.bytes()...), frames[1:]
			continue
		}
		out = append(out, w.head...) // its pieces show whether it is right
		for n, flags := 0, w.flags; n < len(w.body) && len(frames) > 0; flags = 0 {
			p := frames[0]
			if p.kind != wireData || p.stream != w.stream || p.flags != flags || int(p.length) != len(p.body) || len(p.body) == 0 {
				return got
			}
			out, frames = append(out, p.body...), frames[1:]
			n += len(p.body)
		}
	}
	for _, f := range frames {
		out = append(out, f.bytes()...)
	}
	return append(out, rest...)
}

// cuttings are sizes of SDUs that have frames cut from 64 KiB on, from 4, and never.
var cuttings = []int{defaultSDU, minSDU, 0}

func checkInbound(t testing.TB, wire, chunks, buffers []byte, joint bool) {
	t.Helper()
	for _, sdu := range cuttings {
		checkInboundCut(t, wire, chunks, buffers, joint, sdu)
	}
}

func checkInboundCut(t testing.TB, wire, chunks, buffers []byte, joint bool, sdu int) {
	t.Helper()
	c := Wrap(&chunked{rest: wire, sizes: chunks, joint: joint}, WithSDU(sdu))
	defer c.Close()
	want := stripped(wire)
	got := uncut(readAllIn(t, c, buffers), want, c.cutAbove)
	if !bytes.Equal(got, want) {
		t.Fatalf("SDU %d: read %d bytes, want %d:\n%x\n%x", sdu, len(got), len(want), got, want)
	}
	if n := c.Meter().Snapshot().Counts.BytesIn; n != uint64(len(wire)) {
		t.Fatalf("%d bytes counted of %d", n, len(wire))
	}
}

// inboundSeeds are byte streams worth starting from; each is also a test.
func inboundSeeds() [][]byte {
	forged := wirePong(0x80000001)
	return [][]byte{
		nil,
		{0},
		forged,
		join(forged, forged, forged),
		forged[:11],
		wirePong(1), // yamux's own
		wireHead(wirePing, wireSYN, 0, 0x80000001),         // the peer's own
		wireHead(wirePing, wireSYN|wireACK, 0, 0xffffffff), // both
		wireHead(wirePing, wireACK, 7, 0x80000001),
		wireFrame(wireSYN, 1, forged), // only looks like one
		join(wireFrame(0, 1, []byte("abc")), forged, wireFrame(wireFIN, 1, nil)),
		join(wireHead(wireWindow, 0, 1, 1<<31), forged, wireHead(wireGoAway, 0, 0, 0), forged),
		join(forged, []byte{1, 2, 2, 2}, forged, forged), // unknown version
		join(forged, []byte{0, 4, 0, 2}, forged, forged), // unknown type
		join(wireHead(wireData, 0, 1, 1<<32-1), forged, forged),
		join(wireHead(wireData, 0, 1, 1<<31), forged),
		join(wireFrame(0, 1, pattern(70_000, 1)), forged, wireFrame(0, 2, pattern(5_000, 2)), forged),
	}
}

func TestInboundIsThePeersBytesLessOurEchoes(t *testing.T) {
	for i, wire := range inboundSeeds() {
		for _, chunks := range [][]byte{nil, {1}, {13, 11, 12}, {0, 7}} {
			if len(wire) > 10_000 && chunks != nil {
				chunks = append([]byte{0, 0, 0}, chunks...) // in fewer pieces
			}
			for _, buffers := range [][]byte{nil, {0}, {11, 4}} {
				checkInbound(t, wire, chunks, buffers, i%2 == 0)
			}
		}
	}
}

// anyFrames draws frames, our echoes often among them.
func anyFrames(rt *rapid.T) []byte {
	var b []byte
	for range rapid.IntRange(0, 30).Draw(rt, "frames") {
		kind := rapid.SampledFrom([]byte{0, 0, 1, 2, 2, 2, 3}).Draw(rt, "kind")
		flags := rapid.SampledFrom([]uint16{0, 0, 1, 2, 2, 3, 4, 8, 15}).Draw(rt, "flags")
		length := rapid.SampledFrom([]uint32{0, 1, 12, 600, 5000, 1 << 31, 1<<31 + 12}).Draw(rt, "length")
		stream := rapid.Uint32Range(0, 3).Draw(rt, "stream")
		if kind == wireData && length < 1<<31 {
			b = append(b, wireFrame(flags, stream, pattern(int(length), length+stream))...)
			continue
		}
		b = append(b, wireHead(kind, flags, stream, length)...)
	}
	return append(b, rapid.SliceOfN(rapid.Byte(), 0, 14).Draw(rt, "tail")...)
}

func TestInboundFramesInAnyChunking(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Byte(), 0, 6)
		checkInbound(t, anyFrames(rt), sizes.Draw(rt, "chunks"), sizes.Draw(rt, "buffers"), rapid.Bool().Draw(rt, "joint"))
	})
}

// fuzzMax is the largest seed: the fuzzer spends its time on making larger ones
// smaller.
const fuzzMax = 3 << 10

// FuzzInbound reads any bytes in any chunking with any buffers.
func FuzzInbound(f *testing.F) {
	for i, wire := range inboundSeeds() {
		if len(wire) > fuzzMax {
			continue
		}
		f.Add(wire, []byte{byte(i * 37), 5}, []byte{byte(i * 11)}, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, wire, chunks, buffers []byte, joint bool) {
		checkInbound(t, wire, chunks, buffers, joint)
	})
}
