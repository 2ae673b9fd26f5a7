package assay_test

import (
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"

	assay "github.com/assay-mux/assay/contrib/libp2p"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/mux"
)

// peerOver starts an unmodified go-yamux that serves, and our end, of a link.
func peerOver(t *testing.T, link lab.Link) (ours, theirs network.MuxedConn) {
	t.Helper()
	a, b := lab.Pair(link)
	ours, err := (&assay.Muxer{Options: []mux.Option{mux.WithWatcher(mux.NewWatcher())}}).NewConn(a, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = yamux.DefaultTransport.NewConn(b, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			s, err := theirs.AcceptStream()
			if err != nil {
				return
			}
			go serveMuxed(s)
		}
	}()
	return ours, theirs
}

func serveMuxed(s network.MuxedStream) {
	defer s.Close()
	var n [8]byte
	if _, err := io.ReadFull(s, n[:]); err == nil {
		_, _ = s.Write(make([]byte, 8<<20))
	}
}

// TestMeasuresThePath: through go-yamux the meter reads the path's true round
// trip and rate, in virtual time, though its windows start small.
func TestMeasuresThePath(t *testing.T) {
	for _, path := range []struct {
		rtt  time.Duration
		rate lab.BitRate
	}{
		{10 * time.Millisecond, 100 * lab.Mbit},
		{40 * time.Millisecond, 50 * lab.Mbit},
		{200 * time.Millisecond, 20 * lab.Mbit},
	} {
		t.Run(fmt.Sprintf("%v/%.0fMbit", path.rtt, float64(path.rate/lab.Mbit)), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				ours, theirs := peerOver(t, lab.Link{Rate: path.rate, OneWay: path.rtt / 2, SlowStart: true, IdleRestart: true})
				m, _ := assay.MeterOf(ours)
				s, err := ours.OpenStream(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				end := m.Begin()
				if err := ask(s, 8<<20); err != nil {
					t.Error(err)
				}
				end()
				got := m.Snapshot()
				if !near(got.RTT.Base.Seconds(), path.rtt.Seconds(), 0.02) {
					t.Errorf("base RTT %v, want %v", got.RTT.Base, path.rtt)
				}
				if rate := 8 * got.Estimate.Rate.BytesPerSecond(); !near(rate, float64(path.rate), 0.05) {
					t.Errorf("rate %.2f Mbit/s, want %.0f; gaps %+v", rate/1e6, float64(path.rate/lab.Mbit), got.Gaps)
				}
				if got.Cookies.Forged+got.Cookies.Replayed != 0 {
					t.Errorf("an honest peer's echoes: %+v", got.Cookies)
				}
				_ = ours.Close()
				_ = theirs.Close()
			})
		})
	}
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }
