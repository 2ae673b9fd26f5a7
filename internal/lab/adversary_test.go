package lab_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/mux"
)

// adversaries meet the shim on a link of 100 Mbit/s and 20 ms: fast enough
// that every silence stands out.
var adversaryLink = lab.Link{Rate: 100 * lab.Mbit, OneWay: 10 * time.Millisecond, Buffer: 64 << 20}

// withPeer runs a fetch-sized scene against a raw peer: run gets the session,
// a stream that the peer has been asked on, and the peer.
func withPeer(t *testing.T, link lab.Link, window uint32, run func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer), opts ...mux.Option) {
	t.Helper()
	bubble.Run(t, func(t *testing.T) {
		a, b := lab.Pair(link)
		p := newRawPeer(b)
		s := wrapped(t, a, window, opts...)
		run(t, s, openStream(t, s), p)
		s.Close()
		b.Close()
		for range p.asked {
		}
		time.Sleep(time.Second) // for the shim to see that end
	})
}

// paced fetches n bytes from a peer that serves them as script says, and
// returns the true rate in bytes per second, first byte to last.
func paced(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer, n int, declared bool, script func(stream uint32)) float64 {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); script(<-p.asked) }()
	f := fetchOn(t, s, st, n, declared)
	<-done
	return float64(n) / (f.total - f.first).Seconds()
}

type pacing struct {
	size    int
	silence time.Duration
	total   int
}

var pacings = []pacing{
	{50_000, 500 * time.Millisecond, 4 * megabyte},
	{50_000, 600 * time.Millisecond, 4 * megabyte},
	{50_000, 1050 * time.Millisecond, 4 * megabyte},
	{50_000, 1200 * time.Millisecond, 4 * megabyte},
	{50_000, 5 * time.Second, 4 * megabyte},
	{megabyte, 1050 * time.Millisecond, 12 * megabyte},
	{megabyte, 5 * time.Second, 12 * megabyte},
	{4 * megabyte, 1050 * time.Millisecond, 12 * megabyte},
	{4 * megabyte, 5 * time.Second, 12 * megabyte},
	{6 * megabyte, 20 * time.Second, 12 * megabyte}, // one long stall
}

// TestPacers: whoever serves in bursts with silences between reads its true
// slow rate once the fetch is declared, whether it answers our probes or not;
// where it withholds them, or no fetch is declared, it earns no trust either.
func TestPacers(t *testing.T) {
	for _, pace := range pacings {
		for _, echo := range []time.Duration{echoPrompt, echoNever} {
			for _, declared := range []bool{true, false} {
				name := fmt.Sprintf("%dkB/%v/prompt=%v/declared=%v", pace.size/1000, pace.silence, echo == echoPrompt, declared)
				t.Run(name, func(t *testing.T) {
					withPeer(t, adversaryLink, wide, func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer) {
						time.Sleep(100 * time.Millisecond) // an idle path knows its round trip
						p.setEcho(echo)
						rate := paced(t, s, st, p, pace.total, declared, func(stream uint32) {
							p.pace(stream, pace.total, pace.size, pace.silence)
						})
						checkPacer(t, s, pace, rate, echo == echoPrompt, declared)
					})
				})
			}
		}
	}
}

func checkPacer(t *testing.T, s *mux.Session, pace pacing, rate float64, prompt, declared bool) {
	t.Helper()
	if !declared {
		time.Sleep(2 * time.Second) // the last burst closes by itself
	}
	e := s.Meter().Snapshot().Estimate
	t.Logf("reads %.3f truly %.3f Mbit/s coverage %d", e.Rate.BytesPerSecond()*8/1e6, rate*8/1e6, e.Coverage)
	if got := e.Rate.BytesPerSecond(); declared && !within(got, rate, 0.10) {
		t.Errorf("reads %.3f Mbit/s, truly %.3f", got*8/1e6, rate*8/1e6)
	}
	if (!prompt || !declared) && e.Coverage > int64(2*pace.size) {
		t.Errorf("coverage %d, more than two bursts of %d", e.Coverage, pace.size)
	}
}

// TestBusyFill: payload on another stream through the silences is payload, so
// the burst goes on and reads the slow truth.
func TestBusyFill(t *testing.T) {
	withPeer(t, adversaryLink, wide, func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer) {
		other := openStream(t, s)
		requestOn(t, other, 1)
		filler := <-p.asked
		go io.Copy(io.Discard, other)
		rate := paced(t, s, st, p, megabyte, true, func(stream uint32) {
			for range 20 {
				p.send(stream, megabyte/20)
				for range 25 { // 500 ms, a crumb every 20 ms
					time.Sleep(20 * time.Millisecond)
					p.send(filler, 100)
				}
			}
		})
		if got := s.Meter().Snapshot().Estimate.Rate.BytesPerSecond(); !within(got, rate, 0.15) {
			t.Errorf("reads %.3f Mbit/s, truly %.3f", got*8/1e6, rate*8/1e6)
		}
	})
}

