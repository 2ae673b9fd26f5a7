package lab

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestChangesTakeEffect: rate and delay change at their instants, in the middle
// of a transfer, of a segment even.
func TestChangesTakeEffect(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name    string
		changes []Change
		n       int
		last    time.Duration // after the write, at 8 Mbit/s and 50 ms
	}{
		{"none", nil, 2e6, 2050 * ms},
		{"slower after a second", []Change{{At: time.Second, Rate: 4 * Mbit, OneWay: 50 * ms}}, 2e6, 3050 * ms},
		{"faster", []Change{{At: time.Second, Rate: 80 * Mbit, OneWay: 50 * ms}}, 2e6, 1150 * ms},
		{"no limit", []Change{{At: time.Second, OneWay: 50 * ms}}, 2e6, 1050 * ms},
		{"later only", []Change{{At: 3 * time.Second, Rate: Mbit, OneWay: time.Second}}, 2e6, 2050 * ms},
		{"farther", []Change{{At: time.Second, Rate: 8 * Mbit, OneWay: 150 * ms}}, 2e6, 2150 * ms},
		{"nearer", []Change{{At: time.Second, Rate: 8 * Mbit, OneWay: 10 * ms}}, 2e6, 2010 * ms},
		{"outage of two seconds", []Change{
			{At: time.Second, Rate: 1, OneWay: 50 * ms}, {At: 3 * time.Second, Rate: 8 * Mbit, OneWay: 50 * ms},
		}, 2e6, 4050 * ms},
		{"two at once, the last counts", []Change{
			{At: time.Second, Rate: 1}, {At: time.Second, Rate: 4 * Mbit, OneWay: 50 * ms},
		}, 2e6, 3050 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := Pair(Link{Rate: 8 * Mbit, OneWay: 50 * ms, Changes: tt.changes, Buffer: 4 << 20})
				defer a.Close()
				start := time.Now()
				a.Write(make([]byte, tt.n))
				if _, err := io.ReadFull(b, make([]byte, tt.n)); err != nil {
					t.Error(err)
				}
				// The bits that an outage leaves through are within it.
				within(t, "last byte", time.Since(start), tt.last, 0.0001)
			})
		})
	}
}

// TestShorterDelayKeepsOrder: bytes sent after the path got shorter wait for
// those before.
func TestShorterDelayKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair(Link{OneWay: time.Second, Changes: []Change{{At: time.Second / 2}}})
		defer a.Close()
		start := time.Now()
		a.Write([]byte("slow"))
		time.Sleep(600 * time.Millisecond)
		a.Write([]byte("fast"))
		buf := make([]byte, 8)
		n, err := b.Read(buf)
		if string(buf[:n]) != "slowfast" || err != nil {
			t.Errorf("read %q, %v", buf[:n], err)
		}
		wantAt(t, "both", start, time.Second)
		a.Write([]byte("now"))
		if n, _ := b.Read(buf); string(buf[:n]) != "now" {
			t.Errorf("read %q", buf[:n])
		}
		wantAt(t, "the next", start, time.Second)
	})
}

// TestAcknowledgementsTakeTheOtherWay: the window waits for the delay that the
// way back has by then.
func TestAcknowledgementsTakeTheOtherWay(t *testing.T) {
	const ms = time.Millisecond
	ahead, back := Link{OneWay: 10 * ms, SlowStart: true}, Link{OneWay: 10 * ms, Changes: []Change{{At: time.Second, OneWay: 500 * ms}}}
	synctest.Test(t, func(t *testing.T) {
		a, b := PairOf(ahead, back)
		defer a.Close()
		for i, want := range []time.Duration{
			30 * ms,  // one byte too many for the first window
			10 * ms,  // the window has grown
			520 * ms, // too many for it
		} {
			start, n := time.Now(), []int{DefaultInitialWindow + 1, DefaultInitialWindow + 1, 40 * DefaultMSS}[i]
			a.Write(make([]byte, n))
			io.ReadFull(b, make([]byte, n))
			wantAt(t, "transfer", start, want)
			time.Sleep(2 * time.Second)
		}
	})
}

// TestFasterBuffer: the default buffer is made for the fastest the link will be.
func TestFasterBuffer(t *testing.T) {
	const ms = time.Millisecond
	fast := Link{Rate: Mbit, OneWay: 25 * ms, Changes: []Change{{Rate: Gbit, OneWay: 75 * ms}}}
	tests := []struct {
		link Link
		want int
	}{
		{fast, 25e6},
		{Link{Rate: Mbit, Changes: []Change{{}}}, unlimitedBuffer},
		{Link{Rate: Mbit, Burst: 4e6}, 8e6 + 6250},
		{Link{Bottleneck: NewBottleneck(Gbit), OneWay: 75 * ms}, 25e6},
		{Link{Rate: 10 * Mbit, Bottleneck: NewBottleneck(Gbit), OneWay: 75 * ms}, DefaultBuffer},
		{Link{Rate: Gbit, Bottleneck: NewBottleneck(10 * Mbit), OneWay: 75 * ms}, DefaultBuffer},
	}
	for _, tt := range tests {
		if got := tt.link.normal(25 * ms).Buffer; got != tt.want {
			t.Errorf("%+v: buffer %d, want %d", tt.link, got, tt.want)
		}
	}
}
