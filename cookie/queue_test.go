package cookie

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestEchoOutcomes(t *testing.T) {
	tests := []struct {
		name string
		play func(h *harness) Value // returns the value to echo
		want Outcome
	}{
		{"own ping of the multiplexer", func(h *harness) Value { h.issue(); return 7 }, Foreign},
		{"before any cookie", func(*harness) Value { return Marker | 7 }, Forged},
		{"outstanding", func(h *harness) Value { return h.issue() }, Sample},
		{"second echo", func(h *harness) Value {
			v := h.issue()
			h.echo(v, Sample)
			return v
		}, Replay},
		{"second echo while an older one is out", func(h *harness) Value {
			h.issue()
			v := h.issue()
			h.echo(v, Sample)
			return v
		}, Replay},
		{"skipped by age", func(h *harness) Value {
			v := h.issue()
			h.now += h.q.cfg.MaxAge
			h.q.Expire(h.now, 0)
			return v
		}, Late},
		{"skipped by newer echoes", func(h *harness) Value {
			v := h.issue()
			h.answer(h.q.cfg.SkipAfter)
			return v
		}, Late},
		{"late twice", func(h *harness) Value {
			v := h.issue()
			h.answer(h.q.cfg.SkipAfter)
			h.echo(v, Late)
			return v
		}, Replay},
		{"withdrawn", func(h *harness) Value {
			v := h.issue()
			h.q.Withdraw(v)
			return v
		}, Late},
		{"withdrawn behind an older one", func(h *harness) Value {
			h.issue()
			v := h.issue()
			h.q.Withdraw(v)
			return v
		}, Late},
		{"still remembered", func(h *harness) Value {
			v := h.issue()
			h.echo(v, Sample)
			h.answer(remembered - 1)
			return v
		}, Replay},
		{"too old to be remembered", func(h *harness) Value {
			v := h.issue()
			h.echo(v, Sample)
			h.answer(remembered)
			return v
		}, Late},
		{"in the place of one that was echoed long ago", func(h *harness) Value {
			h.answer(remembered)
			v := h.issue()
			h.answer(h.q.cfg.SkipAfter)
			return v
		}, Late},
		{"the next one, not issued yet", func(h *harness) Value {
			h.issue()
			return Marker | Value(h.q.perm.encode(h.q.next))
		}, Forged},
		{"another connection's", func(h *harness) Value {
			h.answer(3)
			other := NewQueue(DefaultConfig(), [16]byte{99}, nil)
			v, _ := other.Issue(0, 0)
			return v
		}, Forged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHarness(t, DefaultConfig())
			h.echo(tt.play(h), tt.want)
		})
	}
}

func TestOutcomesAreCountedApart(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	dropped := h.issue()
	taken := h.issue()
	h.q.Withdraw(taken)
	h.answer(16)
	last := h.issue()
	h.echo(last, Sample)
	h.echo(last, Replay)
	h.echo(dropped, Late)
	h.echo(taken, Late)
	h.echo(Marker|Value(h.q.perm.encode(5000)), Forged)
	h.echo(3, Foreign)
	open := h.issue()
	h.counts(Counts{
		Issued: 20, Echoed: 17, Skipped: 1, Withdrawn: 1,
		Late: 2, Replayed: 1, Forged: 1,
	})
	if h.q.Len() != 1 {
		t.Errorf("%d outstanding, want 1", h.q.Len())
	}
	h.echo(open, Sample)
}

// Only samples may move an estimate.
func TestOnlySamplesReachTheRTT(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	h.now = time.Second
	v := h.issue()
	h.now += 40 * ms
	h.echo(v, Sample)
	before := h.rtt.Reading(h.now)
	newest, _ := h.q.NewestEchoed()

	h.now += 100 * ms
	h.echo(v, Replay)
	h.echo(Marker|Value(h.q.perm.encode(77)), Forged)
	h.echo(1, Foreign)
	w := h.issue()
	h.q.Withdraw(w)
	h.echo(w, Late)

	if got := h.rtt.Reading(h.now); got != before {
		t.Errorf("reading moved from %+v to %+v", before, got)
	}
	if got, _ := h.q.NewestEchoed(); got != newest {
		t.Errorf("newest echoed moved from %v to %v", newest, got)
	}
	if before.P50 != 40*ms || before.Samples != 1 {
		t.Errorf("reading %+v, want one sample of 40ms", before)
	}
}