// TestFiller: what is not payload counts for nothing, however fast it comes.
func TestFiller(t *testing.T) {
	fillers := map[string]func(p *rawPeer, stream uint32){
		"pings":          func(p *rawPeer, _ uint32) { p.frame(typePing, flagACK, 0, 7, nil) },
		"window updates": func(p *rawPeer, stream uint32) { p.frame(typeWindow, 0, stream, 1, nil) },
		"empty data":     func(p *rawPeer, stream uint32) { p.frame(typeData, 0, stream, 0, nil) },
		"unknown stream": func(p *rawPeer, _ uint32) { p.frame(typeData, 0, 4001, rawSDU, make([]byte, rawSDU)) },
	}
	for name, fill := range fillers {
		t.Run(name, func(t *testing.T) {
			withPeer(t, adversaryLink, wide, func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer) {
				p.setEcho(echoNever)
				n := 10 * 50_000
				rate := paced(t, s, st, p, n, true, func(stream uint32) {
					for range 10 {
						p.send(stream, 50_000)
						for range 200 { // 2 s at line rate for the large ones
							time.Sleep(10 * time.Millisecond)
							fill(p, stream)
						}
					}
				})
				snap := s.Meter().Snapshot()
				if got := snap.Estimate.Rate.BytesPerSecond(); !within(got, rate, 0.10) {
					t.Errorf("reads %.3f Mbit/s, truly %.3f", got*8/1e6, rate*8/1e6)
				}
				if snap.Estimate.Coverage > 100_000 {
					t.Errorf("coverage %d", snap.Estimate.Coverage)
				}
				if snap.Counts.PayloadIn != uint64(n) {
					t.Errorf("payload %d, want %d", snap.Counts.PayloadIn, n)
				}
			})
		})
	}
}

// TestHeldEchoes: holding every echo shows in the quantile that ranks, in the
// base only where nothing else vouches for it, and in nothing else.
func TestHeldEchoes(t *testing.T) {
	const hold = 300 * time.Millisecond
	measure := func(t *testing.T, echo time.Duration, opts ...mux.Option) (snap mux.Snapshot) {
		withPeer(t, adversaryLink, wide, func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer) {
			p.setEcho(echo)
			for range 4 {
				paced(t, s, st, p, 3*megabyte, true, func(stream uint32) { p.send(stream, 3*megabyte) })
				time.Sleep(500 * time.Millisecond)
			}
			snap = s.Meter().Snapshot()
		}, opts...)
		return snap
	}
	rtt := 2 * adversaryLink.OneWay
	prompt := measure(t, echoPrompt)
	held := measure(t, hold)
	if held.RTT.P95 < rtt+hold || held.RTT.P95 > rtt+hold+50*time.Millisecond {
		t.Errorf("p95 %v, want %v", held.RTT.P95, rtt+hold)
	}
	if !within(held.RTT.Base.Seconds(), rtt.Seconds(), 0.05) {
		t.Errorf("base %v although the stream's first answer vouches for %v", held.RTT.Base, rtt)
	}
	if !within(float64(held.Estimate.Rate), float64(prompt.Estimate.Rate), 0.01) ||
		!within(float64(held.Estimate.Coverage), float64(prompt.Estimate.Coverage), 0.01) ||
		held.Burst.Bursts != prompt.Burst.Bursts {
		t.Errorf("held %+v %+v\nprompt %+v %+v", held.Estimate, held.Burst, prompt.Estimate, prompt.Burst)
	}
	confirmed := measure(t, hold, mux.WithHandshakeRTT(rtt))
	if confirmed.RTT.Base != rtt || !confirmed.RTT.Confirmed {
		t.Errorf("base %v, confirmed %v, want the handshake's %v", confirmed.RTT.Base, confirmed.RTT.Confirmed, rtt)
	}
}

