package speedtest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
)

var path = lab.Link{Rate: 80 * lab.Mbit, OneWay: 10 * time.Millisecond}

// crook is a tester that writes messages as it likes.
type crook struct {
	t    *testing.T
	open Opener
}

func (c crook) stream(m message.Message) net.Conn {
	c.t.Helper()
	st, err := c.open.Open()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := message.Write(st, m); err != nil {
		c.t.Fatal(err)
	}
	return st
}

// propose asks, and returns the control stream of a grant.
func (c crook) propose(m message.Propose) (net.Conn, message.Grant, error) {
	c.t.Helper()
	st := c.stream(m)
	g, err := message.Expect[message.Grant](st)
	return st, g, err
}

// attach opens a stream for payload.
func (c crook) attach(a message.Attach) (net.Conn, error) {
	c.t.Helper()
	st := c.stream(a)
	_, err := message.Expect[message.Attached](st)
	return st, err
}

// hostile runs f as a tester against a target with the policy.
func hostile(t *testing.T, p policy.Policy, f func(g *target, c crook)) {
	t.Helper()
	bubble.Run(t, func(t *testing.T) {
		g := newTarget(t, ResponderConfig{Policy: p})
		defer g.stop()
		f(g, crook{t, g.connect(path, us)})
	})
}

// TestBoundlessWishesAreCut: it asks for all that can be written, starts the run
// and never says stop.
func TestBoundlessWishesAreCut(t *testing.T) {
	p := policy.Default()
	p.Bytes, p.Duration = 5_000_000, 10*time.Second
	for _, way := range []message.Way{message.FromTarget, message.ToTarget} {
		hostile(t, p, func(g *target, c crook) {
			control, grant, err := c.propose(message.Propose{Runs: 255, Streams: 65535, Length: 1 << 60, Bytes: math.MaxInt64, Rate: math.MaxInt64, Limit: 0})
			if err != nil {
				t.Fatal(err)
			}
			defer control.Close()
			var got atomic.Int64
			var wg sync.WaitGroup
			for i := range 8 {
				st, err := c.attach(message.Attach{Token: grant.Token, Index: uint16(i)})
				if err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					defer st.Close()
					if way == message.ToTarget {
						push(st)
						return
					}
					n, _ := io.Copy(io.Discard, st)
					got.Add(n)
				})
			}
			message.Write(control, message.Start{Way: way})
			d, err := message.Expect[message.Done](control)
			wg.Wait()
			if err != nil || d.Bytes > p.Bytes || policy.Ended(d.Reason) != policy.Spent || got.Load() > p.Bytes || g.Counts().Moved > p.Bytes {
				t.Errorf("%v: %+v, %v; %d bytes came and %d were moved of %d", way, d, err, got.Load(), g.Counts().Moved, p.Bytes)
			}
			// The streams that wrote beside the one that spent the last byte are cut.
			if way == message.FromTarget && got.Load() < p.Bytes-8*chunk {
				t.Errorf("%d bytes came of %d granted", got.Load(), p.Bytes)
			}
		})
	}
}

// push writes until it fails.
func push(st net.Conn) {
	buf := make([]byte, chunk)
	_ = st.SetDeadline(time.Now().Add(time.Minute))
	go io.Copy(io.Discard, st)
	for {
		if _, err := st.Write(buf); err != nil {
			return
		}
	}
}

// TestTwoToThe64: a number that is none ends the stream.
func TestTwoToThe64(t *testing.T) {
	hostile(t, policy.Default(), func(g *target, c crook) {
		st, err := c.open.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		b := message.Append(nil, message.Propose{})
		for i := range 8 {
			b[4+11+i] = 0xff // bytes
		}
		st.Write(b)
		if _, err := message.Read(st); !errors.Is(err, io.EOF) {
			t.Errorf("2^64-1 bytes: %v", err)
		}
		if g.Counts().Granted != 0 {
			t.Error("granted")
		}
	})
}

// TestHundredTestsAtOnce: one is granted, the others are told so.
func TestHundredTestsAtOnce(t *testing.T) {
	hostile(t, free(), func(g *target, c crook) {
		refused := 0
		for range 100 {
			st := c.stream(message.Propose{})
			defer st.Close()
			_, err := message.Expect[message.Grant](st)
			if r, ok := errors.AsType[*message.Refusal](err); ok && policy.Code(r.Code) == policy.Busy && r.RetryAfter > 0 {
				refused++
			}
		}
		if refused != 99 || g.Counts().Granted != 1 {
			t.Errorf("%d were refused, %d granted", refused, g.Counts().Granted)
		}
	})
}

