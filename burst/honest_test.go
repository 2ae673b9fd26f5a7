package burst

import (
	"fmt"
	"testing"
	"time"
)

var honestLinks = []link{
	{rtt: 5 * ms, speed: 1000 * mbit},
	{rtt: 12 * ms, speed: 10 * mbit},
	{rtt: 40 * ms, speed: 50 * mbit},
	{rtt: 69 * ms, speed: 100 * mbit},
	{rtt: 150 * ms, speed: 50 * mbit},
	{rtt: 268 * ms, speed: 10 * mbit},
	{rtt: 268 * ms, speed: 100 * mbit},
}

func TestHonestColdReadsTheLink(t *testing.T) {
	for _, l := range honestLinks {
		for _, size := range []int{segment, 16 << 10, 64 << 10} {
			name := fmt.Sprintf("%v/%.0fMbit/%d", l.rtt, l.speed/mbit, size)
			t.Run(name, func(t *testing.T) {
				h := newHost(l.path(true))
				h.fetch(0, merge(l.cold(0, 12e6), size))
				if len(h.out) != 1 {
					t.Fatalf("%d samples, want one burst", len(h.out))
				}
				s := h.out[0]
				within(t, "rate", s.Rate.BytesPerSecond(), l.speed, 0.02)
				if h.w.totals.bursts[FetchEnd] != 1 || !s.Cold || !s.Declared || s.UpperBound {
					t.Errorf("sample %+v", s)
				}
				if s.Covered < s.Bytes-70_000 {
					t.Errorf("covered %d of %d: the gate tripped", s.Covered, s.Bytes)
				}
				t.Logf("%.4f of the link, covered %d, ramp %d", s.Rate.BytesPerSecond()/l.speed, s.Covered, s.RampBytes)
			})
		}
	}
}

// A window that grows by half a round takes more rounds than the formula knows (current kernels count
// bytes and double all the same). The reading then errs slow by part of a slow start, never fast.
func TestDelayedAcknowledgements(t *testing.T) {
	for _, l := range honestLinks {
		l.delayed = true
		h := newHost(l.path(true))
		h.fetch(0, merge(l.cold(0, 12e6), 16<<10))
		s := h.out[0]
		if part := s.Rate.BytesPerSecond() / l.speed; part < 0.78 || part > 1.001 {
			t.Errorf("%v: reads %.3f of the link", l.rtt, part)
		}
		if s.Covered < 5e6 {
			t.Errorf("%v: covered %d of %d", l.rtt, s.Covered, s.Bytes)
		}
	}
}

// A receiver that waits for a second segment before it acknowledges cuts windows with an odd one in two:
// the sender gets to send the rest 40 ms later. That is no reason to ask for two doublings a round.
func TestDelayedLastAcknowledgement(t *testing.T) {
	for _, rtt := range []time.Duration{55 * ms, 69 * ms, 80 * ms, 100 * ms, 150 * ms, 268 * ms} {
		for _, late := range []time.Duration{32 * ms, 40 * ms, 44 * ms} {
			l := link{rtt: rtt, speed: 100 * mbit, late: late}
			for odd := range 3 { // where the window's end falls
				h := newHost(l.path(true))
				h.fetch(0, l.send(0, 12e6, 14600+odd*segment))
				if st := h.w.State(); st.Bursts[Horizon] > 0 {
					t.Errorf("%v, %v late, %d: %d bursts ended early", rtt, late, odd, st.Bursts[Horizon])
				}
				if part := h.rate() / l.speed; part < 0.86 || part > 1.001 { // it costs a round in the worst case
					t.Errorf("%v, %v late, %d: reads %.3f of the link", rtt, late, odd, part)
				}
			}
		}
	}
}

