package burst

import (
	"fmt"
	"testing"
	"time"
)

type pacer struct {
	size    int
	silence time.Duration
}

var pacers = []pacer{
	{50e3, 500 * ms}, {50e3, 600 * ms}, {50e3, 1050 * ms}, {50e3, 1200 * ms}, {50e3, 5 * time.Second},
	{1e6, 1050 * ms}, {1e6, 5 * time.Second},
	{4e6, 1050 * ms}, {4e6, 5 * time.Second},
	{6.1e6, 20 * time.Second},
}

func (p pacer) String() string { return fmt.Sprintf("%d kB/%v", p.size/1000, p.silence) }

var pacedLinks = []link{
	{rtt: 5 * ms, speed: 100 * mbit},
	{rtt: 40 * ms, speed: 100 * mbit},
	{rtt: 100 * ms, speed: 100 * mbit},
	{rtt: 268 * ms, speed: 100 * mbit},
}

// paced is a fetch of 12 MB by a pacer whose kernel needs no slow start: the worst case, since a
// ramp it does not need is left out for it.
func paced(l link, p pacer) []read {
	return stalled(merge(l.warm(0, 12e6), 16<<10), p.size, p.silence)
}

func TestDeclaredPacersReadTheirTrueRate(t *testing.T) {
	for _, l := range pacedLinks {
		for _, p := range pacers {
			for _, prompt := range []bool{true, false} {
				name := fmt.Sprintf("%v/%v/prompt=%v", l.rtt, p, prompt)
				t.Run(name, func(t *testing.T) {
					h := newHost(l.path(true))
					h.prompt = prompt
					in := paced(l, p)
					h.fetch(0, in)
					spent := in[len(in)-1].at - in[0].at
					truth := 12e6 / spent.Seconds()
					within(t, "rate", h.rate(), truth, 0.10)
					r := h.est.Reading(h.now())
					t.Logf("%.3f of the true %.3f Mbit/s, coverage %d, %d bursts", h.rate()/truth, truth/mbit, r.Coverage, len(h.out))
				})
			}
		}
	}
}

// The same with an estimate of the line rate already in hand, as a peer has that served small
// fetches well.
func TestFarmedRateDoesNotHelp(t *testing.T) {
	for _, l := range pacedLinks {
		for _, p := range pacers {
			path := l.path(true)
			path.Rate = SecondsPerByte(1 / l.speed)
			h := newHost(path)
			in := paced(l, p)
			h.fetch(0, in)
			spent := in[len(in)-1].at - in[0].at
			within(t, fmt.Sprint(l.rtt, p), h.rate(), 12e6/spent.Seconds(), 0.10)
		}
	}
}

func TestWithheldEchoesEarnTwoBurstsOfCoverage(t *testing.T) {
	for _, l := range pacedLinks {
		for _, p := range pacers {
			h := newHost(l.path(true))
			h.fetch(0, paced(l, p))
			limit := int64(2 * p.size)
			if p.silence <= h.w.rampSpacing {
				// Beyond 250 ms half a second is two round trips: the ramp's allowance forgives a
				// few such stalls, but only as long as the bytes grow as a slow start's do.
				limit = int64(7 * p.size)
			}
			if c := h.est.Reading(h.now()).Coverage; c > limit {
				t.Errorf("%v %v: coverage %d, at most %d", l.rtt, p, c, limit)
			}
		}
	}
}

func TestPromptEchoesKeepTheBurstOpen(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	for _, p := range pacers {
		h := newHost(l.path(true))
		h.prompt = true
		h.fetch(0, paced(l, p))
		if len(h.out) != 1 || h.w.State().Bursts[FetchEnd] != 1 {
			t.Errorf("%v: %d bursts, want the echoes to hold one open", p, len(h.out))
		}
	}
}

