package fetcher

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// TestMain: every goroutine ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// window of a stream, in bytes.
const window = 4 << 20

// datum is so many bytes that follow from a seed, and their hash.
func datum(seed byte, size int) ([]byte, wire.Hash) {
	b := make([]byte, size)
	r := rand.NewChaCha8([32]byte{seed})
	_, _ = r.Read(b)
	return b, sha256.Sum256(b)
}

// files writes data into a directory.
func files(t *testing.T, data ...[]byte) (dir string, s *store.Store) {
	t.Helper()
	dir = t.TempDir()
	for i, d := range data {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), d, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return dir, s
}

// host is a fetcher with its own node.
type host struct {
	*Fetcher
	t    *testing.T
	node *node.Node
	n    int // peers that joined
}

func newHost(t *testing.T, change func(*Config, *ranking.Config)) *host {
	t.Helper()
	rc := ranking.DefaultConfig()
	rc.Seed = 1
	cfg := Config{Window: window, Dir: t.TempDir()}
	if change != nil {
		change(&cfg, &rc)
	}
	r, err := ranking.New(rc)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Ranker = r
	h := &host{Fetcher: New(cfg), t: t, node: node.New(node.Config{Window: window})}
	t.Cleanup(h.Close)
	return h
}

// serve starts a node on loopback, until the test ends.
func serve(t *testing.T, s *store.Store, b behave.Behaviour) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		node.New(node.Config{Store: s, Window: window, Behave: b}).Serve(ctx, l)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return l.Addr().String()
}

// join starts a peer and takes it in, in a group of its own.
func (h *host) join(id string, s *store.Store, b behave.Behaviour) *node.Peer {
	h.t.Helper()
	p, err := h.node.Dial(h.t.Context(), serve(h.t, s, b))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(p.Close)
	h.n++
	if _, err := h.Join(h.t.Context(), id, netip.AddrFrom4([4]byte{198, 51, byte(h.n), 1}), p); err != nil {
		h.t.Fatal(err)
	}
	return p
}

// standing is what the ranker thinks of a peer.
func (h *host) standing(id string) ranking.Standing {
	h.t.Helper()
	s, err := h.Ranker().Standing(h.Now(), id, 1<<20)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// want fetches, and checks what came.
func (h *host) want(req Request, datum []byte) Result {
	h.t.Helper()
	res, err := h.Fetch(h.t.Context(), req)
	if err != nil {
		h.t.Fatalf("%v; %+v", err, res.Parts)
	}
	if res.Size != int64(len(datum)) || !store.Has(h.t.Context(), h.cfg.Dir, req.Hash) {
		h.t.Fatalf("%d bytes, want %d, or it is not there", res.Size, len(datum))
	}
	return res
}

// idle checks that nothing is left under way with a peer.
func (h *host) idle(p *node.Peer, id string) {
	h.t.Helper()
	if s := h.standing(id); s.Outstanding != 0 {
		h.t.Errorf("%d bytes of %s outstanding after all", s.Outstanding, id)
	}
	if n := p.Meter().Snapshot().Fetches; n != 0 {
		h.t.Errorf("%d fetches of %s outstanding after all", n, id)
	}
}
