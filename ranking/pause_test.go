package ranking

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// halfway begins a fetch of 4 MB of which half has come, in a population of equals. It returns the instant.
func halfway(t *testing.T) (*world, *actor, *Fetch, time.Duration) {
	t.Helper()
	w := served(t, 3, 4e6)
	a := w.order[0]
	f := w.started(a, Query{Size: 4e6})
	now := w.now + 20*ms
	for range 10 {
		now += 20 * ms
		f.Progress(now, 2e5)
	}
	return w, a, f, now
}

// meter sets how long nothing has come over the connection of an actor.
func meter(a *actor, silence time.Duration) {
	a.gauge.set(func(r *burst.Reading) { r.Silence, r.EchoAge = silence, 20*ms })
}

// watched asks for advice every half second until an instant, and fails if there is any.
func watched(t *testing.T, f *Fetch, from, to time.Duration) {
	t.Helper()
	for at := from; at < to; at += 500 * ms {
		if got := f.Advice(at); got.Kind != Wait || got.Trouble != NoTrouble {
			t.Errorf("%v after its last byte: %s", at-from, got)
		}
	}
}

// While we read nothing there is no stall, nothing is late and nobody is asked instead, however long it
// lasts; and then nothing of it is held against the peer.
func TestWhatWeDoNotReadHasNotStalled(t *testing.T) {
	for _, long := range []time.Duration{3 * time.Second, 15 * time.Second} {
		w, a, f, now := halfway(t)
		before := w.expect(a, 4e6)
		f.Pause(now)
		meter(a, 0) // bytes come on for a while, until our window is full
		watched(t, f, now, now+200*ms)
		meter(a, long-200*ms)
		watched(t, f, now+500*ms, now+long)
		now += long
		f.Resume(now)
		watched(t, f, now, now+1)
		f.Progress(now+ms, 2e6)
		w.now = now + ms
		if v := f.Done(w.now, 4e6); v.Latest.Outcome == audit.Judged && v.Latest.Residual > 0.9 || v.Kind != audit.Clear {
			t.Errorf("after %v of ours: %s, %+v", long, v, v.Latest)
		}
		if f.peer.dropped || w.r.tally.Hedges > 0 || f.quiet.flowed > 0 {
			t.Errorf("dropped %v, %d hedges, stalled for %v", f.peer.dropped, w.r.tally.Hedges, f.quiet.flowed)
		}
		if after := w.expect(a, 4e6); after > before*5/4 {
			t.Errorf("expected in %v, %v before", after, before)
		}
	}
}

// A peer that falls silent while we read nothing is held to all of it once we have to wait for it, and
// the fetch is hedged at once.
func TestAStallInAPauseIsThePeers(t *testing.T) {
	_, a, f, now := halfway(t)
	f.Pause(now)
	meter(a, 3*time.Second)
	watched(t, f, now, now+3*time.Second)
	f.Resume(now + 3*time.Second)
	if got := f.Advice(now + 3*time.Second + atOnce + ms); got.Trouble != Stalled || got.Kind != AddHedge {
		t.Errorf("%s", got)
	}
	f.Progress(now+3500*ms, 2e6)
	if f.pause.ours != 0 || f.quiet.flowed < 3*time.Second {
		t.Errorf("%v are ours, it stalled for %v", f.pause.ours, f.quiet.flowed)
	}
}

// Whatever comes over the connection excuses nothing while we read: bytes on other streams, part of a
// frame, bytes that do not count.
func TestNoDribbleMakesAStallOurs(t *testing.T) {
	_, a, f, now := halfway(t)
	meter(a, 10*ms)
	if got := f.Advice(now + 1100*ms); got.Trouble != Stalled || got.Kind != AddHedge {
		t.Errorf("%s", got)
	}
}

// And while we don't, what is ours is only the time in which nothing came: a dribble makes it less.
func TestADribbleInAPauseExcusesNothing(t *testing.T) {
	for _, silence := range []time.Duration{0, 5 * ms, 900 * ms, time.Hour} {
		_, a, f, now := halfway(t)
		f.Pause(now)
		meter(a, silence)
		f.Resume(now + 2*time.Second)
		f.Progress(now+2*time.Second, 1)
		if want := min(silence, 2*time.Second); f.pause.ours != want {
			t.Errorf("nothing came for %v: %v are ours", silence, f.pause.ours)
		}
	}
}

// One byte left waiting excuses a peer that dribbles from no more than our own pauses.
func TestALorisInPausesIsSeen(t *testing.T) {
	_, a, f, now := halfway(t)
	from := now
	var got Advice
	for got.Trouble == NoTrouble && now-from < time.Minute {
		f.Pause(now)
		meter(a, 90*ms)
		now += 100 * ms
		f.Resume(now)
		now += 200 * ms // it has us wait for twice as long as it had to wait for us
		f.Progress(now, 1000)
		got = f.Advice(now)
	}
	if got.Trouble != Collapsed && got.Trouble != Late || now-from > 5*time.Second {
		t.Errorf("%s after %v", got, now-from)
	}
}

