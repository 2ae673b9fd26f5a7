package lab

import (
	"errors"
	"io"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// fetch asks for n bytes with one and returns when the first and the last of
// them were read.
func fetch(t *testing.T, a, b *Conn, n int) (first, last time.Duration) {
	t.Helper()
	go func() {
		if _, err := io.ReadFull(b, make([]byte, 1)); err == nil {
			b.Write(make([]byte, n))
		}
	}()
	start := time.Now()
	if _, err := a.Write([]byte{1}); err != nil {
		t.Error(err)
	}
	buf := make([]byte, 64<<10)
	for got := 0; got < n; {
		k, err := a.Read(buf[:min(len(buf), n-got)])
		if err != nil {
			t.Errorf("after %d of %d bytes: %v", got, n, err)
			return first, last
		}
		if got == 0 {
			first = time.Since(start)
		}
		got += k
	}
	return first, time.Since(start)
}

// within fails the test unless got is want to a share of tolerance.
func within(t *testing.T, what string, got, want time.Duration, tolerance float64) {
	t.Helper()
	off := float64(got-want) / float64(want)
	if !(math.Abs(off) <= tolerance) {
		t.Errorf("%s: got %v, want %v within %.1f %%, is off by %+.2f %%", what, got, want, 100*tolerance, 100*off)
	}
}

func TestPairKeepsRateAndDelay(t *testing.T) {
	tests := []struct {
		name string
		link Link
		n    int
	}{
		{"10 Mbit/s 25 ms", Link{Rate: 10 * Mbit, OneWay: 25 * time.Millisecond}, 10 << 20},
		{"1 Gbit/s 5 ms", Link{Rate: Gbit, OneWay: 5 * time.Millisecond}, 12e6},
		{"1 Mbit/s 134 ms", Link{Rate: Mbit, OneWay: 134 * time.Millisecond}, 1e6},
		{"small buffer", Link{Rate: 10 * Mbit, OneWay: 25 * time.Millisecond, Buffer: 64 << 10}, 10 << 20},
		{"odd segments", Link{Rate: 10 * Mbit, OneWay: 25 * time.Millisecond, MSS: 999}, 10 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			real0 := time.Now()
			synctest.Test(t, func(t *testing.T) {
				a, b := Pair(tt.link)
				first, last := fetch(t, a, b, tt.n)
				rtt := 2 * tt.link.OneWay
				segment := tt.link.Rate.Time(1 + positiveOr(tt.link.MSS, DefaultMSS))
				within(t, "first byte", first, rtt+segment, 0.001)
				within(t, "last byte", last, rtt+tt.link.Rate.Time(1+tt.n), 0.001)
			})
			t.Logf("real %v", time.Since(real0))
		})
	}
}

func TestPairOfHasTwoDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := PairOf(Link{OneWay: 10 * time.Millisecond}, Link{OneWay: 70 * time.Millisecond, Rate: 8 * Mbit})
		first, last := fetch(t, a, b, 1e6)
		within(t, "first byte", first, 80*time.Millisecond+1448*time.Microsecond, 0.001)
		within(t, "last byte", last, 1080*time.Millisecond, 0.001)
	})
}

func TestZeroLinkIsImmediate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(Link{})
		if _, last := fetch(t, a, b, 1<<20); last != 0 {
			t.Errorf("took %v of virtual time, want none", last)
		}
	})
}

func TestIdleRestart(t *testing.T) {
	link := Link{Rate: 100 * Mbit, OneWay: 50 * time.Millisecond, SlowStart: true}
	tests := []struct {
		name    string
		restart bool
		idle    time.Duration
		slower  bool // than a warm connection
	}{
		{"short pause", true, 100 * time.Millisecond, false},
		{"long pause", true, time.Minute, true},
		{"long pause, no restart", false, time.Minute, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				link := link
				link.IdleRestart = tt.restart
				a, b := Pair(link)
				_, cold := fetch(t, a, b, 4e6)
				time.Sleep(tt.idle)
				_, again := fetch(t, a, b, 4e6)
				if want := link.Rate.Time(4e6) + 100*time.Millisecond; !tt.slower {
					within(t, "warm fetch", again, want, 0.02)
					return
				}
				within(t, "fetch after the pause", again, cold, 0.02)
			})
		})
	}
}

func TestValidate(t *testing.T) {
	bad := []Link{
		{Rate: -1}, {Rate: BitRate(math.NaN())}, {Rate: BitRate(math.Inf(1))},
		{OneWay: -1}, {InitialWindow: -1}, {Buffer: -1}, {MSS: -1},
		{Jitter: -1}, {Burst: -1}, {Peak: -1}, {Peak: BitRate(math.NaN())},
		{Loss: Loss{Rate: -0.1}}, {Loss: Loss{Rate: 1}}, {Loss: Loss{Rate: math.NaN()}},
		{Loss: Loss{Bursts: 1}}, {Loss: Loss{Bursts: -1}}, {Loss: Loss{Length: 0.5}}, {Loss: Loss{Length: math.Inf(1)}},
		{Loss: Loss{Within: 1.1}}, {Loss: Loss{Within: math.NaN()}},
		{Changes: []Change{{At: -1, OneWay: time.Hour}}},
		{Changes: []Change{{At: 0, OneWay: -1}}},
		{Changes: []Change{{At: 0, Rate: -1}}},
		{Changes: []Change{{At: 2, OneWay: time.Hour}, {At: 1, OneWay: time.Hour}}},
	}
	for _, l := range bad {
		if err := l.Validate(); !errors.Is(err, ErrBadLink) {
			t.Errorf("Validate(%+v) = %v, want ErrBadLink", l, err)
		}
		synctest.Test(t, func(t *testing.T) {
			a, b := Pair(l)
			if _, last := fetch(t, a, b, 3000); last != 0 {
				t.Errorf("Pair(%+v) took %v; a bad field should count as zero", l, last)
			}
		})
	}
	for _, l := range []Link{
		{},
		{Rate: Mbit, SlowStart: true},
		{Rate: Mbit, Jitter: time.Second, Loss: Loss{Rate: 0.99, Bursts: 0.5, Length: 1, Within: 1}, Burst: 1, Peak: Gbit},
		{Changes: []Change{{}, {At: 1}, {At: 1, Rate: 1}}, Bottleneck: NewBottleneck(Mbit), Seed: 1},
	} {
		if err := l.Validate(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestDefaultBuffer(t *testing.T) {
	tests := []struct {
		link Link
		back time.Duration
		want int
	}{
		{Link{}, 0, 16 << 20},
		{Link{Rate: 10 * Mbit, OneWay: 25 * time.Millisecond}, 25 * time.Millisecond, 1 << 20},
		{Link{Rate: Gbit, OneWay: 25 * time.Millisecond}, 75 * time.Millisecond, 25e6},
		{Link{Rate: 100 * Gbit, OneWay: time.Second}, time.Second, 256 << 20},
		{Link{Buffer: 5}, 0, 5},
	}
	for _, tt := range tests {
		if got := tt.link.normal(tt.back).Buffer; got != tt.want {
			t.Errorf("%+v: buffer %d, want %d", tt.link, got, tt.want)
		}
	}
}
