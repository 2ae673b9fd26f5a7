package mux

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestResetIsSeenAtBothEnds(t *testing.T) {
	for name, pair := range pairs {
		for mode, opts := range modes {
			t.Run(name+"/"+mode, func(t *testing.T) {
				a, b := pair(t)
				g := oneSided(t, a, b, opts...)
				near, far := g.stream(t) // another one, which goes on
				reading := make(chan error, 1)
				go func() {
					_, err := g.near.Read(make([]byte, 9))
					reading <- err
				}()
				within(t, soon, "reset", func() {
					if err := g.client.Reset(g.near); err != nil {
						t.Error(err)
					}
				})
				within(t, soon, "local read", func() {
					if err := <-reading; !errors.Is(err, ErrConnectionReset) {
						t.Errorf("local read: %v", err)
					}
				})
				if _, err := g.near.Write([]byte("x")); !errors.Is(err, ErrConnectionReset) {
					t.Errorf("local write: %v", err)
				}
				within(t, soon, "peer's read", func() {
					if _, err := g.far.Read(make([]byte, 9)); !errors.Is(err, ErrConnectionReset) {
						t.Errorf("peer's read: %v", err)
					}
				})
				if _, err := g.far.Write([]byte("x")); !errors.Is(err, ErrConnectionReset) {
					t.Errorf("peer's write: %v", err)
				}
				transfer(t, near, far, 300_000)
				if n := g.client.NumStreams(); n != 1 {
					t.Errorf("%d streams are left, want the other", n)
				}
				if n := g.client.Meter().Snapshot().Counts.Resets; n != 1 {
					t.Errorf("%d resets counted", n)
				}
			})
		}
	}
}

func TestResetDropsWhatStillComesAndLogsNothing(t *testing.T) {
	a, b := loopback(t)
	g := oneSided(t, a, b)
	near, far := g.stream(t)
	var writers sync.WaitGroup
	writers.Go(func() { g.far.Write(pattern(4<<20, 1)) }) // until the reset comes
	mustRead(t, g.near, 100_000)
	if err := g.client.Reset(g.near); err != nil {
		t.Fatal(err)
	}
	within(t, soon, "the peer's write", writers.Wait)
	transfer(t, near, far, 1<<20)
	if s := g.log.String(); s != "" {
		t.Errorf("logged here: %s", s)
	}
}

func TestResetTwiceDoesNothingMore(t *testing.T) {
	a, b := loopback(t)
	g := oneSided(t, a, b)
	for range 3 {
		if err := g.client.Reset(g.near); err != nil {
			t.Error(err)
		}
	}
	eventually(t, "one reset", func() bool { return g.client.Meter().Snapshot().Counts.Resets == 1 })
	g.client.Close()
	if err := g.client.Reset(g.near); !errors.Is(err, ErrSessionShutdown) {
		t.Errorf("after close: %v", err)
	}
}

func TestResetWritesOneFrameAtABoundary(t *testing.T) {
	rst := wireHead(wireWindow, wireRST, 7, 0)
	head, body := wireHead(wireData, 0, 1, 100), pattern(100, 1)
	tests := []struct {
		name string
		host [][]byte // before the reset
		then [][]byte // after it
		want []byte
	}{
		{"at rest", nil, nil, rst},
		{"between frames", [][]byte{head, body}, nil, join(head, body, rst)},
		{"header held", [][]byte{head}, [][]byte{body}, join(rst, head, body)},
		{"in a body", [][]byte{head, body[:40]}, [][]byte{body[40:], wirePong(1)},
			join(head, body, rst, wirePong(1))},
		{"in a header", [][]byte{head[:5]}, [][]byte{head[5:], body}, join(rst, head, body)},
	}
	for _, tt := range tests {
		for mode, opts := range modes {
			t.Run(tt.name+"/"+mode, func(t *testing.T) {
				c, f := wrapFake(t, append(opts, WithoutCookies())...)
				for _, p := range tt.host {
					mustWrite(t, c, p)
				}
				if err := c.reset(7); err != nil {
					t.Fatal(err)
				}
				for _, p := range tt.then {
					mustWrite(t, c, p)
				}
				c.Close()
				if !bytes.Equal(f.wire(), tt.want) {
					t.Errorf("wire\n%x, want\n%x", f.wire(), tt.want)
				}
			})
		}
	}
}

