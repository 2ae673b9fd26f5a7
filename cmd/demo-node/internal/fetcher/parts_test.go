package fetcher

import (
	"errors"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/ranking"
)

// begin makes a plan for one peer and begins it.
func (h *host) begin(id string, q ranking.Query) (ranking.Plan, *ranking.Fetch) {
	h.t.Helper()
	plan, err := h.Ranker().Choose(h.Now(), q)
	if err != nil || plan.Primary.Peer != id {
		h.t.Fatalf("plan %+v, %v", plan, err)
	}
	f, err := h.Ranker().Begin(h.Now(), plan)
	if err != nil {
		h.t.Fatal(err)
	}
	return plan, f
}

// TestTrial: a copy that nobody waits for, whole or in part, is checked, told of
// and dropped; one that is wrong is held against its peer.
func TestTrial(t *testing.T) {
	data, hash := datum(1, 200_000)
	other, _ := datum(2, len(data))
	dir, spoilt := files(t, data)
	if err := os.WriteFile(dir+"/0", other, 0o644); err != nil {
		t.Fatal(err)
	}
	_, good := files(t, data)
	tests := map[string]struct {
		from        *store.Store
		bytes       int64
		completions int
	}{
		"whole": {good, 0, 1},
		"range": {good, 50_000, 1},
		"wrong": {spoilt, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, nil)
			h.join("primary", good, behave.Behaviour{})
			p := h.join("tried", tt.from, behave.Behaviour{})
			plan, f := h.begin("tried", ranking.Query{Datum: hash.String(), Exclude: []string{"primary"}})
			pick := plan.Primary
			pick.Role, pick.Bytes = ranking.Exploration, tt.bytes
			f.Abort(h.Now())
			_, f = h.begin("primary", ranking.Query{Datum: hash.String(), Exclude: []string{"tried"}})
			h.try(f, pick, hash, plan.Size.Bytes)
			f.Abort(h.Now())
			for p.Meter().Snapshot().Counts.PayloadIn < 50_000 || h.standing("tried").Outstanding > 0 || p.Meter().Snapshot().Fetches > 0 {
				time.Sleep(time.Millisecond)
			}
			h.Close() // waits for it
			if st := h.standing("tried"); st.Completions > tt.completions {
				t.Errorf("%d completions, want at most %d", st.Completions, tt.completions)
			}
			if left, _ := os.ReadDir(h.cfg.Dir); len(left) != 0 {
				t.Errorf("kept: %v", left)
			}
		})
	}
}

// TestResetConn: the advice to end a connection ends it, and the fetch goes on
// elsewhere.
func TestResetConn(t *testing.T) {
	data, hash := datum(1, 400_000)
	_, s := files(t, data)
	h := newHost(t, nil)
	p := h.join("dead", s, behave.Behaviour{Drip: 1000})
	plan, f := h.begin("dead", ranking.Query{Datum: hash.String()})
	j := &job{f: h.Fetcher, req: Request{Hash: hash}, hash: hash, ctx: t.Context(), ends: make(chan *transfer, mostTransfers)}
	defer j.close()
	if err := j.start(f, nil); err != nil {
		t.Fatal(err)
	}
	j.act(j.all[0], ranking.Advice{Kind: ranking.ResetConn, Trouble: ranking.Hopeless})
	<-p.Gone()
	if end := <-j.ends; end.err == nil {
		t.Error("the transfer ended well")
	}
	if err := j.add(f, plan.Primary, nil); err == nil {
		t.Error("another part could be added")
	}
	for h.standing("dead").Connected {
		time.Sleep(time.Millisecond)
	}
	if _, err := h.Fetch(t.Context(), Request{Hash: hash}); !errors.Is(err, ErrNobody) {
		t.Errorf("with nobody left: %v", err)
	}
}

// TestCancel: where nobody else can be asked, what still comes is not given up;
// what has long been silent is.
func TestCancel(t *testing.T) {
	data, hash := datum(1, 400_000)
	_, s := files(t, data)
	for name, tt := range map[string]struct {
		silent time.Duration
		alone  bool
		ends   bool
	}{
		"it still comes": {0, false, false},
		"silent":         {slowest + time.Second, false, true},
		"a survey":       {0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, nil)
			h.join("slow", s, behave.Behaviour{Drip: 20e3})
			_, f := h.begin("slow", ranking.Query{Datum: hash.String()})
			j := &job{f: h.Fetcher, req: Request{Hash: hash, Alone: tt.alone}, hash: hash, ctx: t.Context(), ends: make(chan *transfer, mostTransfers)}
			if err := j.start(f, nil); err != nil {
				t.Fatal(err)
			}
			for j.all[0].got.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			if tt.silent > 0 {
				j.all[0].last.Store(int64(h.Now() - tt.silent))
			}
			j.act(j.all[0], ranking.Advice{Kind: ranking.Cancel, Trouble: ranking.Hopeless})
			select {
			case <-j.all[0].ended:
				if !tt.ends {
					t.Error("it was given up")
				}
			case <-time.After(200 * time.Millisecond):
				if tt.ends {
					t.Error("it was not given up")
				}
			}
			j.close()
		})
	}
}

func TestJoinFails(t *testing.T) {
	_, s := files(t, []byte("x"))
	h := newHost(t, nil)
	p, err := h.node.Dial(t.Context(), serve(t, s, behave.Behaviour{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Join(t.Context(), "", netip.Addr{}, p); !errors.Is(err, ranking.ErrPeer) {
		t.Errorf("without a name: %v", err)
	}
	p.Close()
	if _, err := h.Join(t.Context(), "gone", netip.Addr{}, p); !errors.Is(err, node.ErrVanished) {
		t.Errorf("after its session: %v", err)
	}
}

// TestStorageFails: that data can't be kept is no peer's fault, and no other is
// asked.
func TestStorageFails(t *testing.T) {
	data, hash := datum(1, 5000)
	_, s := files(t, data)
	h := newHost(t, func(c *Config, _ *ranking.Config) { c.Dir = "/dev/null/nowhere" })
	h.join("a", s, behave.Behaviour{})
	h.join("b", s, behave.Behaviour{})
	res, err := h.Fetch(t.Context(), Request{Hash: hash})
	if err == nil || len(res.Parts) != 1 {
		t.Errorf("%v after asking %+v", err, res.Parts)
	}
}
