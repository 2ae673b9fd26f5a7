package mux

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// checkWire says how the wire departs from what the host wrote, if it does.
// What is allowed: Data frames cut into SDUs, and cookies in front of those and
// of WindowUpdate frames. A header is not owed before its body begins, nor part
// of a header at all.
func checkWire(host, wire []byte, sdu int, cookies bool) error {
	hosts, hostRest := parseWire(host)
	wires, wireRest := parseWire(wire)
	at := 0
	for i, h := range hosts {
		// A cookie, unless it is the host's own frame that looks like one.
		rode := at < len(wires) && wires[at].isCookie() && !bytes.Equal(wires[at].head, h.head)
		if rode {
			if !cookies || h.kind > wireWindow {
				return fmt.Errorf("frame %d of kind %d has a cookie in front", i, h.kind)
			}
			at++
		}
		n, err := checkFrame(h, wires[at:], sdu)
		if err != nil {
			return fmt.Errorf("frame %d of %d, at %d of %d on the wire: %w", i, len(hosts), at, len(wires), err)
		}
		if rode && n == 0 {
			return fmt.Errorf("frame %d: a cookie without a frame", i)
		}
		at += n
	}
	if at != len(wires) {
		return fmt.Errorf("%d frames more than the host wrote", len(wires)-at)
	}
	if len(hostRest) < 12 {
		hostRest = nil // part of a header
	}
	if !bytes.Equal(hostRest, wireRest) {
		return fmt.Errorf("after the last frame %x, want %x", wireRest, hostRest)
	}
	return nil
}

// checkFrame compares one frame of the host's with the SDUs that carry it and
// returns how many they are.
func checkFrame(h parsed, wires []parsed, sdu int) (int, error) {
	if h.kind != wireData || h.length == 0 {
		if len(wires) == 0 || !bytes.Equal(wires[0].bytes(), h.bytes()) {
			return 0, fmt.Errorf("control frame %x is not there", h.head)
		}
		return 1, nil
	}
	if len(h.body) == 0 {
		return 0, nil // held
	}
	var body []byte
	var promised uint32
	n := 0
	for first := true; len(body) < len(h.body); first = false {
		if !first && n < len(wires) && wires[n].isCookie() {
			n++ // an asynchronous writer came to write here
		}
		if n == len(wires) || wires[n].kind != wireData || wires[n].stream != h.stream {
			return n, fmt.Errorf("%d bytes of body, want %d", len(body), len(h.body))
		}
		w := wires[n]
		promised += w.length
		last := promised == h.length
		most := sduAfter(int(promised-w.length), sdu, vectored)
		if err := checkSDU(h, w, first, last, most); err != nil {
			return n, err
		}
		body = append(body, w.body...)
		n++
	}
	if !bytes.Equal(body, h.body) {
		return n, fmt.Errorf("body differs, %d bytes against %d", len(body), len(h.body))
	}
	if promised > h.length || len(h.body) == int(h.length) && promised != h.length {
		return n, fmt.Errorf("SDUs of %d bytes for a frame of %d", promised, h.length)
	}
	return n, nil
}

// sduAfter is the largest SDU after so many bytes of a frame, 0 for no limit.
func sduAfter(done, sdu, limit int) int {
	if sdu == 0 {
		return 0
	}
	return max(sdu, min(done, sduGrowth*sdu, limit/2))
}

func checkSDU(h, w parsed, first, last bool, sdu int) error {
	want := h.flags
	if !first {
		want &^= wireSYN | wireACK
	}
	if !last {
		want &^= wireFIN | wireRST
	}
	if w.flags != want {
		return fmt.Errorf("flags %04b, want %04b of %04b (first %v, last %v)", w.flags, want, h.flags, first, last)
	}
	if w.length == 0 || sdu > 0 && w.length > uint32(sdu) || sdu == 0 && w.length != h.length {
		return fmt.Errorf("an SDU of %d bytes", w.length)
	}
	return nil
}

// writeIn writes b in pieces of the given sizes, in turn; 0 stands for 4096.
func writeIn(t testing.TB, c *Conn, b, sizes []byte) {
	t.Helper()
	for i := 0; len(b) > 0; i++ {
		size := len(b)
		if len(sizes) > 0 {
			if size = int(sizes[i%len(sizes)]); size == 0 {
				size = 4096
			}
		}
		size = min(size, len(b))
		p := bytes.Clone(b[:size])
		mustWrite(t, c, p)
		clear(p) // what is kept of it is kept wrongly
		b = b[size:]
	}
}