func TestValuesCarryTheMark(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	seen := make(map[Value]bool)
	for range 5000 {
		v := h.issue()
		if v&Marker == 0 {
			t.Fatalf("%#x lacks bit 31", v)
		}
		if seen[v] {
			t.Fatalf("%#x dealt twice", v)
		}
		seen[v] = true
		h.echo(v, Sample)
	}
}

func TestIssueLimits(t *testing.T) {
	cfg := DefaultConfig()
	q := NewQueue(cfg, testKey, nil)
	may := func(now time.Duration, want bool) {
		t.Helper()
		if due := q.Due(now); due != want {
			t.Fatalf("Due at %v: %v, want %v", now, due, want)
		}
		if _, ok := q.Issue(now, 0); ok != want {
			t.Fatalf("Issue at %v: %v, want %v", now, ok, want)
		}
	}
	may(0, true)
	may(cfg.MinInterval-1, false)
	may(cfg.MinInterval, true)
	for i := 2; i < cfg.MaxOutstanding; i++ {
		may(time.Duration(i)*cfg.MinInterval, true)
	}
	may(time.Second, false)
	may(cfg.MaxAge-1, false)
	may(cfg.MaxAge, true) // the first one has aged out
	if got := q.Counts().Skipped; got != 1 {
		t.Errorf("%d skipped, want 1", got)
	}
	if q.Len() != cfg.MaxOutstanding {
		t.Errorf("%d outstanding, want %d", q.Len(), cfg.MaxOutstanding)
	}
	may(cfg.MaxAge-time.Second, false) // a clock that runs back deals nothing
}

func TestEchoesOutOfOrder(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	var values []Value
	for range 8 {
		values = append(values, h.issue())
	}
	for n, i := range []int{3, 0, 2, 7, 1, 6, 5, 4} {
		echo := h.echo(values[i], Sample)
		if want := time.Duration(i+1) * ms; echo.SentAt != want || echo.RTT != 8*ms-want {
			t.Errorf("cookie %d: sent at %v, RTT %v", i, echo.SentAt, echo.RTT)
		}
		if h.q.Len() != 7-n {
			t.Errorf("%d outstanding after %d echoes", h.q.Len(), n+1)
		}
	}
	h.counts(Counts{Issued: 8, Echoed: 8})
}

func TestNewestEchoedIsBySendTime(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	if _, ok := h.q.NewestEchoed(); ok {
		t.Fatal("something was echoed before anything was sent")
	}
	older, newer := h.issue(), h.issue()
	h.now += 10 * ms
	h.echo(newer, Sample)
	h.echo(older, Sample)
	if got, ok := h.q.NewestEchoed(); !ok || got != 2*ms {
		t.Errorf("newest echoed %v, %v, want 2ms", got, ok)
	}
}

func TestFrontAge(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	want := func(age time.Duration, some bool) {
		t.Helper()
		if got, ok := h.q.FrontAge(h.now); got != age || ok != some {
			t.Fatalf("front age %v, %v, want %v, %v", got, ok, age, some)
		}
	}
	want(0, false)
	first := h.issue()
	second := h.issue()
	h.now += 10 * ms
	want(11*ms, true)
	h.echo(first, Sample)
	want(10*ms, true)
	third := h.issue()
	h.echo(third, Sample)
	want(11*ms, true) // still the second's
	h.echo(second, Sample)
	want(0, false)
}