// A hedge that we do not read is on its way: no third is asked. One that its peer has stalled is no help.
func TestHedgesInPauses(t *testing.T) {
	for _, paused := range []bool{true, false} {
		w, a, f, now := halfway(t)
		meter(a, time.Second)
		first := f.Advice(now + 1100*ms)
		if first.Kind != AddHedge {
			t.Fatalf("%s", first)
		}
		now += 1100 * ms
		g, err := f.Add(now, first.To)
		if err != nil {
			t.Fatal(err)
		}
		g.Progress(now+30*ms, 1e5)
		if paused {
			g.Pause(now + 30*ms)
		}
		meter(w.actors[g.Peer()], 2*time.Second)
		meter(a, 3*time.Second)
		got := f.Advice(now + 2*time.Second)
		if third := got.Kind == AddHedge; third == paused {
			t.Errorf("the hedge is paused %v: %s", paused, got)
		}
	}
}

// A pause that ends with its fetch is no fault either; nor has a host to say that it reads again.
func TestPausesEndWithTheirFetch(t *testing.T) {
	for name, end := range map[string]func(f *Fetch, now time.Duration){
		"given up":  func(f *Fetch, now time.Duration) { f.Abort(now) },
		"timed out": func(f *Fetch, now time.Duration) { f.Fail(now, TimedOut) },
	} {
		w, a, f, now := halfway(t)
		before := w.expect(a, 4e6)
		f.Pause(now)
		meter(a, 5*time.Second)
		w.now = now + 5*time.Second
		end(f, w.now)
		if after := w.expect(a, 4e6); after > before*11/10 || f.peer.dropped {
			t.Errorf("%s: expected in %v, %v before; dropped %v", name, after, before, f.peer.dropped)
		}
	}
	_, _, f, now := halfway(t)
	f.Pause(now)
	f.Progress(now+2*time.Second, 1000)
	if f.pause.since.Load() != 0 || f.pause.ours != 0 {
		t.Errorf("%+v", &f.pause)
	}
	f.Resume(now + 3*time.Second) // never paused
	if f.pause.fresh || f.silence(now+4*time.Second) != 2*time.Second {
		t.Errorf("%+v", &f.pause)
	}
}

// The reader tells of pauses by itself.
func TestReaderPauses(t *testing.T) {
	w := served(t, 2, 1e6)
	a := w.order[0]
	now := w.now
	f := w.started(a, Query{Size: 1e6})
	r := f.Reader(bytes.NewReader(make([]byte, 1e6)), func() time.Duration { now += 100 * time.Microsecond; return now })
	buf := make([]byte, 1e5)
	for range 10 {
		if _, err := io.ReadFull(r, buf); err != nil {
			t.Fatal(err)
		}
		meter(a, 2*time.Second)
		now += 2 * time.Second // a slow disk
		if !f.received {
			watched(t, f, now, now+1)
		}
	}
	if _, err := r.Read(buf); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if f.pause.ours < 17*time.Second {
		t.Errorf("%v are ours", f.pause.ours)
	}
	w.now = now
	if v := f.Done(now, 1e6); v.Latest.Outcome == audit.Judged || v.Latest.Actual > 100*ms {
		t.Errorf("%+v", v.Latest)
	}
}

// A host that knows the length does not read on to the end, and checks before it is done: that is its own
// time, whatever comes over the connection meanwhile.
func TestCheckingIsOurs(t *testing.T) {
	for _, silence := range []time.Duration{0, 600 * ms} {
		w := served(t, 2, 1e6)
		a := w.order[0]
		before, n := w.expect(a, 1e6), w.r.peers[a.id].completions
		f := w.started(a, Query{Size: 1e6})
		now := w.now + before
		r := f.Reader(bytes.NewReader(make([]byte, 1e6)), func() time.Duration { return now })
		if _, err := io.ReadFull(r, make([]byte, 1e6)); err != nil {
			t.Fatal(err)
		}
		meter(a, silence)
		now += 600 * ms
		w.now = now
		v := f.Done(now, 1e6)
		if v.Latest.Outcome != audit.Judged || v.Latest.Actual > before || w.r.peers[a.id].completions != n+1 {
			t.Errorf("silence %v: %+v", silence, v.Latest)
		}
		if got := w.expect(a, 1e6); got > before*11/10 {
			t.Errorf("silence %v: expected in %v, %v before", silence, got, before)
		}
	}
}