// TestCreditThenStall: a peer that sends all the credit it has and then stalls
// cannot hide behind the window: ours is one round trip at most.
func TestCreditThenStall(t *testing.T) {
	const stall = 10 * time.Second
	withPeer(t, adversaryLink, 256<<10, func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer) {
		rtt := 2 * adversaryLink.OneWay
		paced(t, s, st, p, 512<<10, true, func(stream uint32) {
			p.send(stream, 256<<10)
			time.Sleep(stall)
			p.send(stream, 256<<10)
		})
		snap := s.Meter().Snapshot()
		if got := snap.Burst.Peers + snap.Burst.Tight; got < stall-rtt-10*time.Millisecond {
			t.Errorf("charged %v of %v", got, stall)
		}
		if snap.Burst.Ours > rtt+rtt/10 {
			t.Errorf("ours %v, more than a round trip of %v", snap.Burst.Ours, rtt)
		}
		if rate := snap.Estimate.Rate.BytesPerSecond() * 8; rate > 0.5e6 {
			t.Errorf("reads %.2f Mbit/s", rate/1e6)
		}
	})
}

// TestDribbledRamp: what looks like slow start but takes far longer is in the
// rate.
func TestDribbledRamp(t *testing.T) {
	withPeer(t, adversaryLink, wide, func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer) {
		rate := paced(t, s, st, p, 12*megabyte, true, func(stream uint32) {
			for range 1000 {
				p.send(stream, 2000)
				time.Sleep(29 * time.Millisecond)
			}
			p.send(stream, 10*megabyte)
		})
		if got := s.Meter().Snapshot().Estimate.Rate.BytesPerSecond(); !within(got, rate, 0.10) {
			t.Errorf("reads %.3f Mbit/s, truly %.3f", got*8/1e6, rate*8/1e6)
		}
	})
}

// TestEchoOutcomes: late, replayed, forged, skipped and withheld echoes are
// counted apart, and move no estimate that they should not.
func TestEchoOutcomes(t *testing.T) {
	withPeer(t, adversaryLink, wide, func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer) {
		var kept []uint32
		n := 0
		p.answer = func(v uint32) []uint32 {
			n++
			switch {
			case n%10 == 0:
				kept = append(kept, v) // withheld, for now
				return nil
			case n%10 == 5:
				return []uint32{v, v} // replayed
			default:
				return []uint32{v}
			}
		}
		trickle := func(stream uint32, frames int) {
			for range frames {
				p.send(stream, 1000)
				time.Sleep(120 * time.Millisecond)
			}
		}
		const frames = 200
		paced(t, s, st, p, frames*1000, true, func(stream uint32) { trickle(stream, frames) })
		time.Sleep(6 * time.Second) // what is withheld is given up by now
		before := s.Meter().Snapshot()
		if before.Cookies.Skipped == 0 || before.Cookies.Replayed == 0 || before.RTT.Censored == 0 {
			t.Errorf("skipped and replayed: %+v, censored %d", before.Cookies, before.RTT.Censored)
		}
		if before.Cookies.Late != 0 || before.Cookies.Forged != 0 {
			t.Errorf("nothing was late or forged: %+v", before.Cookies)
		}
		for _, v := range kept {
			p.frame(typePing, flagACK, 0, v, nil)
		}
		for i := range uint32(10) {
			p.frame(typePing, flagACK, 0, 1<<31|i*7919, nil)
		}
		time.Sleep(time.Second)
		after := s.Meter().Snapshot()
		if after.Cookies.Late == 0 || after.Cookies.Forged != 10 {
			t.Errorf("late and forged: %+v", after.Cookies)
		}
		if after.RTT.Base != before.RTT.Base || after.RTT.P50 != before.RTT.P50 || after.Estimate.Rate != before.Estimate.Rate {
			t.Errorf("an estimate moved: %+v to %+v", before.RTT, after.RTT)
		}
	})
}

// TestQuietWhenIdle: with no fetch outstanding nothing is sent alone, during
// one a silent peer is probed.
func TestQuietWhenIdle(t *testing.T) {
	withPeer(t, adversaryLink, wide, func(t *testing.T, s *mux.Session, st *yamux.Stream, p *rawPeer) {
		time.Sleep(10 * time.Second)
		if got := s.Meter().Snapshot().Counts; got.LoneCookies != 0 || got.FramesOut > 2 {
			t.Errorf("on an idle connection: %+v", got)
		}
		end := s.Meter().Begin()
		requestOn(t, st, 1)
		time.Sleep(10*time.Second + 50*time.Millisecond) // between two probes, not while one is written
		end()
		probes := s.Meter().Snapshot().Counts.LoneCookies
		if probes < 80 || probes > 101 {
			t.Errorf("%d probes in 10 s of silence, want about 100", probes)
		}
		time.Sleep(10 * time.Second)
		if got := s.Meter().Snapshot().Counts.LoneCookies; got != probes {
			t.Errorf("%d more probes after the fetch", got-probes)
		}
	})
}