// An unwrapped yamux spends packets of its first window on headers and on answers to our cookies. That
// is no reason to take the round trip after it for the peer's silence.
func TestFirstWindowOfSmallPackets(t *testing.T) {
	for _, l := range honestLinks {
		for small := range 6 {
			h := newHost(l.path(true))
			h.fetch(0, l.cold(0, 12e6)[small:])
			s := h.out[0]
			within(t, fmt.Sprintf("%v, %d small", l.rtt, small), s.Rate.BytesPerSecond(), l.speed, 0.02)
			if len(h.out) != 1 || s.Covered < s.Bytes-20_000 || s.Recalled != 0 {
				t.Errorf("%v, %d small: the gate tripped in %d bursts: %+v", l.rtt, small, len(h.out), s)
			}
		}
	}
}

func TestHonestWarmReadsTheLink(t *testing.T) {
	for _, l := range honestLinks {
		h := newHost(l.path(true))
		end := h.fetch(0, l.cold(0, 12e6))
		h.fetch(end+10*ms, merge(l.warm(end+10*ms, 12e6), 16<<10))
		s := h.out[1]
		within(t, fmt.Sprint(l.rtt), s.Rate.BytesPerSecond(), l.speed, 0.01)
		if s.Cold || s.RampBytes != 0 || s.LeftOut != 0 {
			t.Errorf("%v: warm burst taken for cold: %+v", l.rtt, s)
		}
	}
}

// A small fetch just before a large one leaves the window small but the connection warm: slow start
// goes on in the second.
func TestSlowStartGoesOnInTheNextFetch(t *testing.T) {
	for _, l := range honestLinks[:6] { // beyond, the ramp left after the small fetch exceeds the cap
		h := newHost(l.path(true))
		end := h.fetch(0, l.cold(0, 20_000))
		h.fetch(end+5*ms, merge(l.send(end+5*ms, 12e6, 14600+20_000), 16<<10))
		s := h.out[1]
		within(t, fmt.Sprint(l.rtt), s.Rate.BytesPerSecond(), l.speed, 0.02)
		if s.Covered < s.Bytes-70_000 {
			t.Errorf("%v: covered %d of %d", l.rtt, s.Covered, s.Bytes)
		}
	}
}

func TestColdIsJudgedWhenWeAsk(t *testing.T) {
	l := link{rtt: 69 * ms, speed: 100 * mbit}
	for _, c := range []struct {
		idle time.Duration
		cold bool
	}{{10 * ms, false}, {190 * ms, false}, {201 * ms, true}, {time.Hour, true}} {
		h := newHost(l.path(true))
		end := h.fetch(0, l.cold(0, 1e6))
		h.fetch(end+c.idle, l.cold(end+c.idle, 3e6))
		if s := h.out[len(h.out)-1]; s.Cold != c.cold {
			t.Errorf("idle %v: cold %v, want %v", c.idle, s.Cold, c.cold)
		}
	}
	slow := newHost(Path{BaseRTT: 300 * ms})
	end := slow.fetch(0, l.cold(0, 1e5))
	slow.fetch(end+500*ms, l.cold(end+500*ms, 1e5))
	if slow.out[1].Cold {
		t.Error("idle for less than two round trips is not cold")
	}
}

func TestShortBurstIsABound(t *testing.T) {
	far := link{rtt: 268 * ms, speed: 100 * mbit}
	h := newHost(far.path(true))
	h.fetch(0, far.cold(0, 512e3))
	s := h.out[0]
	if !s.UpperBound || s.Rate.BytesPerSecond() > far.speed || s.Rate == 0 {
		t.Fatalf("a burst within its slow start must be a bound: %+v", s)
	}
	r := h.est.Reading(h.now())
	if r.Rate != 0 || r.UpperBound != s.Rate || r.Bursts != 0 {
		t.Errorf("bound folded as a rate: %+v", r)
	}
	capped := link{rtt: 268 * ms, speed: 1000 * mbit}
	h = newHost(capped.path(true))
	h.fetch(0, merge(capped.cold(0, 40e6), 64<<10))
	if s := h.out[0]; !s.UpperBound || s.Rate.BytesPerSecond() > capped.speed {
		t.Errorf("a slow start beyond the cap must give a bound: %+v", s)
	}
}