// TestManyNames: identities of one group share its quota, connections and all.
func TestManyNames(t *testing.T) {
	p := policy.Default()
	p.GroupBytes, p.Bytes = 8<<20, 4<<20
	bubble.Run(t, func(t *testing.T) {
		g := newTarget(t, ResponderConfig{Policy: p})
		defer g.stop()
		granted := 0
		for i := range 20 {
			near := g.connect(path, policy.Who{Identity: fmt.Sprint(i), Group: us.Group})
			res, err := Measure(t.Context(), Config{Near: near, Ways: []message.Way{message.FromTarget}, Length: 2 * time.Second, Streams: 4})
			if err == nil {
				granted++
				continue
			}
			if r, ok := errors.AsType[*policy.Refusal](err); !ok || r.Code != policy.GroupQuota {
				t.Errorf("%d: %+v, %v", i, res, err)
			}
		}
		if moved := g.Counts().Moved; moved > p.GroupBytes || granted == 0 {
			t.Errorf("%d bytes in %d tests, the group may have %d", moved, granted, p.GroupBytes)
		}
		other := g.connect(path, policy.Who{Identity: "honest", Group: "198.51.100.0/24"})
		if _, err := Measure(t.Context(), Config{Near: other, Ways: []message.Way{message.FromTarget}, Length: 2 * time.Second}); err != nil {
			t.Errorf("another group: %v", err)
		}
	})
}

// TestNeverStartingLosesItsPlace: also one that keeps pinging.
func TestNeverStartingLosesItsPlace(t *testing.T) {
	hostile(t, free(), func(g *target, c crook) {
		control, grant, err := c.propose(message.Propose{})
		if err != nil {
			t.Fatal(err)
		}
		defer control.Close()
		st, err := c.attach(message.Attach{Token: grant.Token})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		began := time.Now()
		for {
			if message.Write(control, message.Ping{}) != nil {
				break
			}
			if _, err := message.Read(control); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it held its place for %v", took)
		}
		next, _, err := c.propose(message.Propose{})
		next.Close()
		if err != nil {
			t.Errorf("the place is not free: %v", err)
		}
	})
}

// TestStoppingToReadLosesItsPlace: what it gets is what fits the windows.
func TestStoppingToReadLosesItsPlace(t *testing.T) {
	hostile(t, free(), func(g *target, c crook) {
		control, grant, err := c.propose(message.Propose{})
		if err != nil {
			t.Fatal(err)
		}
		defer control.Close()
		for i := range 4 {
			st, err := c.attach(message.Attach{Token: grant.Token, Index: uint16(i)})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
		}
		began := time.Now()
		message.Write(control, message.Start{})
		d, err := message.Expect[message.Done](control)
		if took := time.Since(began); err != nil || took > 15*time.Second || policy.Ended(d.Reason) != policy.Idled {
			t.Errorf("after %v: %+v, %v", took, d, err)
		}
		if d.Bytes > 4*(256<<10)+4*chunk {
			t.Errorf("%d bytes were sent to one that does not read", d.Bytes)
		}
	})
}

