package fetcher

import (
	"context"
	"errors"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

func TestFetch(t *testing.T) {
	data, hash := datum(1, 500_000)
	_, s := files(t, data)
	h := newHost(t, nil)
	p := h.join("alice", s, behave.Behaviour{Disk: 1e6}) // not us who is slower
	res := h.want(Request{Hash: hash}, data)
	if res.From() != "alice" || len(res.Parts) != 1 || res.Parts[0].Role != ranking.Primary || res.Parts[0].Bytes != int64(len(data)) || res.Predicted <= 0 {
		t.Errorf("result %+v", res)
	}
	if st := h.standing("alice"); st.Completions != 1 || st.Failures != 0 || st.Bytes != int64(len(data)) {
		t.Errorf("standing %+v", st)
	}
	h.idle(p, "alice")
	// Its size is remembered, so that it can be fetched again.
	if again := h.want(Request{Hash: hash}, data); again.Size != res.Size {
		t.Errorf("again %d bytes", again.Size)
	}
}

func TestNobodyHasIt(t *testing.T) {
	data, _ := datum(1, 1000)
	_, s := files(t, data)
	h := newHost(t, nil)
	if _, err := h.Fetch(t.Context(), Request{Hash: wire.Hash{1}}); !errors.Is(err, wire.ErrNotFound) {
		t.Errorf("with no peer: %v", err)
	}
	h.join("alice", s, behave.Behaviour{})
	if _, err := h.Fetch(t.Context(), Request{Hash: wire.Hash{1}}); !errors.Is(err, wire.ErrNotFound) {
		t.Errorf("that nobody offers: %v", err)
	}
	_, hash := datum(1, 1000)
	if _, err := h.Fetch(t.Context(), Request{Hash: hash, Exclude: []string{"alice"}}); !errors.Is(err, ErrNobody) {
		t.Errorf("with its holder excluded: %v", err)
	}
}

// good is an honest peer, slow enough that it is not us who limits the fetch.
var good = behave.Behaviour{Disk: 2e6}

// fetchThenJoin fetches from the only peer there is, and lets another join once
// that has sent something.
func (h *host) fetchThenJoin(hash wire.Hash, first *node.Peer, join func()) Result {
	h.t.Helper()
	before := first.Meter().Snapshot().Counts.PayloadIn
	done := make(chan Result, 1)
	go func() {
		res, err := h.Fetch(h.t.Context(), Request{Hash: hash})
		if err != nil {
			h.t.Errorf("%v; %+v", err, res.Parts)
		}
		done <- res
	}()
	for first.Meter().Snapshot().Counts.PayloadIn < before+1000 {
		time.Sleep(time.Millisecond)
	}
	join()
	res := <-done
	if !store.Has(h.t.Context(), h.cfg.Dir, hash) {
		h.t.Fatal("it is not there")
	}
	return res
}

// blamed says whether a peer's one failure is held against it. On a busy machine
// most of the fetch may be our own doing, which excuses it.
func (h *host) blamed(id string) {
	h.t.Helper()
	st := h.standing(id)
	if (st.Failures != 1 || st.Penalty <= 1) && st.Verdict.Latest.Outcome != audit.Void {
		h.t.Errorf("%s: %d failures, penalty %v", id, st.Failures, st.Penalty)
	}
}

// TestBadPeers: whatever the first does, the datum comes from the second, and the
// first is held to it.
func TestBadPeers(t *testing.T) {
	data, hash := datum(1, 600_000)
	tests := map[string]struct {
		bad     behave.Behaviour
		spoil   func(t *testing.T, dir string)
		leaves  bool
		failure error
	}{
		"vanishes": {bad: behave.Behaviour{Vanish: 400_000, Drip: 1e6}, leaves: true, failure: node.ErrVanished},
		"sends another": {bad: behave.Behaviour{Drip: 1e6}, failure: store.ErrMismatch, spoil: func(t *testing.T, dir string) {
			other, _ := datum(9, len(data))
			if err := os.WriteFile(filepath.Join(dir, "0"), other, 0o644); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir, s := files(t, data)
			_, right := files(t, data)
			h := newHost(t, nil)
			bad := h.join("bad", s, tt.bad)
			if tt.spoil != nil {
				tt.spoil(t, dir)
			}
			var ok *node.Peer
			res := h.fetchThenJoin(hash, bad, func() { ok = h.join("good", right, good) })
			if res.From() != "good" || res.Parts[0].Peer != "bad" {
				t.Errorf("parts %+v", res.Parts)
			}
			// A hedge may have been quicker than the failure.
			if err := res.Parts[0].Err; !errors.Is(err, tt.failure) && !errors.Is(err, errLost) {
				t.Errorf("the bad one: %v", err)
			}
			h.blamed("bad")
			if st := h.standing("good"); st.Failures != 0 {
				t.Errorf("the good one has failed %d times", st.Failures)
			}
			h.idle(bad, "bad")
			h.idle(ok, "good")
			if tt.leaves {
				<-bad.Gone()
			}
		})
	}
}

// TestGone: a peer that has it no more is asked in vain, if at all.
func TestGone(t *testing.T) {
	data, hash := datum(1, 50_000)
	dir, s := files(t, data)
	_, right := files(t, data)
	h := newHost(t, nil)
	h.join("bad", s, behave.Behaviour{})
	if err := os.Remove(filepath.Join(dir, "0")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Fetch(t.Context(), Request{Hash: hash}); !errors.Is(err, ErrNobody) || !errors.Is(err, wire.ErrFailed) {
		t.Errorf("from the bad one alone: %v", err)
	}
	h.join("good", right, good)
	if res := h.want(Request{Hash: hash}, data); res.From() != "good" {
		t.Errorf("parts %+v", res.Parts)
	}
}

// TestStall: the missing range, and no more, is asked of another.
func TestStall(t *testing.T) {
	data, hash := datum(1, 600_000)
	_, s := files(t, data)
	h := newHost(t, nil)
	stalls := h.join("stalls", s, behave.Behaviour{Pace: behave.Pace{Bytes: 100_000, Every: time.Minute}})
	var ok *node.Peer
	res := h.fetchThenJoin(hash, stalls, func() { ok = h.join("good", s, good) })
	if len(res.Parts) != 2 {
		t.Fatalf("parts %+v", res.Parts)
	}
	first, hedge := res.Parts[0], res.Parts[1]
	if first.Peer != "stalls" || first.Bytes != 100_000 || len(first.Troubles) == 0 || !errors.Is(first.Err, errLost) {
		t.Errorf("the one that stalled: %+v", first)
	}
	if hedge.Peer != "good" || hedge.Role != ranking.Hedge || hedge.Offset != 100_000 || hedge.Bytes != 500_000 {
		t.Errorf("the hedge: %+v", hedge)
	}
	h.blamed("stalls")
	if n := stalls.Meter().Snapshot().Counts.Resets; n != 1 {
		t.Errorf("%d streams reset, want that of the loser", n)
	}
	h.idle(stalls, "stalls")
	h.idle(ok, "good")
}

// TestCritical: two of distinct groups from the start, the loser ended without
// blame.
func TestCritical(t *testing.T) {
	data, hash := datum(1, 600_000)
	_, s := files(t, data)
	h := newHost(t, nil)
	for _, id := range []string{"a", "b", "c"} {
		h.join(id, s, behave.Behaviour{Disk: 3e6})
	}
	res := h.want(Request{Hash: hash, Critical: true}, data)
	roles := map[ranking.Role]int{}
	for _, p := range res.Parts {
		roles[p.Role]++
	}
	if roles[ranking.Primary] != 1 || roles[ranking.Redundant] != 1 {
		t.Errorf("parts %+v", res.Parts)
	}
	for _, id := range []string{"a", "b", "c"} {
		if st := h.standing(id); st.Failures != 0 || st.Outstanding != 0 {
			t.Errorf("%s: %d failures, %d bytes outstanding", id, st.Failures, st.Outstanding)
		}
	}
}

// TestSizeLiar: a peer that understates is proven a liar by what others deliver.
func TestSizeLiar(t *testing.T) {
	data, hash := datum(1, 100_000)
	_, s := files(t, data)
	events := make(chan ranking.Event, 100)
	h := newHost(t, func(c *Config, _ *ranking.Config) { c.Events = func(e ranking.Event) { events <- e } })
	h.join("honest", s, behave.Behaviour{})
	h.join("liar", s, behave.Behaviour{Understate: 3})
	h.want(Request{Hash: hash, Exclude: []string{"liar"}}, data)
	if st := h.standing("liar"); !st.Demoted || st.Failures != 0 {
		t.Errorf("the liar: %+v", st)
	}
	if st := h.standing("honest"); st.Demoted {
		t.Errorf("the honest one is demoted: %s", st.Verdict)
	}
	for e := range events {
		if e.Kind == ranking.SizeLie && e.Peer == "liar" {
			return
		}
	}
}

// TestInterrupted: who is asked when we are interrupted is not to blame.
func TestInterrupted(t *testing.T) {
	data, hash := datum(1, 600_000)
	_, s := files(t, data)
	for name, limit := range map[string]time.Duration{"by its context": 0, "by its limit": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, nil)
			p := h.join("slow", s, behave.Behaviour{Drip: 200e3})
			ctx, cancel := context.WithCancel(t.Context())
			want := node.ErrStalled
			if limit == 0 {
				time.AfterFunc(200*time.Millisecond, cancel)
				want = context.Canceled
			}
			defer cancel()
			res, err := h.Fetch(ctx, Request{Hash: hash, Limit: limit})
			if !errors.Is(err, want) || res.Size != 0 {
				t.Errorf("%d bytes, %v", res.Size, err)
			}
			if st := h.standing("slow"); st.Failures != 0 {
				t.Errorf("%d failures", st.Failures)
			}
			h.idle(p, "slow")
			if left, _ := os.ReadDir(h.cfg.Dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestClose ends fetches under way.
func TestClose(t *testing.T) {
	data, hash := datum(1, 600_000)
	_, s := files(t, data)
	h := newHost(t, nil)
	h.join("slow", s, behave.Behaviour{Drip: 50e3})
	time.AfterFunc(100*time.Millisecond, h.Close)
	if _, err := h.Fetch(t.Context(), Request{Hash: hash}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestDropNow: a peer that blows its hard timeout is dropped, but not before the
// datum has come from another.
func TestDropNow(t *testing.T) {
	data, hash := datum(1, 600_000)
	_, s := files(t, data)
	h := newHost(t, func(c *Config, r *ranking.Config) {
		c.DropPeers, r.HardTimeout, r.Prior = true, time.Second, 0.1e-6 // strangers are expected to be fast
	})
	drips := h.join("drips", s, behave.Behaviour{Drip: 20e3})
	res := h.fetchThenJoin(hash, drips, func() {
		time.Sleep(3 * time.Second) // hopeless by now
		select {
		case <-drips.Gone():
			t.Error("dropped while nobody else had it")
		default:
		}
		h.join("good", s, good)
	})
	if res.From() != "good" {
		t.Errorf("parts %+v", res.Parts)
	}
	select {
	case <-drips.Gone():
	case <-time.After(10 * time.Second):
		t.Errorf("not dropped: %+v", h.standing("drips"))
	}
}

// serveEndless offers a datum of 100 kB, and answers with what never ends.
func serveEndless(t *testing.T, hash wire.Hash) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		s, err := yamux.Server(c, nil)
		if err != nil {
			return
		}
		defer s.Close()
		for {
			st, err := s.AcceptStream()
			if err != nil {
				return
			}
			answerEndlessly(st, hash)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func answerEndlessly(st *yamux.Stream, hash wire.Hash) {
	defer st.Close()
	if q, err := wire.ReadRequest(st); err != nil || q.Kind == wire.KindList {
		_, _ = st.Write(wire.AppendOffers(nil, []wire.Offer{{Hash: hash, Size: 100_000}}))
		return
	}
	_, _ = st.Write(wire.AppendData(nil, 1<<40))
	for b := make([]byte, 64<<10); ; {
		if _, err := st.Write(b); err != nil {
			return
		}
	}
}

// Who answers with far more than it said, for as long as one likes, fills no disk.
func TestEndlessReply(t *testing.T) {
	data, hash := datum(1, 100_000)
	_, s := files(t, data)
	h := newHost(t, nil)
	p, err := h.node.Dial(t.Context(), serveEndless(t, hash))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if _, err := h.Join(t.Context(), "endless", netip.MustParseAddr("198.51.99.1"), p); err != nil {
		t.Fatal(err)
	}
	res, err := h.Fetch(t.Context(), Request{Hash: hash})
	if !errors.Is(err, errEndless) || res.Parts[0].Bytes != 0 {
		t.Errorf("%v; %d bytes taken", err, res.Parts[0].Bytes)
	}
	h.join("alice", s, behave.Behaviour{})
	h.want(Request{Hash: hash}, data)
}

func TestEndless(t *testing.T) {
	for _, tt := range []struct {
		reply, size int64
		want        bool
	}{
		{0, 0, false},
		{replyLeast, 0, false}, // nobody knows better
		{12 << 20, 100, false}, // an understated closure, to be proven by its hash
		{1 << 40, 1 << 37, false},
		{1 << 40, 1 << 35, true},
		{replyLeast + 1, 100_000, true},
		{math.MaxInt64, math.MaxInt64, false},
	} {
		if got := endless(tt.reply, tt.size); got != tt.want {
			t.Errorf("%d bytes of %d: %v", tt.reply, tt.size, got)
		}
	}
}