func TestUnconfirmedRoundTripLeavesLessOut(t *testing.T) {
	l := link{rtt: 69 * ms, speed: 100 * mbit}
	for _, confirmed := range []bool{false, true} {
		h := newHost(l.path(confirmed))
		h.fetch(0, l.cold(0, 12e6))
		within(t, "rate", h.rate(), l.speed, 0.02)
	}
	far := link{rtt: 600 * ms, speed: 50 * mbit}
	for _, c := range []struct {
		confirmed bool
		limit     int64
	}{{false, 1 << 20}, {true, 4 << 20}} {
		h := newHost(far.path(c.confirmed))
		h.fetch(0, far.cold(0, 30e6))
		if s := h.out[0]; s.RampBytes > c.limit+s.Bytes/20 {
			t.Errorf("confirmed %v: left out %d", c.confirmed, s.RampBytes)
		}
	}
}

func TestUnknownRoundTripLeavesNothingOut(t *testing.T) {
	l := link{rtt: 69 * ms, speed: 100 * mbit}
	h := newHost(Path{})
	in := l.cold(0, 3e6)
	h.fetch(0, in)
	spent := in[len(in)-1].at - in[0].at
	within(t, "rate", h.rate(), float64(3e6-segment)/spent.Seconds(), 1e-9)
	if h.out[0].RampBytes != 0 {
		t.Error("ramp bytes without a round trip")
	}
}

// A stale estimate must not decide what this burst reads.
func TestStaleRateConverges(t *testing.T) {
	l := link{rtt: 69 * ms, speed: 100 * mbit}
	for _, stale := range []float64{1, 10, 50, 200, 1000, 10000} {
		p := l.path(true)
		p.Rate = SecondsPerByte(1 / (stale * mbit))
		h := newHost(p)
		h.fetch(0, merge(l.cold(0, 12e6), 16<<10))
		within(t, fmt.Sprintf("stale %v Mbit/s", stale), h.rate(), l.speed, 0.04)
	}
}