// TestForeignStreams: nobody adds streams to a test that is not theirs, nor more
// than were granted, nor one twice, nor to a run that is over.
func TestForeignStreams(t *testing.T) {
	hostile(t, free(), func(g *target, c crook) {
		control, grant, err := c.propose(message.Propose{Runs: 2, Streams: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer control.Close()
		good := message.Attach{Token: grant.Token}
		st, err := c.attach(good)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		stranger := crook{t, g.connect(path, policy.Who{Identity: "stranger", Group: "b"})}
		for name, a := range map[string]struct {
			by crook
			a  message.Attach
		}{
			"twice":           {c, good},
			"a third":         {c, message.Attach{Token: grant.Token, Index: 2}},
			"a third run":     {c, message.Attach{Token: grant.Token, Run: 2}},
			"a guessed token": {c, message.Attach{Index: 1}},
			"a stranger":      {stranger, message.Attach{Token: grant.Token, Index: 1}},
			"a far guess":     {stranger, message.Attach{Side: message.Far}},
		} {
			st, err := a.by.attach(a.a)
			st.Close()
			if _, ok := errors.AsType[*message.Refusal](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
		}
		far, err := stranger.attach(message.Attach{Token: grant.Token, Side: message.Far})
		far.Close()
		if err != nil {
			t.Errorf("an exit that was told the token: %v", err)
		}
		message.Write(control, message.Start{Way: message.FromTarget})
		go io.Copy(io.Discard, st)
		message.Write(control, message.Stop{})
		if _, err := message.Expect[message.Done](control); err != nil {
			t.Fatal(err)
		}
		late, err := c.attach(message.Attach{Token: grant.Token, Index: 1})
		late.Close()
		if err == nil {
			t.Error("a stream was added to a run that is over")
		}
	})
}

// TestNoise: streams that begin with nothing, or with what begins nothing, and
// control streams that go on with it.
func TestNoise(t *testing.T) {
	hostile(t, free(), func(g *target, c crook) {
		for name, m := range map[string]message.Message{"a ping": message.Ping{}, "a grant": message.Grant{}} {
			st := c.stream(m)
			if _, err := message.Read(st); !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v", name, err)
			}
			st.Close()
		}
		silent, err := c.open.Open()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := message.Read(silent); !errors.Is(err, io.EOF) || time.Since(began) > 2*patience {
			t.Errorf("one that says nothing: %v after %v", err, time.Since(began))
		}
		silent.Close()
		for name, m := range map[string]message.Message{
			"a start of no run": message.Start{Run: 9}, "a done": message.Done{}, "an attach": message.Attach{},
		} {
			control, _, err := c.propose(message.Propose{Runs: 1})
			if err != nil {
				t.Fatal(err)
			}
			message.Write(control, m)
			if _, err := message.Read(control); !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v", name, err)
			}
			control.Close()
			time.Sleep(time.Second)
		}
	})
}

// TestOptOutStopsAtOnce: within a second, in mid-test, and for good.
func TestOptOutStopsAtOnce(t *testing.T) {
	for _, way := range []message.Way{message.FromTarget, message.ToTarget} {
		bubble.Run(t, func(t *testing.T) {
			var events []Event
			var mu sync.Mutex
			g := newTarget(t, ResponderConfig{Policy: free(), Event: func(e Event) {
				mu.Lock()
				defer mu.Unlock()
				events = append(events, e)
			}})
			defer g.stop()
			near := g.connect(path, us)
			time.AfterFunc(3*time.Second, func() { g.SetOptOut(true) })
			began := time.Now()
			res, err := Measure(t.Context(), Config{Near: near, Ways: []message.Way{way, way}, Length: 20 * time.Second})
			if took := time.Since(began); took > 6*time.Second || len(res.Runs) > 1 || err == nil {
				t.Errorf("%v: %v, %d runs, %v", way, took, len(res.Runs), err)
			}
			d, err := Describe(t.Context(), near, message.Descriptor{})
			if err != nil || !d.Policy.OptedOut {
				t.Errorf("it does not say so: %+v, %v", d, err)
			}
			for name, err := range map[string]error{
				"announced": Announce(t.Context(), near, time.Hour),
				"tested":    second(Measure(t.Context(), Config{Near: near, Ways: []message.Way{way}})),
			} {
				if r, ok := errors.AsType[*policy.Refusal](err); !ok || r.Code != policy.OptedOut {
					t.Errorf("%s after it: %v", name, err)
				}
			}
			moved := g.Counts().Moved
			if most := int64(4 * 10e6); moved > most { // 3 s at 10 MB/s, and what stops it
				t.Errorf("%v: %d bytes were moved, %d at most by then", way, moved, most)
			}
			mu.Lock()
			defer mu.Unlock()
			if n := len(events); n < 4 || events[0].Kind != Granted || events[n-1].Kind != Refused {
				t.Errorf("events: %+v", events)
			}
		})
	}
}

func second(_ Result, err error) error { return err }

// TestReserveIsLeft: of a stated limit a quarter is left where nobody says how
// much of it is in use, the run says that it was capped, and the target holds to
// it itself.
func TestReserveIsLeft(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		p := free()
		p.Limit = 4e6
		g := newTarget(t, ResponderConfig{Policy: p})
		defer g.stop()
		near := g.connect(path, us)
		res, err := Measure(t.Context(), Config{Near: near, Ways: []message.Way{message.FromTarget, message.ToTarget}, Length: 8 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Runs {
			if off := math.Abs(off(r.Flow.Median, 3e6)); off > 0.03 || r.LimitedBy != "peer_cap" || !r.LowerBound {
				t.Errorf("%v: %+v", r.Way, r)
			}
		}
	})
}