func TestResetSwallowsWhatTheHostStillWrites(t *testing.T) {
	c, f := wrapFake(t, WithoutCookies())
	if err := c.reset(1); err != nil {
		t.Fatal(err)
	}
	other := wireFrame(0, 3, pattern(50, 1))
	mustWrite(t, c, wireFrame(wireFIN, 1, pattern(40_000, 1)))
	mustWrite(t, c, wireHead(wireWindow, 0, 1, 1000))
	mustWrite(t, c, join(wireFrame(0, 1, pattern(10, 1)), other, wireFrame(0, 1, pattern(10, 1))))
	if want := join(wireHead(wireWindow, wireRST, 1, 0), other); !bytes.Equal(f.wire(), want) {
		t.Errorf("wire %x, want %x", f.wire(), want)
	}
}

func TestNothingOfAStreamFollowsItsReset(t *testing.T) {
	// The stream's own frame is being written: its header is held, or one of
	// its SDUs is out.
	for name, tt := range map[string]struct{ given, body int }{
		"header held":            {12, 3 * minSDU},
		"small, its header held": {12, expressMax},
		"one SDU out":            {12 + minSDU, 3 * minSDU},
	} {
		c, f := wrapFake(t, WithoutCookies(), WithSDU(minSDU))
		frame := wireFrame(0, 1, pattern(tt.body, 1))
		mustWrite(t, c, frame[:tt.given])
		if err := c.reset(1); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, c, frame[tt.given:])
		mustWrite(t, c, wirePong(1))
		frames, _ := parseWire(f.wire())
		gone := false
		for _, p := range frames {
			if gone && p.stream == 1 {
				t.Errorf("%s: %d bytes follow the reset", name, len(p.body))
			}
			gone = gone || p.flags&wireRST != 0
		}
		if last := frames[len(frames)-1]; !gone || last.kind != wirePing {
			t.Errorf("%s: reset written %v, then %x", name, gone, last.head)
		}
	}
}

