package engine

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// wire keeps what is written to it.
type wire struct {
	net.Conn
	mu  sync.Mutex
	all []byte
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, p...)
	return len(p), nil
}

// frames takes apart what went out: echoes by value, and the rest as it was.
func (w *wire) frames(t *testing.T) (echoes []uint32, rest []byte) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := w.all; len(p) > 0; {
		if len(p) < headerSize {
			t.Fatalf("half a header: %x", p)
		}
		n := headerSize
		if p[1] == typeData {
			n += int(binary.BigEndian.Uint32(p[8:]))
		}
		if p[1] == typePing && p[3]&flagAck != 0 {
			echoes = append(echoes, binary.BigEndian.Uint32(p[8:]))
		} else {
			rest = append(rest, p[:n]...)
		}
		p = p[n:]
	}
	return echoes, rest
}

func dataFrame(body string) []byte {
	b := frame(typeData, 0, 1, uint32(len(body)))
	copy(b[headerSize:], body)
	return b
}

// TestTamperKeepsFrames: however writes are cut and whatever is done to echoes, what
// else goes out is the same, frame by frame.
func TestTamperKeepsFrames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all, rest []byte
		for i := range rapid.IntRange(1, 20).Draw(rt, "frames") {
			f := rapid.SampledFrom([][]byte{dataFrame("body"), dataFrame(""), pong(uint32(i)), frame(typePing, 1, 0, 3), frame(typeWindow, 0, 1, 9)}).Draw(rt, "frame")
			if all = append(all, f...); f[1] != typePing || f[3]&flagAck == 0 {
				rest = append(rest, f...)
			}
		}
		out := &wire{}
		tm := newTamper(out, scenario.Echoes{Forge: 2, Replay: 3, Skip: 0.3}, 1, func() bool { return false })
		for len(all) > 0 {
			n := rapid.IntRange(1, min(len(all), 40)).Draw(rt, "cut")
			if k, err := tm.Write(all[:n]); k != n || err != nil {
				rt.Fatalf("%d, %v", k, err)
			}
			if all = all[n:]; rapid.Bool().Draw(rt, "inject") {
				tm.inject(pong(99))
			}
		}
		if _, got := out.frames(t); !bytes.Equal(got, rest) {
			rt.Fatalf("wrote %x\nwent out %x", rest, got)
		}
	})
}

func TestTamperEchoes(t *testing.T) {
	for name, tc := range map[string]struct {
		echoes    scenario.Echoes
		low, high int // how many go out of 100
	}{
		"none":     {scenario.Echoes{}, 100, 100},
		"forged":   {scenario.Echoes{Forge: 10}, 110, 110},
		"replayed": {scenario.Echoes{Replay: 4}, 125, 125},
		"skipped":  {scenario.Echoes{Skip: 0.3}, 55, 85},
	} {
		out := &wire{}
		tm := newTamper(out, tc.echoes, 1, func() bool { return false })
		for i := range uint32(100) {
			_, _ = tm.Write(pong(i))
		}
		if got, _ := out.frames(t); len(got) < tc.low || len(got) > tc.high {
			t.Errorf("%s: %d echoes of 100", name, len(got))
		}
	}
}

// TestTamperHolds: an echo goes out when it is let go, by time or with the data.
func TestTamperHolds(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		out := &wire{}
		busy := true
		tm := newTamper(out, scenario.Echoes{Hold: scenario.Span{From: 100 * ms, To: 100 * ms}}, 1, func() bool { return false })
		_, _ = tm.Write(pong(1))
		time.Sleep(90 * ms)
		if got, _ := out.frames(t); len(got) != 0 {
			t.Error("it went out early")
		}
		time.Sleep(20 * ms)
		if got, _ := out.frames(t); len(got) != 1 {
			t.Error("it did not go out")
		}
		out = &wire{}
		tm = newTamper(out, scenario.Echoes{WithStalls: true}, 1, func() bool { return busy })
		_, _ = tm.Write(pong(1))
		busy = false
		_, _ = tm.Write(pong(2))
		tm.release()
		if got, _ := out.frames(t); len(got) != 2 || got[0] != 2 || got[1] != 1 {
			t.Errorf("%v", got)
		}
	})
}

// TestFillers: each is a whole frame that yamux takes.
func TestFillers(t *testing.T) {
	for kind, want := range map[string]int{
		scenario.FillPings: headerSize, scenario.FillWindow: headerSize, scenario.FillEmpty: headerSize, scenario.FillUnknown: headerSize + 100,
	} {
		f := filler(scenario.Fill{Kind: kind, Size: 100}, 3)
		if len(f) != want || f[0] != 0 {
			t.Errorf("%s: %d bytes", kind, len(f))
		}
	}
}

func TestRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := request{
			datum: rapid.Uint32().Draw(t, "datum"), critical: rapid.Bool().Draw(t, "critical"),
			size: rapid.Int64Min(0).Draw(t, "size"), offset: rapid.Int64Min(0).Draw(t, "offset"), want: rapid.Int64Min(0).Draw(t, "want"),
		}
		b := want.append(nil)
		got, err := readRequest(bytes.NewReader(b[1:]))
		if got != want || err != nil || len(b) != requestSize || b[0] != streamFetch {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}
