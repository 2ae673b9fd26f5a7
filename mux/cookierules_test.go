package mux

import (
	"errors"
	"io"
	"testing"
	"time"
)

// The eight rules of how cookies ride, a test each or more.

// opening is a frame that a cookie may ride on.
var opening = wireHead(wireWindow, wireSYN, 1, 0)

func TestRule1NoCookieOnPingPongOrGoAway(t *testing.T) {
	for name, frame := range map[string][]byte{
		"ping":       wireHead(wirePing, wireSYN, 0, 3),
		"pong":       wirePong(3),
		"our echo":   wirePong(1<<31 + 3),
		"go away":    wireHead(wireGoAway, 0, 0, 0),
		"stream end": wireHead(wireWindow, wireFIN, 1, 0),
		"last data":  wireFrame(wireFIN, 1, []byte("abc")),
		"reset":      wireHead(wireWindow, wireRST, 1, 0),
	} {
		for mode, opts := range modes {
			c, f := wrapFake(t, append(opts, eager())...)
			mustWrite(t, c, frame)
			c.Close()
			if n := len(f.cookies()); n != 0 {
				t.Errorf("%s, %s: %d cookies", name, mode, n)
			}
		}
	}
	for name, frame := range map[string][]byte{
		"window update": opening,
		"data":          wireFrame(0, 1, []byte("abc")),
		"empty data":    wireFrame(wireSYN, 1, nil),
	} {
		for mode, opts := range modes {
			c, f := wrapFake(t, append(opts, eager())...)
			mustWrite(t, c, frame)
			c.Close()
			if n := len(f.cookies()); n != 1 {
				t.Errorf("%s, %s: %d cookies, want one", name, mode, n)
			}
		}
	}
}

func TestRule1NoCookieInFrontOfAQueueThatBeginsWithAPing(t *testing.T) {
	for _, first := range [][]byte{wireHead(wirePing, wireSYN, 0, 3), wirePong(3), wireFrame(wireFIN, 1, []byte("abc"))} {
		c, f := wrapFake(t, WithAsyncWrites(), eager())
		gate := make(chan struct{})
		f.setOnWrite(func(p []byte) (int, error) { <-gate; return len(p), nil })
		mustWrite(t, c, wireFrame(0, 1, pattern(8000, 1)))
		underWay(t, c)
		mustWrite(t, c, first)
		mustWrite(t, c, opening)
		close(gate)
		eventually(t, "both writes", func() bool { return f.written() == 2 })
		if n := len(f.cookies()); n != 1 {
			t.Errorf("%d cookies, want the first write's alone: %x", n, f.wire()[8000:])
		}
	}
}

