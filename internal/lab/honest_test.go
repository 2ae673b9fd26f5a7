package lab_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/mux"
)

// TestFirstByte: with either end wrapped the first byte of a large write is read
// when it arrives, where a frame that nobody cuts must be in first.
func TestFirstByte(t *testing.T) {
	for _, tt := range []struct {
		splits, cuts bool // the sending and the receiving end
		min, max     time.Duration
	}{
		{true, false, 100 * time.Millisecond, 120 * time.Millisecond},
		{false, true, 100 * time.Millisecond, 105 * time.Millisecond},
		{false, false, 930 * time.Millisecond, 950 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("split=%v/cut=%v", tt.splits, tt.cuts), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				a, b := lab.Pair(lab.Link{Rate: 10 * lab.Mbit, OneWay: 50 * time.Millisecond})
				server := honest(t, b, tt.splits)
				var opts []mux.Option
				if !tt.cuts {
					opts = append(opts, mux.WithSDU(0))
				}
				s := wrapped(t, a, wide, opts...)
				st := openStream(t, s)
				// The request takes 50 ms to get there.
				if got := fetchOn(t, s, st, 1<<20, true).first; got < tt.min || got > tt.max {
					t.Errorf("first byte after %v, want %v to %v", got, tt.min, tt.max)
				}
				s.Close()
				server.Close()
			})
		})
	}
}

// TestHonest: a long transfer from an honest peer keeps its extension and reads
// the link's true rate, however far, cold or warm, whoever cuts the frames.
func TestHonest(t *testing.T) {
	for _, path := range []struct {
		rtt  time.Duration
		rate lab.BitRate
	}{
		{268 * time.Millisecond, 100 * lab.Mbit},
		{5 * time.Millisecond, lab.Gbit},
		{69 * time.Millisecond, 10 * lab.Mbit},
	} {
		for _, shim := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v/%.0fMbit/shim=%v", path.rtt, float64(path.rate/lab.Mbit), shim), func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					a, b := lab.Pair(lab.Link{Rate: path.rate, OneWay: path.rtt / 2, SlowStart: true, IdleRestart: true})
					server := honest(t, b, shim)
					s := wrapped(t, a, wide, mux.WithHandshakeRTT(path.rtt))
					st := openStream(t, s)
					for _, when := range []string{"cold", "warm"} {
						fetchOn(t, s, st, 12*megabyte, true)
						checkHonest(t, s, when, path.rate, 12*megabyte)
					}
					if base := s.Meter().Snapshot().RTT.Base; !within(base.Seconds(), path.rtt.Seconds(), 0.02) {
						t.Errorf("base RTT %v, want %v", base, path.rtt)
					}
					s.Close()
					server.Close()
				})
			})
		}
	}
}

func checkHonest(t *testing.T, s *mux.Session, when string, rate lab.BitRate, n int64) {
	t.Helper()
	snap := s.Meter().Snapshot()
	got := snap.Estimate.Rate.BytesPerSecond() * 8
	if !within(got, float64(rate), 0.05) {
		t.Errorf("%s: reads %.2f Mbit/s, want %.0f", when, got/1e6, float64(rate)/1e6)
	}
	if snap.Estimate.Coverage < n*95/100 {
		t.Errorf("%s: coverage %d of %d: the extension was lost (%+v)", when, snap.Estimate.Coverage, n, snap.Burst)
	}
}

// TestWindowLimited: with yamux's default window a far transfer stalls for
// credit; those stalls are ours and the link's own rate is read.
func TestWindowLimited(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		rtt := 100 * time.Millisecond
		a, b := lab.Pair(lab.Link{Rate: 100 * lab.Mbit, OneWay: rtt / 2, SlowStart: true})
		server := honest(t, b, true)
		s := wrapped(t, a, 256<<10, mux.WithHandshakeRTT(rtt))
		st := openStream(t, s)
		took := fetchOn(t, s, st, 12*megabyte, true)
		snap := s.Meter().Snapshot()
		if got := snap.Estimate.Rate.BytesPerSecond() * 8; !within(got, 100e6, 0.05) {
			t.Errorf("reads %.2f Mbit/s, want 100", got/1e6)
		}
		if snap.Gaps.Credit < took.total/2 {
			t.Errorf("for want of credit: %v of %v", snap.Gaps.Credit, took.total)
		}
		if snap.Estimate.Coverage < 11*megabyte {
			t.Errorf("coverage %d", snap.Estimate.Coverage)
		}
		s.Close()
		server.Close()
	})
}