func TestUndeclaredPacersEarnTwoBurstsOfCoverage(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	for _, p := range pacers {
		for _, prompt := range []bool{true, false} {
			h := newHost(l.path(true))
			h.echoes = echoes{time.Hour, prompt} // with no fetch declared they must not matter
			h.w.Asked(0)
			h.reads(paced(l, p))
			h.got(h.w.Close(h.now(), 0, false))
			if c := h.est.Reading(h.now()).Coverage; c > int64(2*p.size) {
				t.Errorf("%v: coverage %d", p, c)
			}
			var covered int
			for _, s := range h.out {
				if s.Covered > 0 {
					covered++
				}
			}
			if covered > 2 {
				t.Errorf("%v: %d bursts earned coverage from one request", p, covered)
			}
		}
	}
}

func TestDribbledRampIsInTheRate(t *testing.T) {
	for _, l := range pacedLinks {
		for _, dribbled := range []int{1e6, 2e6, 4e6} {
			for _, farmed := range []bool{false, true} {
				path := l.path(true)
				if farmed {
					path.Rate = SecondsPerByte(1 / l.speed)
				}
				h := newHost(path)
				in := merge(l.warm(0, 12e6), 16<<10)
				sent, shift := 0, time.Duration(0)
				for i := range in {
					if sent += in[i].bytes; sent < dribbled {
						shift += 29 * time.Second / time.Duration(dribbled/(16<<10))
					}
					in[i].at += shift
				}
				h.fetch(0, in)
				truth := 12e6 / (in[len(in)-1].at - in[0].at).Seconds()
				within(t, fmt.Sprint(l.rtt, dribbled, farmed), h.rate(), truth, 0.10)
			}
		}
	}
}

// A dribble below the spacing keeps gate and burst open: only the overrun puts it back.
func TestTightDribbleOnTheRamp(t *testing.T) {
	for _, l := range pacedLinks {
		for _, farmed := range []bool{false, true} {
			path := l.path(true)
			if farmed {
				path.Rate = SecondsPerByte(1 / l.speed)
			}
			h := newHost(path)
			in := l.warm(0, 12e6)
			shift := time.Duration(0)
			for i := range in {
				if i < 1380 { // 2 MB in 29 s
					shift += 21 * ms
				}
				in[i].at += shift
			}
			h.fetch(0, in)
			if len(h.out) != 1 {
				t.Errorf("%v: %d bursts", l.rtt, len(h.out))
			}
			truth := 12e6 / (in[len(in)-1].at - in[0].at).Seconds()
			within(t, fmt.Sprint(l.rtt, farmed), h.rate(), truth, 0.10)
		}
	}
}

// The allowance between windows of a slow start ends with the bytes a slow start may take, even for
// bursts that grow like one.
func TestRampAllowanceEndsAtTheCap(t *testing.T) {
	h := newHost(Path{BaseRTT: 400 * ms}) // unconfirmed: 1 MiB
	var in []read
	at, size := time.Duration(0), 14600
	for size < 16e6 {
		at += 700 * ms
		for sent := 0; sent < size; sent += 14600 {
			at += ms
			in = append(in, read{at: at, bytes: 14600})
		}
		size *= 2
	}
	h.fetch(0, in)
	if s := h.out[0]; s.Covered < 1e6 || s.Covered > 3e6 {
		t.Errorf("covered %d of a slow start that never ends", s.Covered)
	}
}

// Of fetches that were never alone each could have been answered a round trip after it began.
func TestStallOfOverlappingFetches(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	first, _, _ := h.w.Begin(0)
	second, _, _ := h.w.Begin(0)
	in := stalled(l.warm(0, 6e6), 3e6, 20*time.Second)
	h.reads(in)
	end := in[len(in)-1].at
	h.got(h.w.End(end, first, 0, true))
	h.got(h.w.End(end, second, 0, true))
	within(t, "rate", h.rate(), 6e6/(end-in[0].at).Seconds(), 0.02)
}