func TestRule1WrappedEndsDoNotAnswerEachOtherForEver(t *testing.T) {
	a, b := loopback(t)
	client, err := Client(a, config(io.Discard), eager())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := Server(b, config(io.Discard), eager())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for range 10 {
		if _, err := client.Ping(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.OpenStream(); err != nil {
		t.Fatal(err)
	}
	if _, err := server.AcceptStream(); err != nil {
		t.Fatal(err)
	}
	frames := func() uint64 { return client.Meter().Snapshot().Counts.FramesOut }
	time.Sleep(50 * time.Millisecond)
	before := frames()
	time.Sleep(100 * time.Millisecond)
	if n := frames() - before; n != 0 {
		t.Errorf("%d frames on an idle connection", n)
	}
}

func TestRule2ValuesHaveBit31AndCannotBeForetold(t *testing.T) {
	seen := map[uint32]bool{}
	for range 50 {
		c, f := wrapFake(t, eager(), WithCookieLimit(32))
		for range 20 {
			mustWrite(t, c, opening)
		}
		for _, v := range f.cookies() {
			if !marked(v) || seen[v] {
				t.Fatalf("value %x (seen before: %v)", v, seen[v])
			}
			seen[v] = true
		}
	}
	// A thousand of 2^31 at random collide once in 4,000 runs; counters that
	// start alike, or that count up, show at once.
	ups := 0
	for v := range seen {
		if seen[v+1] {
			ups++
		}
	}
	if len(seen) != 1000 || ups > 2 {
		t.Errorf("%d values, %d of them followed by the next number", len(seen), ups)
	}
}

func TestRule2EveryKindOfAnswerIsToldApart(t *testing.T) {
	c, f := wrapFake(t, eager())
	mustWrite(t, c, opening)
	v := f.cookies()[0]
	f.feed(wirePong(v), wirePong(v), wirePong(v^5), wirePong(7), wirePong(v&^(1<<31)))
	// yamux's own answers go up, whatever they say.
	got := mustRead(t, c, 24)
	if want := join(wirePong(7), wirePong(v&^(1<<31))); string(got) != string(want) {
		t.Errorf("the host read %x, want %x", got, want)
	}
	s := c.Meter().Snapshot()
	if k := s.Cookies; k.Echoed != 1 || k.Replayed != 1 || k.Forged != 1 || k.Late != 0 {
		t.Errorf("%+v", k)
	}
	if s.Counts.EchoesStripped != 3 || s.Counts.ForeignEchoes != 1 || s.RTT.Samples != 1 {
		t.Errorf("%d stripped, %d foreign, %d samples", s.Counts.EchoesStripped, s.Counts.ForeignEchoes, s.RTT.Samples)
	}
}

func TestRule3CookiesOutstandingAreLimited(t *testing.T) {
	for _, tt := range []struct {
		opts []Option
		want int
	}{{nil, 8}, {[]Option{WithCookieLimit(3)}, 3}, {[]Option{WithCookieLimit(32)}, 32}, {[]Option{WithCookieLimit(1000)}, 32}} {
		c, f := wrapFake(t, append(tt.opts, eager())...)
		for range 200 {
			mustWrite(t, c, opening)
		}
		if n := len(f.cookies()); n != tt.want {
			t.Errorf("%d cookies without an answer, want %d", n, tt.want)
		}
		if s := c.Meter().Snapshot(); s.Outstanding != tt.want {
			t.Errorf("%d outstanding, want %d", s.Outstanding, tt.want)
		}
	}
}

func TestRule3AnAnswerMakesRoomForAnother(t *testing.T) {
	c, f := wrapFake(t, eager(), WithCookieLimit(1))
	for i := range 5 {
		eventually(t, "a cookie", func() bool {
			mustWrite(t, c, opening)
			return len(f.cookies()) == i+1
		})
		f.feed(wirePong(f.cookies()[i]), wirePong(1))
		mustRead(t, c, 12)
	}
	if s := c.Meter().Snapshot(); s.Cookies.Echoed != 5 || s.Outstanding != 0 {
		t.Errorf("%+v", s.Cookies)
	}
}

func TestRule4AnswersMatchByValueInAnyOrder(t *testing.T) {
	c, f := wrapFake(t, eager())
	for range 8 {
		mustWrite(t, c, opening)
	}
	values := f.cookies()
	for _, i := range []int{5, 0, 7, 3, 1, 2, 6, 4} {
		f.feed(wirePong(values[i]))
	}
	f.feed(wirePong(1))
	mustRead(t, c, 12)
	if s := c.Meter().Snapshot(); s.Cookies.Echoed != 8 || s.Cookies.Forged+s.Cookies.Replayed+s.Cookies.Late != 0 {
		t.Errorf("%+v", s.Cookies)
	}
}

func TestRule5CookiesKeepTheirInterval(t *testing.T) {
	c, f := wrapFake(t, WithCookieInterval(time.Hour))
	for range 1000 {
		mustWrite(t, c, opening)
	}
	if n := len(f.cookies()); n != 1 {
		t.Errorf("%d cookies in the first hour", n)
	}
	// The default: at most one a millisecond, however many frames there are.
	c, f = wrapFake(t, WithCookieLimit(32))
	began := time.Now()
	eventually(t, "three cookies", func() bool {
		for range 100 {
			mustWrite(t, c, opening)
		}
		return len(f.cookies()) >= 3
	})
	if n, limit := len(f.cookies()), int(time.Since(began)/time.Millisecond)+1; n > limit {
		t.Errorf("%d cookies, want at most %d", n, limit)
	}
}

func TestRule5LoneCookiesOnlyWhileAFetchIsOutstanding(t *testing.T) {
	c, f := wrapFake(t)
	mustWrite(t, c, opening)
	lone := func() uint64 { return c.Meter().Snapshot().Counts.LoneCookies }
	time.Sleep(250 * time.Millisecond)
	if n := f.written(); n != 1 || lone() != 0 {
		t.Fatalf("%d writes on an idle connection", n)
	}
	end := c.Meter().Begin()
	eventually(t, "a lone cookie", func() bool { return lone() >= 2 })
	end()
	time.Sleep(20 * time.Millisecond)
	before := f.written()
	time.Sleep(250 * time.Millisecond)
	if n := f.written() - before; n != 0 {
		t.Errorf("%d writes after the fetch", n)
	}
	frames, _ := parseWire(f.wire())
	if n := len(frames) - len(f.cookies()); n != 1 {
		t.Errorf("%d frames that are no cookies", n)
	}
}

func TestRule5LoneCookiesKeepOutOfTheWay(t *testing.T) {
	now := func(c *Conn) time.Duration { return c.meter.now() }
	for _, tt := range []struct {
		name string
		do   func(c *Conn, f *fake)
		want int
	}{
		{"allowed", func(c *Conn, _ *fake) { c.Write(opening) }, 1},
		{"before the host's first frame", func(*Conn, *fake) {}, 0},
		{"in a header", func(c *Conn, _ *fake) { c.Write(join(opening, opening[:5])) }, 0},
		{"in a body", func(c *Conn, _ *fake) { c.Write(wireFrame(0, 1, pattern(99, 1))[:50]) }, 0},
		{"behind a held header", func(c *Conn, _ *fake) { c.Write(opening); c.Write(wireHead(wireData, 0, 1, 9)) }, 1},
		{"while someone writes", func(c *Conn, _ *fake) { c.Write(opening); c.out.turn.acquire() }, 0},
		{"after a failed write", func(c *Conn, f *fake) {
			c.Write(opening)
			f.setOnWrite(failAfter(3, errBroken))
			c.Write(opening)
			f.setOnWrite(nil)
		}, 0},
		{"no frames of ours", func(c *Conn, _ *fake) { c.Write(opening); c.Write([]byte("HTTP/1.1 200")) }, 0},
		{"after a go away of ours", func(c *Conn, _ *fake) { c.Write(opening); c.Write(wireHead(wireGoAway, 0, 0, 0)) }, 0},
		{"once closed", func(c *Conn, _ *fake) { c.Write(opening); c.Close() }, 0},
	} {
		for mode, opts := range modes {
			c, f := wrapFake(t, append(opts, eager(), WithCookieLimit(32))...)
			tt.do(c, f)
			eventually(t, "an empty queue", func() bool { return c.async == nil || c.async.idle() || tt.want == 0 })
			before := len(f.cookies())
			c.loneCookie(now(c))
			if n := len(f.cookies()) - before; n != tt.want {
				t.Errorf("%s, %s: %d lone cookies, want %d", tt.name, mode, n, tt.want)
			}
			if tt.name == "while someone writes" {
				c.out.turn.release()
			}
		}
	}
}

func TestRule5TheReaderWritesNothing(t *testing.T) {
	c, f := wrapFake(t, eager())
	mustWrite(t, c, opening)
	end := c.Meter().Begin()
	before := f.written()
	began := time.Now()
	for i := range 200 {
		f.feed(wireHead(wirePing, wireSYN, 0, uint32(i)), wireFrame(0, 1, pattern(100, 1)))
		mustRead(t, c, 124)
	}
	n := f.written() - before
	end()
	// A slow machine may have had time for the timer's.
	if allowed := int(time.Since(began) / loneAfter); n > allowed {
		t.Errorf("%d writes while only reading", n)
	}
}

func TestRule6TheFirstFrameCarriesACookie(t *testing.T) {
	for name, pair := range pairs {
		a, b := pair(t)
		c := Wrap(a)
		go c.Write(opening)
		frames, _ := parseWire(mustRead(t, b, 24))
		if len(frames) != 2 || !frames[0].isCookie() || string(frames[1].head) != string(opening) {
			t.Errorf("%s: first come %+v", name, frames)
		}
		b.Close()
		c.Close()
	}
}

func TestRule6NoCookieAfterAGoAwayEitherWay(t *testing.T) {
	goAway := wireHead(wireGoAway, 0, 0, 0)
	for name, do := range map[string]func(c *Conn, f *fake){
		"sent":     func(c *Conn, _ *fake) { mustWrite(t, c, goAway) },
		"received": func(c *Conn, f *fake) { f.feed(goAway); mustRead(t, c, 12) },
	} {
		for mode, opts := range modes {
			c, f := wrapFake(t, append(opts, eager())...)
			mustWrite(t, c, opening)
			do(c, f)
			end := c.Meter().Begin()
			for range 10 {
				mustWrite(t, c, opening)
			}
			c.loneCookie(c.meter.now())
			end()
			c.Close()
			if n := len(f.cookies()); n != 1 {
				t.Errorf("%s, %s: %d cookies, want the first alone", name, mode, n)
			}
		}
	}
}

func TestRule6NoCookieOnceClosing(t *testing.T) {
	// What the queue still holds goes out without one.
	c, f := wrapFake(t, WithAsyncWrites(), eager())
	gate := make(chan struct{})
	f.setOnWrite(func(p []byte) (int, error) { <-gate; return len(p), nil })
	frame := wireFrame(0, 1, pattern(8000, 1))
	mustWrite(t, c, frame)
	underWay(t, c)
	mustWrite(t, c, frame)
	closed := make(chan struct{})
	go func() {
		c.Close()
		close(closed)
	}()
	eventually(t, "closing", c.closed.Load)
	eventually(t, "cookies stopped", c.meter.cookiesStopped)
	close(gate)
	<-closed
	if n := len(f.cookies()); n != 1 {
		t.Errorf("%d cookies, want the first frame's alone", n)
	}
	if err := checkWire(join(frame, frame), f.wire(), defaultSDU, true); err != nil {
		t.Error(err)
	}
}

// underWay waits until all that was queued is being written.
func underWay(t *testing.T, c *Conn) {
	t.Helper()
	eventually(t, "the queue is under way", func() bool {
		c.async.mu.Lock()
		defer c.async.mu.Unlock()
		return c.async.busy && len(c.async.queue) == 0
	})
}

func TestRule7UnknownFramesTurnADirectionTransparent(t *testing.T) {
	for name, odd := range map[string][]byte{
		"version": {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
		"type":    {0, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
	} {
		t.Run(name+" written", func(t *testing.T) {
			c, f := wrapFake(t, eager())
			mustWrite(t, c, odd)
			for range 5 {
				mustWrite(t, c, opening)
			}
			want := join(odd, opening, opening, opening, opening, opening)
			if string(f.wire()) != string(want) {
				t.Errorf("wire %x", f.wire())
			}
			s := c.Meter().Snapshot()
			if !s.Counts.TransparentOut || s.Counts.TransparentIn || s.Cookies.Issued != 0 {
				t.Errorf("%+v, %+v", s.Counts, s.Cookies)
			}
			f.feed(wirePong(1<<31), wirePong(1)) // the other direction is parsed
			mustRead(t, c, 12)
			if n := c.Meter().Snapshot().Counts.EchoesStripped; n != 1 {
				t.Errorf("%d echoes stripped", n)
			}
		})
		t.Run(name+" read", func(t *testing.T) {
			c, f := wrapFake(t, eager())
			f.feed(odd, wirePong(1<<31))
			mustRead(t, c, 24)
			mustWrite(t, c, opening)
			s := c.Meter().Snapshot()
			if !s.Counts.TransparentIn || s.Counts.TransparentOut || len(f.cookies()) != 0 {
				t.Errorf("%+v", s.Counts)
			}
		})
		t.Run(name+" is for yamux to report", func(t *testing.T) {
			a, b := loopback(t)
			log := &journal{}
			s, err := Client(a, config(log))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			mustWrite(t, b, odd)
			within(t, soon, "the session ends", func() { <-s.CloseChan() })
			_, err = s.OpenStream()
			if !errors.Is(err, ErrSessionShutdown) {
				t.Error(err)
			}
		})
	}
}

func TestRule8OurOwnQueueMarksACookieLoaded(t *testing.T) {
	for _, tt := range []struct {
		name    string
		d       time.Duration
		between int // payload bytes from the peer before the echo
		loaded  bool
	}{
		{"at once", 0, 0, false},
		{"the write blocked", 3 * blocked, 0, true},
		{"the echo queued behind payload", 0, 64 << 10, true},
	} {
		c, f := wrapFake(t)
		f.setOnWrite(func(p []byte) (int, error) { time.Sleep(tt.d); return len(p), nil })
		mustWrite(t, c, opening)
		if tt.between > 0 {
			f.feed(wireFrame(0, 1, pattern(tt.between, 1)))
			mustRead(t, c, 12+tt.between)
		}
		f.feed(wirePong(f.cookies()[0]), wirePong(1))
		mustRead(t, c, 12)
		s := c.Meter().Snapshot().RTT
		switch {
		case s.Samples+s.LoadedSamples != 1:
			t.Errorf("%s: %d and %d samples", tt.name, s.Samples, s.LoadedSamples)
		case tt.loaded && s.LoadedSamples != 1:
			t.Errorf("%s: not loaded", tt.name)
		case !tt.loaded && s.Samples != 1:
			// A busy machine may stop us between stamp and write for a while.
			t.Logf("%s: loaded", tt.name)
		}
	}
}

func TestRule8ACookieInTheQueueIsStampedWhenItLeaves(t *testing.T) {
	c, f := wrapFake(t, WithAsyncWrites(), eager())
	gate := make(chan struct{})
	f.setOnWrite(func(p []byte) (int, error) { <-gate; return len(p), nil })
	frame := wireFrame(0, 1, pattern(8000, 1))
	mustWrite(t, c, frame)
	underWay(t, c)
	mustWrite(t, c, frame)
	const wait = 100 * time.Millisecond
	time.Sleep(wait)
	f.setOnWrite(nil)
	released := c.meter.now()
	close(gate)
	eventually(t, "both are out", func() bool { return len(f.cookies()) == 2 })
	f.feed(wirePong(f.cookies()[1]), wirePong(1))
	mustRead(t, c, 12)
	c.meter.mu.Lock()
	sent, ok := c.meter.pair.cookies.NewestEchoed()
	c.meter.mu.Unlock()
	if !ok || sent < released-wait/2 {
		t.Errorf("stamped at %v, %v before it could leave", sent, released-sent)
	}
}