// how is what may vary of a wrapped conn, from one byte.
func how(b byte) (sdu int, cookies bool, opts []Option) {
	sdu = []int{defaultSDU, minSDU, 0, 4 << 10}[b&3]
	opts = []Option{WithSDU(sdu), WithCookieLimit(32), eager()}
	if cookies = b&4 == 0; !cookies {
		opts = append(opts, WithoutCookies())
	}
	if b&8 != 0 {
		opts = append(opts, WithAsyncWrites())
	}
	return sdu, cookies, opts
}

func checkOutbound(t testing.TB, host, chunks []byte, variant byte) {
	t.Helper()
	sdu, cookies, opts := how(variant)
	f := newFake()
	c := Wrap(f, opts...)
	c.vector = variant&16 != 0
	writeIn(t, c, host, chunks)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := checkWire(host, f.wire(), sdu, cookies); err != nil {
		t.Fatalf("variant %05b, chunks %v: %v\nhost %.200x\nwire %.200x", variant, chunks, err, host, f.wire())
	}
	if n := c.Meter().Snapshot().Counts.BytesOut; n != uint64(len(f.wire())) {
		t.Fatalf("%d bytes counted of %d", n, len(f.wire()))
	}
}

// outboundSeeds are byte streams worth starting from; each is also a test.
func outboundSeeds() [][]byte {
	window := wireHead(wireWindow, wireSYN, 1, 0)
	ping := wireHead(wirePing, wireSYN, 0, 1)
	return [][]byte{
		nil,
		window[:5],
		join(window, ping, wireFrame(0, 1, []byte("abc"))),
		wireFrame(wireSYN|wireACK|wireFIN|wireRST, 1, pattern(2100, 1)),
		wireFrame(wireSYN|wireACK|wireFIN|wireRST, 1, pattern(40_000, 1)),
		join(wireFrame(wireSYN, 1, pattern(2047, 1)), wireFrame(wireFIN, 1, nil)),
		wireHead(wireData, 0, 1, 5),                        // held
		join(wireHead(wireData, 0, 1, 50), pattern(20, 1)), // part of a body
		join(wireHead(wireData, wireFIN, 1, 1<<32-1), pattern(40_000, 1)),
		join(window, []byte("GET / HTTP/1.1\r\n\r\n"), window),
		join(wireFrame(0, 1, pattern(10, 1)), []byte{0, 9, 0}, window, window),
		join(wireHead(wireGoAway, 0, 0, 0), window, wireFrame(0, 1, []byte("abc"))),
		join(wireHead(wirePing, wireSYN, 0, 1<<31), window), // looks like a cookie
		bytes.Repeat(window, 100),
		join(bytes.Repeat(ping, 23), wireFrame(0, 1, []byte("abc"))),
		join(bytes.Repeat(ping, 23), window),
		join(bytes.Repeat(ping, 22), wireFrame(0, 1, []byte("abc")), ping),
		join(bytes.Repeat(ping, 24), []byte("no frame at all")),
		join(bytes.Repeat(wireFrame(0, 1, []byte("abc")), 60), pattern(100, 3)),
		wireFrame(0, 1, pattern(600_000, 2)),
	}
}

func TestOutboundIsTheHostsBytesPlusCookies(t *testing.T) {
	for _, host := range outboundSeeds() {
		for variant := range byte(32) {
			checkOutbound(t, host, nil, variant)
			if len(host) > 100_000 {
				continue
			}
			for _, chunks := range [][]byte{{12, 0}, {13, 11, 12, 200}} {
				checkOutbound(t, host, chunks, variant)
			}
		}
	}
}

func TestOutboundFramesInAnyChunking(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		chunks := rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(rt, "chunks")
		checkOutbound(t, anyFrames(rt), chunks, rapid.Byte().Draw(rt, "variant"))
	})
}

// FuzzOutbound writes any bytes in any chunking through any kind of writer.
func FuzzOutbound(f *testing.F) {
	for i, host := range outboundSeeds() {
		if len(host) > fuzzMax {
			continue
		}
		f.Add(host, []byte{12, byte(i * 17)}, byte(i*7))
	}
	f.Fuzz(func(t *testing.T, host, chunks []byte, variant byte) {
		checkOutbound(t, host, chunks, variant)
	})
}
