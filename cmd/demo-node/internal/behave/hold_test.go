package behave

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/bubble"

	"pgregory.net/rapid"
)

// frame is a yamux frame.
func frame(kind byte, flags uint16, length uint32, body []byte) []byte {
	f := make([]byte, headerSize, headerSize+len(body))
	f[1] = kind
	binary.BigEndian.PutUint16(f[2:], flags)
	binary.BigEndian.PutUint32(f[8:], length)
	return append(f, body...)
}

func data(body string) []byte  { return frame(typeData, 0, uint32(len(body)), []byte(body)) }
func pongOf(v uint32) []byte   { return frame(typePing, flagAck, v, nil) }
func pingOf(v uint32) []byte   { return frame(typePing, 1, v, nil) }
func windowOf(v uint32) []byte { return frame(1, 0, v, nil) }

// recorder is a conn that keeps what is written, with its instants.
type recorder struct {
	net.Conn
	mu    sync.Mutex
	began time.Time
	all   bytes.Buffer
	when  []time.Duration // of each byte
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range p {
		r.when = append(r.when, time.Since(r.began))
	}
	return r.all.Write(p)
}

func (r *recorder) Close() error { return nil }

// at is when a text went out.
func (r *recorder) at(t *testing.T, text []byte) time.Duration {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	i := bytes.Index(r.all.Bytes(), text)
	if i < 0 {
		t.Fatalf("%x never went out", text)
	}
	return r.when[i]
}

func TestHold(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		r := &recorder{began: time.Now()}
		c := Behaviour{Hold: 100 * ms}.Conn(r)
		write := func(parts ...[]byte) {
			t.Helper()
			p := bytes.Join(parts, nil)
			if n, err := c.Write(p); n != len(p) || err != nil {
				t.Fatalf("wrote %d of %d, %v", n, len(p), err)
			}
		}
		write(data("one"), pongOf(1), pingOf(2), windowOf(3))
		time.Sleep(90 * ms)
		write(data("two")[:5]) // a header, in part: no pong may go now
		time.Sleep(90 * ms)
		write(data("two")[5:])
		time.Sleep(time.Second)
		write(data("end"))
		c.Close()
		for text, want := range map[string]time.Duration{
			string(data("one")): 0, string(pingOf(2)): 0, string(windowOf(3)): 0,
			string(data("two")): 180 * ms, string(pongOf(1)): 180 * ms,
		} {
			if got := r.at(t, []byte(text)); got != want {
				t.Errorf("%x went out at %v, want %v", text, got, want)
			}
		}
	})
}

// TestHoldAlone: a pong goes by itself if nothing is written meanwhile.
func TestHoldAlone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		r := &recorder{began: time.Now()}
		c := Behaviour{Hold: 100 * ms}.Conn(r)
		c.Write(pongOf(7))
		time.Sleep(time.Second)
		if got := r.at(t, pongOf(7)); got != 100*ms {
			t.Errorf("went out at %v", got)
		}
		c.Write(pongOf(8))
		c.Close() // drops it, and ends the goroutine that waits
		if bytes.Contains(r.all.Bytes(), pongOf(8)) {
			t.Error("a held pong went out at Close")
		}
	})
}

// TestHoldKeepsFrames: however writes are cut, what goes out are the same frames,
// each whole, and all but the pongs in order.
func TestHoldKeepsFrames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var frames [][]byte
		for i := range rapid.IntRange(1, 20).Draw(rt, "frames") {
			n := uint32(i)
			frames = append(frames, rapid.SampledFrom([][]byte{data("body"), data(""), pongOf(n), pingOf(n), windowOf(n)}).Draw(rt, "frame"))
		}
		all := bytes.Join(frames, nil)
		var cuts []int
		for i := 0; i < len(all); {
			cuts = append(cuts, min(rapid.IntRange(1, 30).Draw(rt, "cut"), len(all)-i))
			i += cuts[len(cuts)-1]
		}
		bubble.Run(t, func(t *testing.T) {
			r := &recorder{began: time.Now()}
			c := Behaviour{Hold: 50 * ms}.Conn(r)
			for i, rest := 0, all; i < len(cuts); i++ {
				c.Write(rest[:cuts[i]])
				rest = rest[cuts[i]:]
				time.Sleep(20 * ms)
			}
			time.Sleep(time.Second)
			c.Close()
			want, pongs := without(t, all)
			got, held := without(t, r.all.Bytes())
			if !bytes.Equal(got, want) || held != pongs {
				t.Errorf("wrote %x and %d pongs, went out %x and %d", want, pongs, got, held)
			}
		})
	})
}

// without parses frames and takes the pongs out.
func without(t *testing.T, p []byte) (rest []byte, pongs int) {
	for len(p) > 0 {
		n := headerSize
		if len(p) < n {
			t.Fatalf("half a header: %x", p)
		}
		if p[1] == typeData {
			n += int(binary.BigEndian.Uint32(p[8:]))
		}
		if p[1] == typePing && p[3] == flagAck {
			pongs++
		} else {
			rest = append(rest, p[:n]...)
		}
		p = p[n:]
	}
	return rest, pongs
}

func TestHoldPassesErrors(t *testing.T) {
	a, b := net.Pipe()
	b.Close()
	c := Behaviour{Hold: ms}.Conn(a)
	if n, err := c.Write(data("x")); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%d, %v", n, err)
	}
	if c.(*holding).NetConn() != a {
		t.Error("the conn inside is another")
	}
	c.Close()
}

func TestNoHold(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if (Behaviour{}).Conn(a) != a {
		t.Error("an honest node's conn is wrapped")
	}
}
