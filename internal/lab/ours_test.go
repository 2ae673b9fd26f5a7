package lab_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/mux"
)

// rawHost is a local multiplexer that reads when it pleases.
type rawHost struct {
	t    *testing.T
	conn *mux.Conn
}

func (h rawHost) write(kind byte, flags uint16, length uint32, body []byte) {
	b := make([]byte, rawHeader, rawHeader+len(body))
	b[1] = kind
	binary.BigEndian.PutUint16(b[2:], flags)
	binary.BigEndian.PutUint32(b[4:], 1)
	binary.BigEndian.PutUint32(b[8:], length)
	if _, err := h.conn.Write(append(b, body...)); err != nil {
		h.t.Fatal(err)
	}
}

// read takes n bytes off the connection.
func (h rawHost) read(n int) {
	buf := make([]byte, 32<<10)
	for n > 0 {
		k, err := h.conn.Read(buf[:min(n, len(buf))])
		if err != nil {
			h.t.Fatal(err)
		}
		n -= k
	}
}

// onWire is what n bytes take with the headers of a raw peer's frames.
func onWire(n int) int { return n + (n+rawSDU-1)/rawSDU*rawHeader }

// asleep is a fetch of 4 MB at 100 Mbit/s during which the reader sleeps for
// 3 s after the first, while the peer does what it does. The peer serves the
// first MB and the rest in a send each, so that nothing of the first is left.
func asleep(t *testing.T, script func(p *rawPeer, stream uint32)) (snap mux.Snapshot) {
	t.Helper()
	bubble.Run(t, func(t *testing.T) {
		a, b := lab.Pair(adversaryLink)
		p := newRawPeer(b)
		h := rawHost{t, mux.Wrap(a, mux.WithWatcher(mux.NewWatcher()), mux.WithoutCookies())}
		end := h.conn.Meter().Begin()
		h.write(typeWindow, flagSYN, wide, nil)
		h.write(typeData, 0, 1, []byte{1})
		go func() { script(p, <-p.asked) }()
		h.read(rawHeader + onWire(megabyte)) // the answer to SYN, and a quarter
		time.Sleep(3 * time.Second)
		h.read(onWire(3 * megabyte))
		end()
		snap = h.conn.Meter().Snapshot()
		h.conn.Close()
		b.Close()
		time.Sleep(time.Second)
	})
	return snap
}

// TestReaderAsleep: while our reader sleeps and data waits for it, the time is
// ours; a stall of the peer's under it is not.
func TestReaderAsleep(t *testing.T) {
	const sleep = 3 * time.Second
	snap := asleep(t, func(p *rawPeer, stream uint32) {
		p.send(stream, megabyte)
		p.send(stream, 3*megabyte)
	})
	if snap.Gaps.Absent < sleep*95/100 || snap.Burst.Peers > 50*time.Millisecond {
		t.Errorf("data waited: absent %v, the peer's %v", snap.Gaps.Absent, snap.Burst.Peers)
	}
	if rate := snap.Estimate.Rate.BytesPerSecond() * 8; !within(rate, 100e6, 0.05) {
		t.Errorf("data waited: reads %.1f Mbit/s, want 100", rate/1e6)
	}
	if snap.Estimate.Coverage < 9*megabyte/10 {
		t.Errorf("data waited: coverage %d", snap.Estimate.Coverage)
	}
	snap = asleep(t, func(p *rawPeer, stream uint32) {
		p.send(stream, megabyte)
		time.Sleep(sleep + 500*time.Millisecond)
		p.send(stream, 3*megabyte)
	})
	if snap.Gaps.Absent > 50*time.Millisecond || snap.Burst.Peers < sleep {
		t.Errorf("the peer stalled: absent %v, the peer's %v", snap.Gaps.Absent, snap.Burst.Peers)
	}
	if rate := snap.Estimate.Rate.BytesPerSecond() * 8; rate > 12e6 {
		t.Errorf("the peer stalled: reads %.1f Mbit/s", rate/1e6)
	}
}

// TestFrozen: a freeze of the process that a host knows of, or the watcher
// saw, is ours if the data had waited for its end.
func TestFrozen(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		a, b := lab.Pair(adversaryLink)
		p := newRawPeer(b)
		w := mux.NewWatcher()
		s := wrapped(t, a, wide, mux.WithWatcher(w))
		st := openStream(t, s)
		paced(t, s, st, p, 4*megabyte, true, func(stream uint32) {
			p.send(stream, 2*megabyte)
			start := time.Now().Add(200 * time.Millisecond)
			time.Sleep(3 * time.Second)
			w.Mark(start, time.Now().Add(adversaryLink.OneWay))
			p.send(stream, 2*megabyte)
		})
		snap := s.Meter().Snapshot()
		if snap.Gaps.Frozen < 2600*time.Millisecond {
			t.Errorf("frozen %v", snap.Gaps.Frozen)
		}
		if snap.Burst.Peers > 400*time.Millisecond {
			t.Errorf("the peer's %v", snap.Burst.Peers)
		}
		s.Close()
		b.Close()
		time.Sleep(time.Second)
	})
}

// TestInferredFetches: a host that never calls Begin may have a fetch inferred
// from an open stream, and a pacer then reads its true rate all the same.
func TestInferredFetches(t *testing.T) {
	withPeer(t, adversaryLink, wide, func(t *testing.T, s *mux.Session, st *mux.Stream, p *rawPeer) {
		time.Sleep(100 * time.Millisecond)
		p.setEcho(echoNever)
		rate := paced(t, s, st, p, 2*megabyte, false, func(stream uint32) {
			p.pace(stream, 2*megabyte, 50_000, 1050*time.Millisecond)
			p.frame(typeData, flagFIN, stream, 0, nil)
		})
		time.Sleep(2 * time.Second)
		snap := s.Meter().Snapshot()
		if got := snap.Estimate.Rate.BytesPerSecond(); !within(got, rate, 0.10) {
			t.Errorf("reads %.3f Mbit/s, truly %.3f", got*8/1e6, rate*8/1e6)
		}
		if snap.Fetches != 0 {
			t.Errorf("%d fetches after the stream's end", snap.Fetches)
		}
	}, mux.WithInferredFetches())
}
