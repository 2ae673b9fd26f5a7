package passive

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const second = time.Second

func newMeter(t rapid.TB, cfg Config, at time.Duration) *Meter {
	t.Helper()
	m, err := New(cfg, at)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// feed adds the same each second, n times, and returns the instant after.
func feed(m *Meter, at time.Duration, n int, t Traffic) time.Duration {
	for range n {
		m.Add(at, t)
		at += second
	}
	return at
}

func TestBestTenSeconds(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	at := feed(m, 0, 5, Traffic{Read: 100, Written: 100})
	if f := m.Figures(at); f.Observed != 50 || f.Advertised != 50 {
		t.Errorf("five seconds at 100 are %+v, want 50: what ten had at least", f)
	}
	at = feed(m, at, 20, Traffic{Read: 1000, Written: 400})
	at = feed(m, at, 100, Traffic{Read: 7, Written: 7})
	want := Figures{Advertised: 400, Observed: 400, ObservedWithoutTests: 400, Read: 1000, Written: 400}
	if f := m.Figures(at); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}

// The two directions need not have their best seconds at the same time.
func TestDirectionsApart(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	at := feed(m, 0, 10, Traffic{Read: 500})
	at = feed(m, at, 10, Traffic{Written: 300})
	if f := m.Figures(at); f.Read != 500 || f.Written != 300 || f.Observed != 300 {
		t.Errorf("%+v", f)
	}
}

func TestTestsApart(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	at := feed(m, 0, 10, Traffic{Read: 50, Written: 60})
	at = feed(m, at, 20, Traffic{Read: 900, Written: 900, Test: true})
	if f := m.Figures(at); f.Observed != 900 || f.ObservedWithoutTests != 50 {
		t.Errorf("%+v, want 900 with tests and 50 without", f)
	}
}

func TestUnfinishedSecondDoesNotCount(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	m.Add(0, Traffic{Read: 1000, Written: 1000})
	if f := m.Figures(second - 1); f.Observed != 0 {
		t.Errorf("before the second is over: %+v", f)
	}
	if f := m.Figures(second); f.Observed != 100 {
		t.Errorf("after: %+v, want 100", f)
	}
}

func TestForgets(t *testing.T) {
	cfg := DefaultConfig()
	m := newMeter(t, cfg, 0)
	end := feed(m, 0, 10, Traffic{Read: 100, Written: 100})
	if f := m.Figures(end + cfg.Window - second); f.Observed != 100 {
		t.Errorf("within the day: %+v", f)
	}
	if f := m.Figures(end + cfg.Window + cfg.Window/96 + second); f.Observed != 0 {
		t.Errorf("a day and a bucket later: %+v", f)
	}
}

// Traffic on either side of a gap is no run of seconds, however the gap compares with the ring.
func TestGaps(t *testing.T) {
	for _, gap := range []time.Duration{0, second, 5 * second, 9 * second, 10 * second, 11 * second, time.Hour} {
		m := newMeter(t, DefaultConfig(), 0)
		at := feed(m, 0, 5, Traffic{Read: 100, Written: 100})
		at = feed(m, at+gap, 5, Traffic{Read: 100, Written: 100})
		want := 10 * max(5, 10-int64(gap/second))
		if f := m.Figures(at); f.Observed != want {
			t.Errorf("gap %v: %d, want %d", gap, f.Observed, want)
		}
	}
}

// A machine that slept for a century takes no longer to wake than one that slept a second: with a loop
// for each second this test would not end.
func TestSleepIsFree(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	at := time.Duration(0)
	for range 1000 {
		at += 1 << 52
		m.Add(at, Traffic{Read: 10, Written: 10})
	}
	if f := m.Figures(at + 20*second); f.Observed != 1 {
		t.Errorf("%+v, want 1", f)
	}
}

func TestClockSetBack(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	at := feed(m, 0, 100, Traffic{Read: 100, Written: 100})
	for range 5 { // set back by a minute, again and again: each time one second does not pass
		at = feed(m, at-time.Minute, 50, Traffic{Read: 100, Written: 100})
	}
	if f := m.Figures(at); f.Observed > 110 {
		t.Errorf("a clock set back makes 100 a second %d", f.Observed)
	}
	// A day after the step what was before it is forgotten.
	if f := m.Figures(at + 25*time.Hour); f.Observed != 0 {
		t.Errorf("a day later: %+v", f)
	}
}

// A reader that stamped its bytes just before another's was counted is no clock set back.
func TestOvertakenReader(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	for i := range 20 {
		at := time.Duration(i+1) * second
		m.Add(at, Traffic{Read: 50, Written: 50})
		m.Add(at-second/2, Traffic{Read: 50, Written: 50})
	}
	if f := m.Figures(20 * second); f.Observed != 90 && f.Observed != 100 {
		t.Errorf("%+v, want about 100", f)
	}
	if f := m.Figures(21 * second); f.Observed != 100 {
		t.Errorf("%+v, want 100", f)
	}
}

// A count beyond any link is one of the most that a second may have, and takes no sum over.
func TestMostASecond(t *testing.T) {
	m := newMeter(t, Config{Best: second, Window: 10 * second, Buckets: 10}, 0)
	for range 3 {
		m.Add(0, Traffic{Read: math.MaxInt64, Written: mostASecond - 1})
	}
	if f := m.Figures(second); f.Read != mostASecond || f.Written != mostASecond {
		t.Errorf("%+v, want %d", f, int64(mostASecond))
	}
}

func TestExtremes(t *testing.T) {
	m := newMeter(t, DefaultConfig(), math.MinInt64)
	for _, at := range []time.Duration{math.MinInt64, math.MaxInt64, math.MinInt64, 0, math.MaxInt64, -1, math.MaxInt64} {
		m.Add(at, Traffic{Read: math.MaxInt64, Written: math.MaxInt64})
		m.Add(at, Traffic{Read: math.MaxInt64, Written: math.MinInt64})
		f := m.Figures(at)
		if f.Read < 0 || f.Read > mostASecond || f.Written < 0 || f.Observed > f.Read {
			t.Errorf("at %d: %+v", at, f)
		}
		if r, w := m.MeanGoodput(at); r < 0 || w < 0 || r > mostASecond || math.IsNaN(r+w) {
			t.Errorf("at %d: mean %g, %g", at, r, w)
		}
	}
}

func TestMeanGoodputAndUtilisation(t *testing.T) {
	m := newMeter(t, DefaultConfig(), 0)
	if r, w := m.MeanGoodput(second / 2); r != 0 || w != 0 {
		t.Errorf("at the start: %g, %g", r, w)
	}
	at := feed(m, 0, 100, Traffic{Read: 100, Written: 300, Test: true})
	if r, w := m.MeanGoodput(at + 100*second); r != 50 || w != 150 {
		t.Errorf("mean %g, %g; want 50, 150", r, w)
	}
	if u := m.Utilisation(at+100*second, 600); u != 0.25 {
		t.Errorf("utilisation %g, want 0.25", u)
	}
	for _, c := range []float64{0, -1, math.NaN()} {
		if u := m.Utilisation(at, c); u != 0 {
			t.Errorf("capacity %g: utilisation %g", c, u)
		}
	}
	at = feed(m, 48*time.Hour, 24*3600, Traffic{Read: 10, Written: 10})
	if r, w := m.MeanGoodput(at); math.Abs(r-10) > 0.2 || math.Abs(w-10) > 0.2 {
		t.Errorf("mean of a day at 10: %g, %g", r, w)
	}
}

func TestLimit(t *testing.T) {
	f := Figures{Observed: 100}
	for limit, want := range map[int64]int64{0: 100, -5: 100, 40: 40, 400: 100} {
		if got := f.WithLimit(limit); got.Advertised != want || got.Limit != max(limit, 0) {
			t.Errorf("limit %d: %+v, want %d", limit, got, want)
		}
	}
}

func TestConfig(t *testing.T) {
	good := DefaultConfig()
	for name, breakIt := range map[string]func(*Config){
		"no seconds":        func(c *Config) { c.Best = 0 },
		"half a second":     func(c *Config) { c.Best += second / 2 },
		"too many seconds":  func(c *Config) { c.Best = 601 * second },
		"no buckets":        func(c *Config) { c.Buckets = 0 },
		"too many buckets":  func(c *Config) { c.Buckets = 1441 },
		"no window":         func(c *Config) { c.Window = 0 },
		"negative window":   func(c *Config) { c.Window = -time.Hour },
		"uneven buckets":    func(c *Config) { c.Buckets = 97 },
		"buckets too short": func(c *Config) { c.Window = 96 * 9 * second },
	} {
		cfg := good
		breakIt(&cfg)
		if _, err := New(cfg, 0); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, cfg := range []Config{good, {Best: second, Window: second, Buckets: 1}, {Best: 10 * second, Window: 120 * time.Hour, Buckets: 480}} {
		if err := cfg.Validate(); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