// A dropped echo pins the front until enough newer ones have come, and no longer.
func TestDroppedEchoDoesNotPinTheFront(t *testing.T) {
	cfg := DefaultConfig()
	h := newHarness(t, cfg)
	sentAt := h.now + cfg.MinInterval
	h.issue()
	h.answer(cfg.SkipAfter - 1)
	if age, ok := h.q.FrontAge(h.now); !ok || age != h.now-sentAt {
		t.Fatalf("front age %v, %v before the skip", age, ok)
	}
	h.answer(1)
	if _, ok := h.q.FrontAge(h.now); ok {
		t.Fatal("the front is still pinned")
	}
	h.counts(Counts{Issued: 17, Echoed: 16, Skipped: 1})
}

// Newer means newer than the cookie in question: what was echoed before a front
// became the front still counts if it was sent after it, and only then.
func TestSkipCountsOnlyNewerEchoes(t *testing.T) {
	cfg := DefaultConfig()
	cfg.SkipAfter = 3
	h := newHarness(t, cfg)
	a := h.issue()
	h.answer(2) // newer than a
	b := h.issue()
	h.echo(a, Sample) // b is the front, none newer is echoed
	h.answer(2)
	if h.q.Len() != 1 {
		t.Fatal("skipped after two newer echoes, not three")
	}
	h.answer(1)
	h.echo(b, Late)
}

func TestSeveralDroppedEchoesAreSkippedTogether(t *testing.T) {
	cfg := DefaultConfig()
	h := newHarness(t, cfg)
	for range 3 {
		h.issue()
	}
	h.answer(cfg.SkipAfter)
	h.counts(Counts{Issued: 19, Echoed: 16, Skipped: 3})
	if h.q.Len() != 0 {
		t.Errorf("%d still outstanding", h.q.Len())
	}
}

func TestExpire(t *testing.T) {
	cfg := DefaultConfig()
	h := newHarness(t, cfg)
	h.issue()
	h.now += time.Second
	h.issue()
	first := cfg.MinInterval
	if n := h.q.Expire(first+cfg.MaxAge-1, 0); n != 0 {
		t.Fatalf("%d expired too early", n)
	}
	if n := h.q.Expire(first+cfg.MaxAge, 0); n != 1 {
		t.Fatalf("%d expired, want 1", n)
	}
	if n := h.q.Expire(time.Hour, 0); n != 1 || h.q.Len() != 0 {
		t.Fatalf("%d expired, %d left", n, h.q.Len())
	}
	if n := h.q.Expire(2*time.Hour, 0); n != 0 {
		t.Fatalf("%d expired of nothing", n)
	}
}

func TestWithdrawIsNoSkip(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	v := h.issue()
	h.q.Withdraw(v)
	h.q.Withdraw(v)          // no effect
	h.q.Withdraw(Marker | 1) // nor this
	h.q.Withdraw(1)
	h.counts(Counts{Issued: 1, Withdrawn: 1})
	if _, ok := h.q.FrontAge(time.Hour); ok {
		t.Error("a withdrawn cookie ages")
	}
	h.now = time.Hour
	h.q.Expire(h.now, 0)
	if got := h.rtt.Reading(h.now); got != (Reading{}) {
		t.Errorf("a withdrawn cookie entered the RTT: %+v", got)
	}
}

// Withdrawn entries behind a waiting front take up room in the ring; when it runs
// out, Issue refuses until the front has aged, and nothing breaks.
func TestManyWithdrawnFillTheRing(t *testing.T) {
	cfg := DefaultConfig()
	h := newHarness(t, cfg)
	front := h.issue()
	n := 0
	for {
		h.now += cfg.MinInterval
		v, ok := h.q.Issue(h.now, 0)
		if ok != (n < len(h.q.ring)-1) {
			t.Fatalf("issue %d: %v with a ring of %d", n, ok, len(h.q.ring))
		}
		if !ok {
			break
		}
		h.q.Withdraw(v)
		n++
	}
	if h.q.Due(h.now) {
		t.Error("due with a full ring")
	}
	h.now += cfg.MaxAge
	if !h.q.Due(h.now) {
		t.Error("not due though the front has aged")
	}
	h.issue()
	h.echo(front, Late)
}

