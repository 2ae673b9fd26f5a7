package burst

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestConfigValidate(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"TightSpacing":     func(c *Config) { c.TightSpacing = 0 },
		"Horizon":          func(c *Config) { c.Horizon = ms },
		"RampSpacingMax":   func(c *Config) { c.RampSpacingMax = -1 },
		"RampCapConfirmed": func(c *Config) { c.RampCapConfirmed, c.RampCap = 0, 0 },
		"RampCap":          func(c *Config) { c.RampCap = c.RampCapConfirmed + 1 },
		"InitialWindow":    func(c *Config) { c.InitialWindow = 0 },
		"ColdAfter":        func(c *Config) { c.ColdAfter = 0 },
		"MinSpan":          func(c *Config) { c.MinSpan = 0 },
		"SDU":              func(c *Config) { c.SDU = 0 },
	} {
		c := DefaultConfig()
		spoil(&c)
		err := c.Validate()
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), " "+name+" ") {
			t.Errorf("%s: %v", name, err)
		}
		if got := NewWindow(c, nil).cfg; got != DefaultConfig() {
			t.Errorf("%s: a window took a config that is refused", name)
		}
	}
}

func TestIdleWindowIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Window{}); n >= 512 {
		t.Errorf("%d B before the first payload", n)
	}
	if w := NewWindow(DefaultConfig(), nil); w.curve != nil || w.fetches != nil {
		t.Error("an idle window has allocated")
	}
	t.Logf("%d B, and %d for the curve", unsafe.Sizeof(Window{}), unsafe.Sizeof(curve{}))
}

func TestRounds(t *testing.T) {
	for _, c := range []struct {
		l    link
		want int
	}{
		{link{rtt: 12 * ms, speed: 10 * mbit}, 1}, {link{rtt: 69 * ms, speed: 100 * mbit}, 6}, {link{rtt: 268 * ms, speed: 100 * mbit}, 8},
		{link{rtt: 268 * ms, speed: 1000 * mbit}, 12}, {link{rtt: ms, speed: mbit}, 0}, {link{rtt: 0, speed: mbit}, 0},
	} {
		if got := stalls(c.l.rtt, SecondsPerByte(1/c.l.speed), 14600); got != c.want {
			t.Errorf("%v at %v Mbit/s: %d stalls, want %d", c.l.rtt, c.l.speed/mbit, got, c.want)
		}
	}
	for _, rate := range []float64{0, math.SmallestNonzeroFloat64, math.NaN(), -1} {
		if q := stalls(time.Second, SecondsPerByte(rate), 14600); q < 0 || q > maxRounds {
			t.Errorf("rate %v: %d stalls", rate, q)
		}
	}
	for n, want := range map[int64]int{0: 0, 1: 1, 14600: 1, 14601: 2, 43800: 2, 43801: 3} {
		if got := windows(n, 14600); got != want {
			t.Errorf("%d bytes take %d windows, want %d", n, got, want)
		}
	}
}

func TestSpacing(t *testing.T) {
	for _, c := range []struct {
		p           Path
		tight, ramp time.Duration
	}{
		{Path{}, 30 * ms, 0},
		{Path{BaseRTT: 100 * ms}, 30 * ms, 200 * ms},
		{Path{BaseRTT: time.Minute}, 30 * ms, time.Second},
		{Path{BaseRTT: math.MaxInt64}, 30 * ms, time.Second},
		{Path{BaseRTT: -1}, 30 * ms, 0},
		{Path{Rate: 1e-5}, 327_680 * time.Microsecond, 0},
		{Path{Rate: 1}, time.Second, 0},
		{Path{Rate: SecondsPerByte(math.NaN())}, 30 * ms, 0},
		{Path{Rate: SecondsPerByte(math.Inf(1))}, 30 * ms, 0},
	} {
		w := NewWindow(DefaultConfig(), nil)
		w.SetPath(c.p)
		within(t, fmt.Sprint(c.p), float64(w.tight), float64(c.tight), 1e-6)
		if w.rampSpacing != c.ramp {
			t.Errorf("%+v: ramp spacing %v, want %v", c.p, w.rampSpacing, c.ramp)
		}
	}
}

