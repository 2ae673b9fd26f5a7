package audit

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// populated is an auditor with something of everything.
func populated() *Auditor {
	a := New(DefaultConfig())
	observeAll(a, time.Minute, plain("over", "a", 1.1), 9)
	observeAll(a, time.Minute, plain("hold", "b", 9), 9)
	observeAll(a, time.Minute, with(9, func(r *Record) { r.Peer, r.Critical, r.KernelRTT, r.AppRTT = "crit", true, ms, time.Second }), 4)
	observeAll(a, time.Minute, with(3, func(r *Record) { r.Peer, r.Stalled, r.Echoes = "path", 3*time.Second, EchoesStopped }), 3)
	observeAll(a, time.Minute, with(3, func(r *Record) { r.Peer, r.TTFB = "late", 3*time.Second }), 8)
	a.Lie(time.Minute, "liar", "c", FalseSize, "said 1 MB for 64 kB")
	a.Lie(time.Minute, "forger", "c", ForgedEcho, "")
	return a
}

// All that stands survives a restart, by way of JSON, on a clock that starts anew.
func TestStateSurvives(t *testing.T) {
	a := populated()
	data, err := json.Marshal(a.ExportAll(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	var states []PeerState
	if err := json.Unmarshal(data, &states); err != nil {
		t.Fatal(err)
	}
	b := New(DefaultConfig())
	if err := b.Import(0, states); err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, b)
	if diff := cmp.Diff(a.ExportAll(time.Hour), b.ExportAll(0)); diff != "" {
		t.Error(diff)
	}
	for _, s := range states {
		before, after := a.Verdict(s.Peer), b.Verdict(s.Peer)
		before.Latest, after.Latest = Finding{}, Finding{}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: %s", s.Peer, diff)
		}
	}
}

// Ages are kept, not times: a group that was old is old.
func TestGroupAgeSurvives(t *testing.T) {
	a := New(DefaultConfig())
	a.Observe(0, plain("p", "g", 0.1))
	s, known := a.Export(50*time.Minute, "p")
	if !known || s.Age != 50*time.Minute || s.GroupAge != 50*time.Minute {
		t.Fatalf("%t, %+v", known, s)
	}
	b := New(DefaultConfig())
	if err := b.Import(0, []PeerState{s}); err != nil {
		t.Fatal(err)
	}
	observeAll(b, 9*time.Minute, plain("p", "g", 0.1), 100)
	voters := func(now time.Duration) int {
		b.Observe(now, plain("p", "g", 0.1))
		return b.Observe(now, plain("q", "other", 0.1)).Latest.Threshold.Voters
	}
	if got := voters(9 * time.Minute); got != 0 {
		t.Errorf("%d voters at 59 min", got)
	}
	if got := voters(10 * time.Minute); got != 1 {
		t.Errorf("%d voters at 60 min", got)
	}
}

// A chart in midway goes on where it was.
func TestChartsGoOn(t *testing.T) {
	a := New(DefaultConfig())
	observeAll(a, 0, plain("p", "g", 9), 7)
	b := New(DefaultConfig())
	if err := b.Import(0, a.ExportAll(0)); err != nil {
		t.Fatal(err)
	}
	if v := b.Verdict("p"); v.Kind != Clear {
		t.Errorf("%v after 7", v.Kind)
	}
	if v := b.Observe(0, plain("p", "g", 9)); v.Kind != Withholding || v.Evidence.Hits != 8 {
		t.Errorf("%v after 8, %+v", v.Kind, v.Evidence)
	}
}

func TestDamagedStateIsRefusedWhole(t *testing.T) {
	for name, damage := range map[string]func(*PeerState){
		"negative age":       func(s *PeerState) { s.Age = -1 },
		"negative group age": func(s *PeerState) { s.GroupAge = -1 },
		"unknown lie":        func(s *PeerState) { s.Lie = 9 },
		"negative count":     func(s *PeerState) { s.Forged = -1 },
		"long detail":        func(s *PeerState) { s.Detail = string(make([]byte, detailMax+1)) },
		"negative sum":       func(s *PeerState) { s.Path.Sum = -1 },
		"infinite sum":       func(s *PeerState) { s.Path.Sum = math.Inf(1) },
		"no number":          func(s *PeerState) { s.Withholding.Sum = math.NaN() },
		"stands on nothing":  func(s *PeerState) { s.SlowToStart = ChartState{Stands: true} },
		"more hits than run": func(s *PeerState) { s.Critical.Hits = 2 },
		"negative time":      func(s *PeerState) { s.Overclaims.Actual = -1 },
		"bad threshold":      func(s *PeerState) { s.EchoHolding.Threshold = math.NaN() },
	} {
		states := populated().ExportAll(time.Hour)
		damage(&states[len(states)-1])
		a := New(DefaultConfig())
		if err := a.Import(0, states); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
		if a.Len() != 0 {
			t.Errorf("%s: %d peers taken all the same", name, a.Len())
		}
	}
}

// A sum above a limit that is now lower counts as the limit.
func TestLowerLimitAfterRestart(t *testing.T) {
	a := populated()
	cfg := DefaultConfig()
	cfg.Withholding.Limit = 10
	b := New(cfg)
	if err := b.Import(0, a.ExportAll(0)); err != nil {
		t.Fatal(err)
	}
	if got := b.peers["hold"].charts[chartWithholding].Sum; got != 10 {
		t.Errorf("sum %v", got)
	}
}

// FuzzImport: whatever a state file holds, it is refused, or taken and given back.
func FuzzImport(f *testing.F) {
	good, err := json.Marshal(populated().ExportAll(time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`[{"peer":"p","group":"g","age":-1}]`))
	f.Add([]byte(`[{"peer":"p","withholding":{"sum":1e308,"hits":9,"run":9}}]`))
	f.Add([]byte(`[{}]`))
	f.Add([]byte(`[{"peer":"p"},{"peer":"p","group":"other"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var states []PeerState
		if json.Unmarshal(data, &states) != nil {
			return
		}
		a := New(DefaultConfig())
		if err := a.Import(0, states); err != nil {
			if !errors.Is(err, ErrState) || a.Len() != 0 {
				t.Fatalf("%v, %d peers taken", err, a.Len())
			}
			return
		}
		checkInvariants(t, a)
		out := a.ExportAll(0)
		if err := New(DefaultConfig()).Import(0, out); err != nil {
			t.Fatalf("what was exported is refused: %v", err)
		}
		for _, s := range out {
			a.Observe(time.Second, plain(s.Peer, s.Group, 9))
		}
	})
}