func TestResetSurvivesAWriteThatTimedOut(t *testing.T) {
	rst := wireHead(wireWindow, wireRST, 7, 0)
	t.Run("its own", func(t *testing.T) {
		c, f := wrapFake(t, WithoutCookies())
		f.setOnWrite(failAfter(0, os.ErrDeadlineExceeded))
		if err := c.reset(7); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		f.setOnWrite(nil)
		mustWrite(t, c, wirePong(1))
		if want := join(rst, wirePong(1)); !bytes.Equal(f.wire(), want) {
			t.Errorf("wire %x, want %x", f.wire(), want)
		}
	})
	t.Run("the host's", func(t *testing.T) {
		c, f := wrapFake(t, WithoutCookies())
		frame := wireFrame(0, 1, pattern(100, 1))
		mustWrite(t, c, frame[:50])
		if err := c.reset(7); err != nil { // waits for the frame's end
			t.Fatal(err)
		}
		mustWrite(t, c, frame[50:])
		f.setOnWrite(failAfter(0, os.ErrDeadlineExceeded))
		if n, err := c.Write(wirePong(1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d, %v", n, err)
		}
		f.setOnWrite(nil)
		mustWrite(t, c, wirePong(1))
		if want := join(frame, rst, wirePong(1)); !bytes.Equal(f.wire(), want) {
			t.Errorf("wire %x, want %x", f.wire(), want)
		}
	})
}

func TestResetOfABrokenConnReportsWhatBrokeIt(t *testing.T) {
	c, f := wrapFake(t, WithoutCookies())
	f.setOnWrite(failAfter(0, errBroken))
	mustWriteFails(t, c, wirePong(1), errBroken)
	if err := c.reset(7); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func TestPeerThatStallsInAFrameOfAResetStream(t *testing.T) {
	// A bare peer announces 200 kB, sends a tenth and falls silent. The local
	// yamux waits in that frame unless it gets it in pieces; the reset has to lead
	// it out.
	t.Run("cut", func(t *testing.T) { checkStallInAFrame(t) })
	t.Run("whole", func(t *testing.T) { checkStallInAFrame(t, WithSDU(0)) })
}

func checkStallInAFrame(t *testing.T, opts ...Option) {
	a, b := loopback(t)
	log := &journal{}
	client, err := Client(a, config(log), opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	go io.Copy(io.Discard, struct{ io.Reader }{b})
	first, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	second, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	id, other := first.StreamID(), second.StreamID()
	body := pattern(200_000, 1)
	mustWrite(t, b, join(wireHead(wireWindow, wireACK, id, 0), wireHead(wireWindow, wireACK, other, 0)))
	mustWrite(t, b, join(wireHead(wireData, 0, id, uint32(len(body))), body[:20_000]))
	time.Sleep(20 * time.Millisecond)
	if err := client.Reset(first); err != nil {
		t.Fatal(err)
	}
	within(t, soon, "the stream's read", func() {
		for {
			if _, err := first.Read(make([]byte, 9000)); err != nil {
				if !errors.Is(err, ErrConnectionReset) {
					t.Error(err)
				}
				return
			}
		}
	})
	// Later the peer goes on, and what follows the frame is sound.
	mustWrite(t, b, join(body[20_000:], wireFrame(0, id, []byte("late")), wireFrame(0, other, []byte("hello"))))
	within(t, soon, "the other stream", func() {
		if got := mustRead(t, second, 5); string(got) != "hello" {
			t.Errorf("%q", got)
		}
	})
	s := client.Meter().Snapshot().Counts
	if want := uint64(len(body) - 20_000 + 4); s.LateBytes != want {
		t.Errorf("%d late bytes, want %d", s.LateBytes, want)
	}
	if strings.Contains(log.String(), "yamux") {
		t.Errorf("logged: %s", log)
	}
}

func TestLongFramesOfAResetStreamAreDropped(t *testing.T) {
	for _, sdu := range []int{defaultSDU, 0} {
		c, f := wrapFake(t, WithSDU(sdu))
		if err := c.reset(2); err != nil {
			t.Fatal(err)
		}
		const length = 3 * straightLeast
		other := wireFrame(0, 1, []byte("other"))
		f.feed(wireHead(wireData, 0, 2, length))
		f.feed(pattern(length, 1), other)
		p := make([]byte, 2*length)
		var got []byte
		for want := join(wireHead(wireWindow, wireRST, 2, 0), other); !bytes.Equal(got, want); {
			n, err := c.Read(p)
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, p[:n]...); len(got) > len(want) {
				t.Fatalf("SDU %d: the host read %d bytes that begin %x", sdu, len(got), got[:len(want)])
			}
		}
		if s := c.Meter().Snapshot().Counts; s.LateBytes != length || s.Cuts != 0 {
			t.Errorf("SDU %d: %+v", sdu, s)
		}
	}
}

func TestPeerThatStallsInAFrameOfAnotherStream(t *testing.T) {
	// The local yamux waits for the rest of a frame of the peer's own stream, and
	// cannot be handed the reset. Who reads the reset stream must not wait with it.
	// In a long frame, which is cut, it does not wait.
	t.Run("whole", func(t *testing.T) { checkStallInAnother(t, sduGrowth*defaultSDU, ErrTimeout) })
	t.Run("cut", func(t *testing.T) { checkStallInAnother(t, 200_000, ErrConnectionReset) })
}

func checkStallInAnother(t *testing.T, length uint32, want error) {
	a, b := loopback(t)
	client, err := Client(a, config(&journal{}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	go io.Copy(io.Discard, struct{ io.Reader }{b})
	st, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, b, wireHead(wireWindow, wireACK, st.StreamID(), 0))
	mustWrite(t, b, join(wireHead(wireData, wireSYN, 2, length), pattern(20, 1)))
	time.Sleep(20 * time.Millisecond)
	if err := client.Reset(st); err != nil {
		t.Fatal(err)
	}
	within(t, soon, "the stream's read", func() {
		if _, err := st.Read(make([]byte, 9)); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	})
}

// TestInboundResetKeepsTheFraming resets streams at any point of any chunking
// of the peer's frames: what the host reads are whole frames, those of the
// other streams all there.
func TestInboundResetKeepsTheFraming(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var wire []byte
		for i := range rapid.IntRange(1, 10).Draw(rt, "frames") {
			size := rapid.SampledFrom([]int{0, 1, 30, 300, 6000}).Draw(rt, "size")
			stream := rapid.Uint32Range(1, 3).Draw(rt, "stream")
			wire = append(wire, wireFrame(0, stream, pattern(size, uint32(i)))...)
		}
		at := rapid.IntRange(0, len(wire)).Draw(rt, "reset after")
		c, f := wrapFake(t, WithoutCookies(), WithSDU(rapid.SampledFrom(cuttings).Draw(rt, "SDU")))
		defer c.Close()
		var got []byte
		if at > 0 {
			f.feed(wire[:at])
			got = readSome(rt, c)
		}
		if err := c.reset(2); err != nil {
			rt.Fatal(err)
		}
		if at < len(wire) {
			f.feed(wire[at:])
		}
		f.finish(io.EOF)
		rest, err := io.ReadAll(struct{ io.Reader }{c})
		if err != nil {
			rt.Fatal(err)
		}
		checkReset(rt, wire, append(got, rest...), c.cutAbove)
	})
}

// readSome reads until it would have to wait.
func readSome(rt *rapid.T, c *Conn) (got []byte) {
	defer c.SetReadDeadline(time.Time{})
	b := make([]byte, 700)
	for {
		c.SetReadDeadline(time.Now().Add(time.Millisecond))
		n, err := c.Read(b)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return got
		}
		if err != nil {
			rt.Fatal(err)
		}
		got = append(got, b[:n]...)
	}
}