func TestTailSilenceIsCharged(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	for _, c := range []struct {
		name     string
		bytes    int
		tail     time.Duration
		finished bool
		charged  bool
	}{
		{"stops for good", 6e6, 20 * time.Second, false, true},
		{"finished, noticed late", 6e6, 20 * time.Second, true, false},
		{"within the horizon", 6e6, 900 * ms, false, false},
		{"after a few bytes", 20e3, 20 * time.Second, false, true},
		{"after one read", 1000, 20 * time.Second, false, true},
	} {
		for _, ticks := range []bool{true, false} {
			h := newHost(l.path(true))
			h.noTicks = !ticks
			id, _, _ := h.w.Begin(0)
			in := merge(l.warm(0, c.bytes), 16<<10)
			h.reads(in)
			last := in[len(in)-1].at
			h.until(last + c.tail)
			h.got(h.w.End(last+c.tail, id, 0, c.finished))
			spent := last - in[0].at
			want := float64(c.bytes) / (spent + c.tail).Seconds()
			if !c.charged {
				want = l.speed
			}
			within(t, fmt.Sprint(c.name, " ticks ", ticks), h.rate(), want, 0.05)
		}
	}
}

func TestTailOfAClosedConnection(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	h.w.Begin(0)
	in := l.warm(0, 6e6)
	h.reads(in)
	h.until(30 * time.Second)
	h.got(h.w.Close(30*time.Second, 0, false))
	within(t, "rate", h.rate(), 6e6/29.96, 0.02)
	if h.w.State().Fetches != 0 {
		t.Error("fetches left open")
	}
}

// Our part of a tail is never the peer's.
func TestOursInTheTail(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	id, _, _ := h.w.Begin(0)
	in := l.warm(0, 6e6)
	h.reads(in)
	last := in[len(in)-1].at
	h.got(h.w.End(last+10*time.Second, id, 10*time.Second, false))
	within(t, "rate", h.rate(), l.speed, 0.01)
	if s := h.w.State(); s.Peers != 0 {
		t.Errorf("charged %v", s.Peers)
	}
}

// Declaring the next fetch before giving up the stalled one must not lose the silence.
func TestHedgedStallIsStillCharged(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	for _, ticks := range []bool{true, false} {
		h := newHost(l.path(true))
		h.noTicks = !ticks
		first, _, _ := h.w.Begin(0)
		in := l.warm(0, 6e6)
		h.reads(in)
		last := in[len(in)-1].at
		h.until(last + 20*time.Second)
		second, _, _ := h.w.Begin(last + 20*time.Second)
		h.got(h.w.End(last+20*time.Second+ms, first, 0, false))
		in = l.warm(last+21*time.Second, 6e6)
		h.reads(in)
		h.got(h.w.End(in[len(in)-1].at, second, 0, true))
		within(t, fmt.Sprint("ticks ", ticks), h.rate(), 12e6/20.96, 0.02)
	}
}

func TestBusyFillReadsSlow(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	var in []read
	for i := range 600 {
		in = append(in, read{at: time.Duration(i) * 25 * ms, bytes: 1000})
	}
	h.fetch(0, in)
	within(t, "rate", h.rate(), 40_000, 0.05)
	if s := h.out[0]; s.Covered < s.Bytes-20_000 {
		t.Errorf("a dribbler under the spacing keeps its gate: covered %d of %d", s.Covered, s.Bytes)
	}
}

func TestFillerThatIsNotPayloadChangesNothing(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	p := pacer{50e3, 1050 * ms}
	plain, filled := newHost(l.path(true)), newHost(l.path(true))
	plain.fetch(0, paced(l, p))
	id, _, _ := filled.w.Begin(0)
	in := paced(l, p)
	for i, r := range in {
		for k := range 10 {
			if i > 0 {
				filled.w.Arrive(Arrival{At: in[i-1].at + time.Duration(k), Bytes: -k})
			}
		}
		filled.reads(in[i : i+1])
		_ = r
	}
	filled.got(filled.w.End(in[len(in)-1].at, id, 0, true))
	a, b := plain.est.Reading(plain.now()), filled.est.Reading(filled.now())
	if a != b {
		t.Errorf("filler changed the reading:\n%+v\n%+v", a, b)
	}
}

