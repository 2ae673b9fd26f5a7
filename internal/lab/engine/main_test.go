package engine_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/scenario"
)

// TestMain: every goroutine ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse reads a scenario of a test.
func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run acts a scenario out in virtual time, and takes nothing that was violated.
func run(t *testing.T, text string, o engine.Options) *engine.Result {
	t.Helper()
	s := parse(t, text)
	if o.Seed == 0 {
		o.Seed = 1
	}
	var r *engine.Result
	var err error
	bubble.Run(t, func(t *testing.T) { r, err = engine.Run(t.Context(), s, o) })
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Violations {
		t.Errorf("violated: %+v", v)
	}
	return r
}

// peer is one of a result.
func peer(t *testing.T, r *engine.Result, name string) *engine.PeerResult {
	t.Helper()
	for _, p := range r.Peers {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no peer %s", name)
	return nil
}

// of are the transfers of a peer.
func of(r *engine.Result, name string) []*engine.TransferRecord {
	var out []*engine.TransferRecord
	for _, t := range r.Transfers {
		if t.Peer == name {
			out = append(out, t)
		}
	}
	return out
}

// playAll plays a scenario, each run in a bubble of its own.
func playAll(t *testing.T, s *scenario.Scenario, seed uint64, rivals map[string]engine.New) *engine.Document {
	t.Helper()
	d, err := engine.Play(context.Background(), s, engine.PlayOptions{Seed: seed, Rivals: rivals, Within: func(run func(context.Context)) {
		bubble.Run(t, func(t *testing.T) { run(t.Context()) })
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
