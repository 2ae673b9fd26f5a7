package mux

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/burst"
)

// fetching is a meter with a fetch outstanding, whose stream 1 has brought some bytes.
type fetching struct {
	*Meter
	samples []burst.Sample
	end     func()
}

func fetchOf(t *testing.T, bytes int) *fetching {
	f := &fetching{Meter: silentMeter(t, ms)}
	f.settle, f.lone = func() {}, func(time.Duration) {}
	f.sink = func(s burst.Sample) { f.samples = append(f.samples, s) }
	f.end = f.Begin()
	f.sent(window(1, flagSYN, 0), f.now())
	for part := range 4 {
		f.later(5 * ms)
		f.bring(1, bytes/4, part)
	}
	return f
}

// later turns the clock on.
func (f *fetching) later(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.base = f.base.Add(-d)
}

func (f *fetching) bring(stream uint32, n, part int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	flags := flagACK
	if part > 0 {
		flags = 0
	}
	a := f.arrived(data(stream, flags, uint32(n)), now)
	b := batch{silence: silence{last: f.lastPayload, now: now, left: f.lastPayload, began: f.lastPayload}}
	f.payload(a, &b, n)
	f.arrive(&b)
}

// about says whether d is what it should be, but for the time that the test itself takes.
func about(d, want time.Duration) bool { return d >= want && d < want+500*ms }

// TestSilenceAtTheEnd: whose the silence is that a fetch ends in, in whatever way it ends.
func TestSilenceAtTheEnd(t *testing.T) {
	reset := func(f *fetching) {
		f.sent(resetFrame(1), f.now())
		f.wasReset(1)
	}
	fin := func(f *fetching) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.arrived(window(1, flagFIN, 0), f.now())
	}
	none := func(*fetching) {}
	for _, tt := range []struct {
		name          string
		bytes         int
		before, after func(*fetching) // two seconds of silence, and two more
		peers, ours   time.Duration
	}{
		{"the peer stalls", 100_000, none, none, 4 * time.Second, 0},
		{"our window is full", initialCredit, none, none, 0, 4 * time.Second},
		{"the peer had ended", 100_000, fin, none, 0, 0},
		{"the peer stalls, and we reset the stream", 100_000, none, reset, 2 * time.Second, 0},
		{"our window is full, and we reset the stream", initialCredit, none, reset, 0, 2 * time.Second},
	} {
		for how, end := range map[string]func(*fetching){
			"end":   func(f *fetching) { f.end() },
			"close": func(f *fetching) { f.close() },
		} {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				f := fetchOf(t, tt.bytes)
				tt.before(f)
				f.later(2 * time.Second)
				tt.after(f)
				f.later(2 * time.Second)
				end(f)
				f.end()
				s, r := f.Snapshot(), f.Reading()
				if !about(s.Burst.Peers, tt.peers) || !about(r.Ours, tt.ours) || !about(r.Credit, tt.ours) {
					t.Errorf("the peer's %v, ours %v, for want of credit %v", s.Burst.Peers, r.Ours, r.Credit)
				}
				charged := time.Duration(0)
				for _, s := range f.samples {
					charged += s.Time
				}
				if !about(charged, tt.peers) {
					t.Errorf("charged %v", charged)
				}
			})
		}
	}
}

// TestResetEndsNothingElse: what the peer owed on a stream that we reset is no part of the silence after
// the next payload.
func TestResetEndsNothingElse(t *testing.T) {
	f := fetchOf(t, 100_000)
	f.sent(window(3, flagSYN, 0), f.now())
	f.later(20 * ms)
	f.wasReset(1)
	f.later(5 * ms)
	f.bring(3, 100, 0)
	f.mu.Lock()
	f.arrived(window(3, flagFIN, 0), f.now())
	f.mu.Unlock()
	f.later(3 * time.Second)
	f.end()
	if d := f.Snapshot().Burst.Peers; d > 500*ms {
		t.Errorf("%v of silence are the peer's, who was done", d)
	}
}

// TestASilenceIsBookedOnce: two fetches end in it, and then it goes on until the next payload.
func TestASilenceIsBookedOnce(t *testing.T) {
	f := fetchOf(t, initialCredit)
	second, third := f.Begin(), f.Begin()
	f.later(2 * time.Second)
	f.end()
	second()
	f.sent(window(1, 0, 100), f.now())
	f.later(time.Second)
	f.bring(1, 100, 1)
	third()
	if r := f.Reading(); !about(r.Credit, 2*time.Second) || !about(r.Ours, 2*time.Second) {
		t.Errorf("%v for want of credit, %v ours; want 2 s of each", r.Credit, r.Ours)
	}
}

// TestIdlenessIsNotOurs, though a stream that we abandoned has used its window up.
func TestIdlenessIsNotOurs(t *testing.T) {
	f := fetchOf(t, initialCredit)
	f.end()
	f.later(10 * time.Second)
	end := f.Begin()
	f.sent(window(3, flagSYN, 0), f.now())
	f.later(50 * ms)
	f.bring(3, 100, 0)
	end()
	if r, b := f.Reading(), f.Snapshot().Burst; r.Ours > time.Second || r.Credit > time.Second || b.Waiting < 9*time.Second {
		t.Errorf("%v ours, %v for want of credit, %v of waiting", r.Ours, r.Credit, b.Waiting)
	}
}

// TestAnotherBurstEndsNothing: a stalled fetch is owed what comes after another's prompt end, too.
func TestAnotherBurstEndsNothing(t *testing.T) {
	for how, giveUp := range map[string]func(*fetching){
		"end":   func(*fetching) {},
		"reset": func(f *fetching) { f.sent(resetFrame(1), f.now()) },
	} {
		f := fetchOf(t, 100_000)
		f.later(1200 * ms)
		second := f.Begin()
		f.sent(window(3, flagSYN, 0), f.now())
		f.later(20 * ms)
		f.bring(3, 1000, 0)
		f.mu.Lock()
		f.arrived(window(3, flagFIN, 0), f.now())
		f.mu.Unlock()
		second()
		f.later(3 * time.Second)
		giveUp(f)
		f.end()
		if d := f.Snapshot().Burst.Peers; !about(d, 4220*ms) {
			t.Errorf("%s: %v are the peer's", how, d)
		}
	}
}
