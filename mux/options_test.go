package mux

import (
	"sync"
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
)

func TestOptionsAreBroughtToTheirLimits(t *testing.T) {
	bad := burst.DefaultConfig()
	bad.Horizon = -1
	good := burst.DefaultConfig()
	good.Horizon = 2 * time.Second
	own := NewWatcher()
	tests := []struct {
		name string
		opt  Option
		ok   func(o options) bool
	}{
		{"default", func(*options) {}, func(o options) bool {
			return o.sdu == 16<<10 && o.cookies && o.kernel && !o.async && !o.infer && o.watcher == &processWatcher
		}},
		{"no splitting", WithSDU(0), func(o options) bool { return o.sdu == 0 }},
		{"negative SDU", WithSDU(-5), func(o options) bool { return o.sdu == 0 }},
		{"small SDU", WithSDU(1), func(o options) bool { return o.sdu == 1<<10 }},
		{"large SDU", WithSDU(1 << 30), func(o options) bool { return o.sdu == 1<<20 }},
		{"SDU", WithSDU(5000), func(o options) bool { return o.sdu == 5000 }},
		{"no cookies", WithoutCookies(), func(o options) bool { return !o.cookies }},
		{"negative interval", WithCookieInterval(-1), func(o options) bool { return o.cookie.MinInterval == 0 }},
		{"interval", WithCookieInterval(5), func(o options) bool { return o.cookie.MinInterval == 5 }},
		{"no cookie allowed", WithCookieLimit(0), func(o options) bool { return o.cookie.MaxOutstanding == 1 }},
		{"too many", WithCookieLimit(33), func(o options) bool { return o.cookie.MaxOutstanding == 32 }},
		{"burst", WithBurst(good), func(o options) bool { return o.burst == good }},
		{"bad burst", WithBurst(bad), func(o options) bool { return o.burst == burst.DefaultConfig() }},
		{"no kernel", WithoutKernel(), func(o options) bool { return !o.kernel }},
		{"handshake", WithHandshakeRTT(7), func(o options) bool { return o.handshake == 7 }},
		{"negative handshake", WithHandshakeRTT(-7), func(o options) bool { return o.handshake == 0 }},
		{"watcher", WithWatcher(own), func(o options) bool { return o.watcher == own }},
		{"nil watcher", WithWatcher(nil), func(o options) bool { return o.watcher == &processWatcher }},
		{"async", WithAsyncWrites(), func(o options) bool { return o.async }},
		{"infer", WithInferredFetches(), func(o options) bool { return o.infer }},
	}
	for _, tt := range tests {
		if o := newOptions([]Option{tt.opt}); !tt.ok(o) {
			t.Errorf("%s: %+v", tt.name, o)
		}
	}
}

// A host keeps its options and wraps with them many connections at once. The
// race detector is what fails here.
func TestOptionsMayBeShared(t *testing.T) {
	opts := []Option{
		WithSDU(1), WithCookieInterval(0), WithCookieLimit(1), WithBurst(burst.DefaultConfig()),
		WithSink(func(burst.Sample) {}), WithHandshakeRTT(1), WithWatcher(NewWatcher()), WithAsyncWrites(),
		WithInferredFetches(), WithoutCookies(), WithoutKernel(), WithTap(nil),
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := newOptions(opts).sdu; got != minSDU {
				t.Errorf("SDU %d, want %d", got, minSDU)
			}
		})
	}
	wg.Wait()
}

func TestHandshakeIsTheBaseUntilSomethingLessVouches(t *testing.T) {
	c, _ := wrapFake(t, WithHandshakeRTT(30*time.Millisecond))
	if r := c.Meter().Snapshot().RTT; r.Base != 30*time.Millisecond || !r.Confirmed {
		t.Errorf("%+v", r)
	}
	c, _ = wrapFake(t)
	if r := c.Meter().Snapshot().RTT; r.Base != 0 || r.Confirmed {
		t.Errorf("%+v", r)
	}
}