// Holding echoes moves neither rate nor gate of a transfer that is served promptly.
func TestHeldEchoesChangeNothing(t *testing.T) {
	l := link{rtt: 69 * ms, speed: 100 * mbit}
	in := merge(l.cold(0, 12e6), 16<<10)
	var first Sample
	for i, hold := range []time.Duration{0, 300 * ms, time.Hour} {
		h := newHost(l.path(true))
		h.prompt, h.rtt = true, l.rtt+hold
		h.fetch(0, in)
		if i == 0 {
			first = h.out[0]
		} else if h.out[0] != first {
			t.Errorf("holding by %v changed the sample:\n%+v\n%+v", hold, h.out[0], first)
		}
	}
}

func TestEchoesAloneDoNothing(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	h.echoes = echoes{time.Hour, true}
	h.w.Echoed(5)
	if _, ok := h.w.Deadline(); ok {
		t.Fatal("an echo opened a burst")
	}
	h.w.Asked(0)
	h.reads(l.warm(0, 1e5))
	before, _ := h.w.Deadline()
	h.w.Echoed(before - ms)
	if after, _ := h.w.Deadline(); after != before {
		t.Error("with no fetch outstanding an echo extended the burst")
	}
}

func TestOldEchoesVouchForNothing(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	id, _, _ := h.w.Begin(0)
	in := l.warm(0, 1e5)
	h.reads(in)
	last := in[len(in)-1].at
	for _, c := range []struct {
		sent time.Duration
		want bool
	}{{last - 1, false}, {last, false}, {last + 1, true}} {
		before, _ := h.w.Deadline()
		h.echoes = echoes{c.sent, true}
		h.w.Echoed(before)
		if after, _ := h.w.Deadline(); (after > before) != c.want {
			t.Errorf("cookie sent %v after the last payload: deadline moved %v", c.sent-last, after-before)
		}
	}
	late, _ := h.w.Deadline()
	h.w.Echoed(late + 1)
	if after, _ := h.w.Deadline(); after != late {
		t.Error("an echo after the deadline revived the burst")
	}
	h.w.End(late, id, 0, true)
}

// A later echo does not bring back an extension that was revoked.
func TestTrippedStaysTripped(t *testing.T) {
	h := newHost(Path{BaseRTT: 10 * ms})
	h.w.Begin(0)
	at := 20 * ms
	for range 10 {
		h.got(h.w.Arrive(Arrival{At: at, Bytes: 1000}))
		at += ms
	}
	at += 500 * ms
	h.got(h.w.Arrive(Arrival{At: at, Bytes: 1000}))
	if g := h.w.State().Gate; g != Tripped {
		t.Fatalf("gate %v after a silence of 500 ms", g)
	}
	deadline, _ := h.w.Deadline()
	h.echoes = echoes{at + 1, true}
	h.w.Echoed(at + ms)
	h.got(h.w.Arrive(Arrival{At: at + 2*ms, Bytes: 1000}))
	s := h.w.State()
	if after, _ := h.w.Deadline(); after != deadline || s.Gate != Tripped || s.Covered != 9000 || s.Bytes != 12000 {
		t.Errorf("after the trip: %+v", s)
	}
}

// TestInflatedRoundTripWinsNoLongerRounds: what holding all answers back for longer than RampSpacingMax may win
// is that spacing, not stalls of it without the growth of a slow start.
func TestInflatedRoundTripWinsNoLongerRounds(t *testing.T) {
	for _, rtt := range []time.Duration{time.Second, 4 * time.Second, time.Minute} {
		h := newHost(Path{BaseRTT: rtt})
		h.w.Begin(0)
		h.w.Asked(0)
		h.reads([]read{{at: rtt, bytes: 6000}, {at: rtt + 900*ms, bytes: 1000}, {at: rtt + 1800*ms, bytes: 1000}})
		if st := h.w.State(); st.Gate != Tripped {
			t.Errorf("%v: a dribble passes for a slow start: %+v", rtt, st)
		}
	}
}
