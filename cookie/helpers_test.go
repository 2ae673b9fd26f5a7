package cookie

import (
	"testing"
	"time"
)

// testKey makes runs repeatable; a real key comes from crypto/rand.
var testKey = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

const ms = time.Millisecond

// harness is a queue with its RTT and a clock that the test moves.
type harness struct {
	t   *testing.T
	q   *Queue
	rtt *RTT
	now time.Duration
}

func newHarness(t *testing.T, cfg Config) *harness {
	t.Helper()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	rtt := NewRTT(DefaultRTTConfig())
	return &harness{t: t, q: NewQueue(cfg, testKey, rtt), rtt: rtt}
}

// issue moves the clock by the interval and deals a cookie.
func (h *harness) issue() Value {
	h.t.Helper()
	h.now += h.q.cfg.MinInterval
	v, ok := h.q.Issue(h.now, 0)
	if !ok {
		h.t.Fatalf("no cookie at %v with %d outstanding", h.now, h.q.Len())
	}
	return v
}

// echo demands an outcome of a value.
func (h *harness) echo(v Value, want Outcome) Echo {
	h.t.Helper()
	got := h.q.Echo(v, h.now, 0)
	if got.Outcome != want {
		h.t.Fatalf("echo of %#x: %v, want %v", v, got.Outcome, want)
	}
	return got
}

// answer issues n cookies and echoes each at once.
func (h *harness) answer(n int) {
	h.t.Helper()
	for range n {
		h.echo(h.issue(), Sample)
	}
}

// counts demands totals.
func (h *harness) counts(want Counts) {
	h.t.Helper()
	if got := h.q.Counts(); got != want {
		h.t.Fatalf("counts %+v, want %+v", got, want)
	}
}