func TestLoaded(t *testing.T) {
	const start = 1 << 20
	limit := uint64(DefaultConfig().LoadedAfter)
	tests := []struct {
		name     string
		mark     bool
		received uint64
		want     bool
	}{
		{"idle", false, start, false},
		{"a little payload between", false, start + limit - 1, false},
		{"much payload between", false, start + limit, true},
		{"our own queue", true, start, true},
		{"a count that ran backwards", false, start - 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rtt := NewRTT(DefaultRTTConfig())
			q := NewQueue(DefaultConfig(), testKey, rtt)
			v, _ := q.Issue(0, start)
			if tt.mark {
				q.MarkLoaded(v)
			}
			if got := q.Echo(v, ms, tt.received); got.Loaded != tt.want {
				t.Errorf("loaded %v, want %v", got.Loaded, tt.want)
			}
			r := rtt.Reading(ms)
			if loaded := r.LoadedSamples == 1; loaded != tt.want || r.Samples+r.LoadedSamples != 1 {
				t.Errorf("reading %+v", r)
			}
		})
	}
}

func TestMarkLoadedIgnoresTheUnknown(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	h.q.MarkLoaded(Marker | 1) // before the first cookie
	v, other := h.issue(), h.issue()
	h.q.MarkLoaded(Marker | 1)
	h.q.MarkLoaded(1)
	h.q.MarkLoaded(other)
	if h.echo(v, Sample).Loaded || !h.echo(other, Sample).Loaded {
		t.Error("the wrong cookie was marked")
	}
	h.q.MarkLoaded(other)
}

// Guessing is hopeless, and seen: of 10^5 guesses with 1000 issued, 0.05 are
// expected to hit anything at all.
func TestGuessesAreForged(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	h.answer(992)
	for range 8 {
		h.issue()
	}
	rng := rand.New(rand.NewPCG(3, 4))
	const guesses = 100_000
	for range guesses {
		h.q.Echo(Marker|Value(rng.Uint32()), h.now, 0)
	}
	c := h.q.Counts()
	if c.Forged < guesses-2 {
		t.Errorf("%d of %d guesses seen as forged", c.Forged, guesses)
	}
	if c.Echoed != 992 || h.q.Len() != 8 {
		t.Errorf("a guess hit: %+v", c)
	}
}

// Guessing near what was seen is no better: one bit off, or one more.
func TestNeighboursOfSeenValuesAreForged(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	for range 200 {
		v := h.issue()
		for bit := range 31 {
			h.q.Echo(v^1<<bit, h.now, 0)
		}
		h.q.Echo(v+1|Marker, h.now, 0)
		h.echo(v, Sample)
	}
	if c := h.q.Counts(); c.Forged < 200*32-2 {
		t.Errorf("%d of %d neighbours seen as forged", c.Forged, 200*32)
	}
}

func TestRekey(t *testing.T) {
	h := newHarness(t, DefaultConfig())
	h.answer(1)
	// Go to the end of the epoch, three cookies before its last.
	h.q.front, h.q.next = sequences-3, sequences-3
	echoed := h.issue()
	open, other := h.issue(), h.issue()
	h.echo(echoed, Sample)
	if h.q.next != sequences {
		t.Fatalf("next is %d", h.q.next)
	}
	first := h.issue()
	if h.q.next != 1 || h.q.Len() != 1 {
		t.Fatalf("next %d, %d outstanding after the change of keys", h.q.next, h.q.Len())
	}
	// An echo of the old epoch is late, an hour on as well; so is a second one.
	h.echo(open, Late)
	h.now += time.Hour
	h.echo(other, Late)
	h.echo(echoed, Late)
	h.echo(first, Sample)
	h.echo(first, Replay)
	// The change is no amnesty for what was never sent.
	forged := 0
	for i := range Value(1000) {
		if h.q.Echo(Marker|i*2147483, h.now, 0).Outcome == Forged {
			forged++
		}
	}
	if forged < 998 {
		t.Errorf("%d of 1000 guesses seen as forged after the change", forged)
	}
	c := h.q.Counts()
	if c.Issued != 5 || c.Echoed != 3 || c.Withdrawn != 2 || c.Skipped != 0 {
		t.Errorf("counts %+v", c)
	}
	h.answer(100)
}