func checkReset(rt *rapid.T, wire, got []byte, above uint32) {
	frames, rest := parseWire(got)
	if len(rest) > 0 {
		rt.Fatalf("%d bytes are no frame", len(rest))
	}
	var others, want []byte
	resets := 0
	for _, p := range frames {
		if p.kind == wireData && len(p.body) != int(p.length) {
			rt.Fatalf("a frame of %d bytes has %d", p.length, len(p.body))
		}
		switch {
		case p.flags&wireRST != 0 && p.stream == 2:
			resets++
		case p.stream != 2:
			others = append(others, p.bytes()...)
		case resets > 0:
			rt.Fatal("a frame of the stream follows its reset")
		}
	}
	all, _ := parseWire(wire)
	for _, p := range all {
		if p.stream != 2 {
			want = append(want, p.bytes()...)
		}
	}
	if others = uncut(others, want, above); resets != 1 || !bytes.Equal(others, want) {
		rt.Fatalf("%d resets; %d bytes of other streams, want %d", resets, len(others), len(want))
	}
}

func TestResetsAreRememberedWithinBounds(t *testing.T) {
	var r resets
	if r.has(1) {
		t.Error("nothing was reset")
	}
	for i := range uint32(3 * resetsKept) {
		if !r.add(i) || r.add(i) || !r.has(i) {
			t.Fatalf("stream %d", i)
		}
		if q := r.take(); len(q) != 1 || q[0] != i || r.pending.Load() {
			t.Fatalf("queue %v", q)
		}
	}
	if len(r.gone) != resetsKept || len(r.order) != resetsKept || r.has(2*resetsKept-1) || !r.has(2*resetsKept) {
		t.Errorf("%d remembered, %d in order", len(r.gone), len(r.order))
	}
}

var _ net.Conn = (*fake)(nil)