func TestOursIsTheLinkNotTheWindow(t *testing.T) {
	l := link{rtt: 100 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	var in []read
	at := time.Duration(0)
	for range 40 {
		w := l.warm(at, 256<<10)
		if at > 0 {
			w[0].ours = w[0].at - in[len(in)-1].at - l.tx(segment)
		}
		in = append(in, w...)
		at = w[len(w)-1].at
	}
	h.fetch(0, in)
	within(t, "rate", h.rate(), l.speed, 0.03)
	s := h.out[0]
	if s.Covered < s.Bytes*9/10 {
		t.Errorf("our own window cost the peer coverage: %d of %d", s.Covered, s.Bytes)
	}
	if s.Ours < 3*time.Second {
		t.Errorf("ours %v", s.Ours)
	}
}

func TestOursShiftsTheDeadline(t *testing.T) {
	h := newHost(Path{BaseRTT: 10 * ms})
	l := link{rtt: 10 * ms, speed: 100 * mbit}
	in := l.warm(0, 2e6)
	half := len(in) / 2
	for i := half; i < len(in); i++ {
		in[i].at += 3 * time.Second
	}
	in[half].ours = 3 * time.Second
	h.fetch(0, in)
	if len(h.out) != 1 || h.out[0].Covered < h.out[0].Bytes-2*segment {
		t.Fatalf("our sleep of 3 s closed or tripped the burst: %+v", h.out)
	}
	within(t, "rate", h.rate(), l.speed, 0.01)
}

// Data that queued while our reader was away comes at the speed of memory and says nothing of the
// peer.
func TestQueuedBytesHaveNoRate(t *testing.T) {
	l := link{rtt: 10 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	id, _, _ := h.w.Begin(0)
	in := l.warm(0, 4e6)
	h.reads(in)
	back := in[len(in)-1].at + 500*ms
	for i := range 50 {
		at := back + time.Duration(i)*10*time.Microsecond
		h.got(h.w.Arrive(Arrival{At: at, Bytes: 64 << 10, Ours: 500 * ms, Queued: true}))
	}
	h.got(h.w.End(back+ms, id, 0, true))
	within(t, "rate", h.rate(), l.speed, 0.01)
	if s := h.out[0]; s.Bytes != 4e6+50*64<<10 || s.Covered > 4e6 {
		t.Errorf("bytes %d, covered %d", s.Bytes, s.Covered)
	}
}

// A reader that comes late now and then, once the link is full, hands over what had waited. Those bytes
// have no rate, and where they lay is no part of the slow start: of a cold burst as much is left out as
// ever. (They were once taken for its beginning, and with an initial window's times 2^Q of them nothing was
// left out: 200 Mbit/s at 69 ms read 70.)
func TestBacklogIsNoPartOfTheSlowStart(t *testing.T) {
	l := link{rtt: 69 * ms, speed: 200 * mbit}
	for _, share := range []int{0, 4, 2} { // of the reads beyond the slow start every so many is a backlog
		h := newHost(l.path(true))
		in := merge(l.cold(0, 9e6), 64<<10)
		id, _, _ := h.w.Begin(0)
		h.w.Asked(0)
		come := 0
		for i, r := range in {
			come += r.bytes
			queued := share > 0 && come > 3e6 && i%share == 0
			h.got(h.w.Arrive(Arrival{At: r.at, Bytes: r.bytes, Queued: queued}))
		}
		h.got(h.w.End(in[len(in)-1].at, id, 0, true))
		s := h.out[0]
		within(t, "rate", s.Rate.BytesPerSecond(), l.speed, 0.02)
		if s.RampBytes < 1e6 || s.UpperBound {
			t.Errorf("one of %d: %d bytes left out, bound %v", share, s.RampBytes, s.UpperBound)
		}
	}
}

func TestPipelinedFetchesShareOneBurst(t *testing.T) {
	l := link{rtt: 40 * ms, speed: 50 * mbit}
	h := newHost(l.path(true))
	in := merge(l.cold(0, 12e6), 16<<10)
	first, _, _ := h.w.Begin(0)
	second, _, _ := h.w.Begin(ms)
	h.reads(in[:len(in)/2])
	h.got(h.w.End(in[len(in)/2-1].at, first, 0, true))
	h.reads(in[len(in)/2:])
	h.got(h.w.End(in[len(in)-1].at, second, 0, true))
	if len(h.out) != 1 {
		t.Fatalf("%d samples, want 1", len(h.out))
	}
	within(t, "rate", h.rate(), l.speed, 0.02)
}

// The time to first byte of a later fetch is not the peer's silence, however long the disk takes.
func TestTimeToFirstByteOfALaterFetch(t *testing.T) {
	for _, think := range []time.Duration{300 * ms, 3 * time.Second} {
		l := link{rtt: 40 * ms, speed: 50 * mbit}
		h := newHost(l.path(true))
		first, _, _ := h.w.Begin(0)
		in := l.warm(0, 4e6)
		h.reads(in)
		end := in[len(in)-1].at
		second, _, _ := h.w.Begin(end - 10*ms)
		h.got(h.w.End(end, first, 0, true))
		more := l.warm(end+think, 4e6)
		h.reads(more)
		h.got(h.w.End(more[len(more)-1].at, second, 0, true))
		within(t, fmt.Sprint(think), h.rate(), l.speed, 0.02)
		if c := bytesOf(h.out, func(s Sample) int64 { return s.Covered }); c < 79e5 {
			t.Errorf("%v: covered %d", think, c)
		}
	}
}

func TestUndeclaredExchanges(t *testing.T) {
	l := link{rtt: 50 * ms, speed: 50 * mbit} // below the spacing a round trip is a tight gap
	h := newHost(l.path(true))
	at := time.Duration(0)
	for i := range 10 {
		h.w.Asked(at)
		in := l.warm(at, 1e6)
		h.reads(in)
		at = in[len(in)-1].at + time.Duration(i)*50*ms
	}
	h.got(h.w.Close(at, 0, false))
	if len(h.out) < 9 {
		t.Fatalf("%d samples of ten exchanges", len(h.out))
	}
	within(t, "rate", h.rate(), l.speed, 0.01)
	if c := h.est.Reading(at).Coverage; c < 9e5 {
		t.Errorf("coverage %d", c)
	}
}

// A reader that comes back after the burst has closed finds a backlog: no rate either.
func TestQueuedBytesAfterAClosedBurst(t *testing.T) {
	l := link{rtt: 10 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	id, _, _ := h.w.Begin(0)
	in := l.warm(0, 4e6)
	h.reads(in)
	back := in[len(in)-1].at + 3*time.Second
	h.until(back)
	for i := range 10 {
		h.got(h.w.Arrive(Arrival{At: back + time.Duration(i), Bytes: 1 << 20, Ours: time.Hour, Queued: true}))
	}
	h.got(h.w.End(back+ms, id, 0, true))
	within(t, "rate", h.rate(), l.speed, 0.01)
	if h.w.State().Peers != 0 {
		t.Error("our absence was charged")
	}
}

// Data of ours that goes out in mid-answer splits nothing: no answer to it can be here yet.
func TestAskingDuringSlowStartSplitsNothing(t *testing.T) {
	l := link{rtt: 268 * ms, speed: 100 * mbit}
	h := newHost(l.path(true))
	h.w.Asked(0)
	for _, r := range l.cold(0, 12e6) {
		h.reads([]read{r})
		h.w.Asked(r.at + 1)
	}
	h.got(h.w.Close(h.now(), 0, false))
	if s := h.out[0]; len(h.out) != 1 || s.Covered != s.Bytes-segment || !s.Cold {
		t.Errorf("%d bursts, the first %+v", len(h.out), s)
	}
	within(t, "rate", h.rate(), l.speed, 0.01)
}

// An estimate from a faster time makes the slow start look longer than this whole burst, which then
// speaks for itself.
func TestStaleFastRateDoesNotMakeABound(t *testing.T) {
	l := link{rtt: 268 * ms, speed: 10 * mbit}
	p := l.path(true)
	p.Rate = SecondsPerByte(1 / (1000 * mbit))
	h := newHost(p)
	h.fetch(0, l.cold(0, 3e6))
	if h.out[0].UpperBound {
		t.Fatalf("%+v", h.out[0])
	}
	within(t, "rate", h.rate(), l.speed, 0.02)
}

// Senders' segments differ, so the last stall may lie a little beyond the bytes of the formula.
func TestSlightlyLargerInitialWindow(t *testing.T) {
	l := link{rtt: 12 * ms, speed: 50 * mbit}
	h := newHost(l.path(true))
	h.fetch(0, l.send(0, 1e6, 11*segment))
	within(t, "rate", h.rate(), l.speed, 0.005)
}

// The time that the bytes themselves take on a slow path is no overrun.
func TestCoarseReadsOnASlowPath(t *testing.T) {
	l := link{rtt: 12 * ms, speed: 10 * mbit}
	p := l.path(true)
	p.Rate = SecondsPerByte(1 / l.speed)
	h := newHost(p)
	in := []read{{bytes: segment}}
	for i := range 40 { // 28 ms apart
		in = append(in, read{at: time.Duration(i+1) * l.tx(35_000), bytes: 35_000})
	}
	h.fetch(0, in)
	if s := h.out[0]; s.RampBytes != 35_000 {
		t.Errorf("left out %d, want the read that holds the slow start", s.RampBytes)
	}
	within(t, "rate", h.rate(), l.speed, 0.001)
}