// A path known to be slow hands over whole frames at long intervals, and that is prompt.
func TestSlowPathIsPrompt(t *testing.T) {
	var in []read
	for i := range 100 {
		in = append(in, read{at: time.Duration(i) * 130 * ms, bytes: 16 << 10})
	}
	h := newHost(Path{BaseRTT: 50 * ms, Rate: SecondsPerByte(1 / mbit)})
	h.fetch(0, in)
	if s := h.out[0]; len(h.out) != 1 || s.Covered != s.Bytes-16<<10 {
		t.Errorf("covered %d of %d in %d bursts", s.Covered, s.Bytes, len(h.out))
	}
}

func TestTooShortForARate(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []read
		rate bool
	}{
		{"one read", []read{{at: 0, bytes: 9000}}, false},
		{"two reads", []read{{at: 0, bytes: 9000}, {at: 5 * ms, bytes: 9000}}, false},
		{"three within the least span", []read{{at: 0, bytes: 9000}, {at: ms / 4, bytes: 9000}, {at: ms / 2, bytes: 9000}}, false},
		{"three reads", []read{{at: 0, bytes: 9000}, {at: 2 * ms, bytes: 9000}, {at: 4 * ms, bytes: 9000}}, true},
		{"two reads about a silence", []read{{at: 0, bytes: 9000}, {at: 500 * ms, bytes: 9000}}, true},
	} {
		h := newHost(Path{})
		h.fetch(0, c.in)
		s := h.out[0]
		if (s.Rate > 0) != c.rate || s.Bytes != int64(total(c.in)) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

func TestStandardError(t *testing.T) {
	l := link{rtt: 5 * ms, speed: 100 * mbit}
	steady := newHost(l.path(true))
	steady.fetch(0, l.warm(0, 8e6))
	if s := steady.out[0]; s.StandardError > s.Rate/1000 {
		t.Errorf("a steady link: %v of %v", s.StandardError, s.Rate)
	}
	// Eight equal blocks, alternately at 100 and 50 Mbit/s: slopes S and 2S, whose sample standard
	// deviation is S*sqrt(8/7)/2, and its error that over sqrt(8).
	noisy := newHost(Path{})
	var in []read
	at := time.Duration(0)
	for i := range 8 * 500 {
		at += l.tx(segment) * time.Duration(1+i/500%2)
		in = append(in, read{at: at, bytes: segment})
	}
	noisy.fetch(0, in)
	want := math.Sqrt(8.0/7) / 2 / math.Sqrt(8) / l.speed
	within(t, "noisy", float64(noisy.out[0].StandardError), want, 0.05)

	few := newHost(Path{})
	few.fetch(0, []read{{at: 0, bytes: 1000}, {at: 500 * ms, bytes: 1000}})
	if s := few.out[0]; s.StandardError != s.Rate {
		t.Errorf("one block: error %v, rate %v", s.StandardError, s.Rate)
	}
}

// An estimate does not depend on where in the burst a stall lies.
func TestStallWeighsTheSameEverywhere(t *testing.T) {
	l := link{rtt: 5 * ms, speed: 100 * mbit}
	for _, at := range []int{50, 1000, 2500, 4000, 5500} {
		in := l.warm(0, 8e6)
		for i := at; i < len(in); i++ {
			in[i].at += 400 * ms
		}
		h := newHost(Path{})
		h.fetch(0, in)
		within(t, fmt.Sprint(at), h.rate(), 8e6/(0.64+0.4), 0.002)
	}
}

func TestCloseReasons(t *testing.T) {
	h := newHost(Path{BaseRTT: 10 * ms})
	l := link{rtt: 10 * ms, speed: 100 * mbit}
	h.w.Asked(0)
	h.reads(l.warm(0, 1e5))
	h.until(3 * time.Second)
	h.w.Asked(3 * time.Second)
	h.reads(l.warm(3*time.Second, 1e5))
	end := h.fetch(3500*ms, l.warm(3500*ms, 1e5))
	h.w.Asked(end)
	h.reads(l.warm(end, 1e5))
	h.got(h.w.Close(h.now(), 0, false))
	var reasons []Reason
	for _, s := range h.out {
		reasons = append(reasons, s.Reason)
	}
	if fmt.Sprint(reasons) != "[horizon exchange fetch_end closed]" {
		t.Errorf("closed by %v", reasons)
	}
	if got := h.w.State().Bursts; got != [Reasons]uint64{1, 1, 1, 1} {
		t.Errorf("counted %v", got)
	}
	if h.out[0].Declared || !h.out[2].Declared {
		t.Error("declared is wrong")
	}
}

// TestCloseIsAnEnd: the end of the connection says no more of the silence before it than that of a fetch.
func TestCloseIsAnEnd(t *testing.T) {
	for _, c := range []struct {
		ours     time.Duration
		finished bool
	}{{0, false}, {0, true}, {3 * time.Second, false}, {1500 * ms, false}, {500 * ms, true}} {
		var states [2]State
		for i := range states {
			h := newHost(Path{BaseRTT: 10 * ms})
			id, _, _ := h.w.Begin(0)
			h.reads((link{rtt: 10 * ms, speed: 100 * mbit}).warm(0, 1e5))
			at := h.now() + 3*time.Second
			if i == 0 {
				h.got(h.w.End(at, id, c.ours, c.finished))
			} else {
				h.got(h.w.Close(at, c.ours, c.finished))
			}
			states[i] = h.w.State()
			states[i].Bursts = [Reasons]uint64{}
			if s := h.out[0]; s.Ours != c.ours || states[i].Ours != c.ours {
				t.Errorf("%+v: %v of the sample and %v of all are ours", c, s.Ours, states[i].Ours)
			}
		}
		if states[0] != states[1] {
			t.Errorf("%+v: by End %+v, by Close %+v", c, states[0], states[1])
		}
	}
}

func TestState(t *testing.T) {
	h := newHost(Path{BaseRTT: 10 * ms})
	if s := h.w.State(); s != (State{}) {
		t.Errorf("fresh: %+v", s)
	}
	h.w.Begin(0)
	h.got(h.w.Arrive(Arrival{At: 20 * ms, Bytes: 500}))
	h.got(h.w.Arrive(Arrival{At: 21 * ms, Bytes: 700}))
	h.got(h.w.Arrive(Arrival{At: 61 * ms, Bytes: 100, Ours: 39 * ms}))
	want := State{
		Gate: Open, Opened: 20 * ms, Last: 61 * ms, Deadline: 1061 * ms,
		Bytes: 1300, Covered: 800, Fetches: 1, Cold: true, Tight: 2 * ms, Ours: 39 * ms,
	}
	if s := h.w.State(); s != want {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

func TestStrangeInput(t *testing.T) {
	w := NewWindow(DefaultConfig(), nil)
	if _, ok := w.End(0, 7, 0, false); ok {
		t.Error("ending an unknown fetch closed something")
	}
	if _, ok := w.Tick(time.Hour, 0); ok {
		t.Error("a tick closed nothing")
	}
	id, _, _ := w.Begin(0)
	if id == 0 {
		t.Error("a fetch named zero")
	}
	w.Arrive(Arrival{At: time.Second, Bytes: 100, Ours: math.MaxInt64})
	w.Arrive(Arrival{At: -time.Hour, Bytes: math.MaxInt32, Ours: -5})
	w.Arrive(Arrival{At: 2 * time.Second, Bytes: 0})
	w.End(time.Minute, id, 0, true)
	if _, ok := w.End(time.Minute, id, 0, true); ok {
		t.Error("a fetch ended twice")
	}
	if s := w.State(); s.Last != time.Second || s.Bytes != 100+math.MaxInt32 {
		t.Errorf("%+v", s)
	}
	if _, ok := w.Close(time.Minute, 0, false); ok {
		t.Error("nothing was open")
	}
}
